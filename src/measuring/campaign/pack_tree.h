// pack_tree: the submission tree of a curve or of runs, every authored file written: points, the
// system's description, power, disclosure, digests. docs/formats/submission.md.
//
// The tree is built beside `out` and renamed when it is whole. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/pack_source.h"

namespace assay::campaign {

// Paths; "" leaves a part to what this machine and the runs say.
struct PackRequest {
  std::string out{};      // the tree; must not exist
  std::string answers{};  // what no program can know, as YAML
  std::string system{};   // of the system under test, as host::capture_node made it there
  std::string power{};    // system_power.json without its sums
  std::string src{};      // a folder
  std::string docs{};     // a folder
};

struct PackedTree {
  std::string system{};              // its name, as the folder has it
  std::vector<std::string> notes{};  // what was left out or does not add up
};

Result<PackedTree> pack_tree(const PackRequest& request, const PackSource& source);

}  // namespace assay::campaign
