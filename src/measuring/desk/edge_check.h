// The rules of an edge round over a run's folder, shown: as text or JSON, on the terminal or in a
// file.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"

namespace assay::desk {

struct EdgeCheck {
  std::string tree{};
  std::string output = "text";  // or json
  std::string file{};           // where it goes; "": the terminal
  bool quiet = false;
};

// Returns the exit code.
Result<int> show_edge_round(const EdgeCheck& options, const Talk& talk);

}  // namespace assay::desk
