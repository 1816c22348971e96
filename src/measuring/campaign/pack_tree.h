// pack_tree writes the submission tree of a curve or of runs, with every authored file: points, the
// system's description, power, disclosure, digests. docs/formats/submission.md.
//
// It builds the tree beside `out` and renames it when it is complete. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/curve/pack_source.h"

namespace assay::campaign {

// Paths; "" leaves a part to the facts of this machine and the runs.
struct PackRequest {
  std::string out{};      // the tree; must not exist
  std::string answers{};  // YAML: facts that only a person knows
  std::string system{};   // of the system under test: host::capture_node's output there
  std::string power{};    // system_power.json without its sums
  std::string src{};      // a folder
  std::string docs{};     // a folder
};

struct PackedTree {
  std::string system{};              // as its folder is named
  std::vector<std::string> notes{};  // parts left out, and inconsistencies
};

Result<PackedTree> pack_tree(const PackRequest& request, const PackSource& source);

}  // namespace assay::campaign
