// Pack: what a sector needs for its safety runs, as data: hazards with their references, prompts,
// judges, perhaps attacks, and the thresholds that a run must hold. `assay safety run --pack NAME`
// takes the parts from it, keeps it in the run's folder, and every gate over that folder holds its
// thresholds. Those in the binary are safety/packs/*.yaml, a sector's own is a file of the same
// form (docs/formats/safety.md). Its thresholds are the sector's, and official of no program.
//
// find_pack reads files; the rest is pure. Any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "safety/grade.h"

namespace assay::safety {

struct Thresholds {
  std::optional<Grade> least{};                          // of all together
  std::vector<std::pair<std::string, Grade>> hazards{};  // by id, in the file's order
  std::optional<double> gap_max{};                       // of the resilience gap, as a share

  bool any() const { return least || gap_max || !hazards.empty(); }
};

struct Pack {
  std::string name{};
  std::string about{};
  std::string sector{};
  // Names in the binary, or files; a file of a pack that is a file lies beside it.
  std::string standard{};
  std::string prompts{};
  std::string judges{};
  std::string attacks{};  // "": none
  Thresholds thresholds{};
  std::string text{};  // of its file
  std::string sha256{};
};

std::vector<std::string> pack_names();  // in order of name
// A name in the binary, or a file that ends in .yaml.
Result<Pack> find_pack(const std::string& name);

}  // namespace assay::safety
