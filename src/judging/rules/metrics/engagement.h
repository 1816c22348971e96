// The number of a system's accelerators that a point uses:
//
//     replica = TP · PP · EP       used = DP · replica       fits = floor(accelerators / replica)
//
// Nodes are those of system_power.json's node sets, each with the accelerators of its components,
// else of its node type in system_desc.json. Without a power file that adds up they are the node
// types of system_desc.json.
#pragma once

#include <cstdint>
#include <vector>

#include "rules/rule.h"

namespace assay::rules {

struct EngagedNodes {
  std::int64_t ensemble = 0;
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;  // in a node
};

struct Engagement {
  std::vector<EngagedNodes> sets{};
  bool of_power_file = false;
  std::int64_t accelerators = 0;  // of the system
  std::int64_t replica = 1;
  std::int64_t data_parallel = 1;
  bool declared = false;  // one of the four is declared
  bool disaggregated = false;

  std::int64_t used() const { return data_parallel * replica; }
  bool known() const { return declared && accelerators > 0; }
  // The sets of an ensemble, whose id may be text. A point may only name an ensemble of one set.
  std::vector<const EngagedNodes*> find(const Json& id) const;
};

Engagement engagement_of(const Scope& at);

}  // namespace assay::rules
