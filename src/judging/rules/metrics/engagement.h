// The number of a system's accelerators that a point uses, from its system_desc.json:
//
//     replica = TP · PP · EP       used = DP · replica       fits = floor(accelerators / replica)
#pragma once

#include <cstdint>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {

struct NodeType {
  std::int64_t ensemble = 0;
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;  // in a node
};

struct Engagement {
  std::vector<NodeType> types{};
  std::int64_t accelerators = 0;  // of the system
  std::int64_t replica = 1;
  std::int64_t data_parallel = 1;
  bool declared = false;  // one of the four is declared
  bool disaggregated = false;

  std::int64_t used() const { return data_parallel * replica; }
  bool known() const { return declared && accelerators > 0; }
  // Finds the node type of an id, which may be text.
  const NodeType* find(const Json& id) const;
};

Engagement engagement_of(const Scope& at);

}  // namespace assay::rules
