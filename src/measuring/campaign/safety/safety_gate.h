// The safety runs of a folder, derived again from their event logs, for the gate that judges them
// (safety/level_gate.h). The folder is a safety run, a series of them at several concurrencies, or
// a curve whose `safety/` is such a series. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/result.h"
#include "campaign/curve/curve_folder.h"
#include "safety/level_gate.h"

namespace assay::campaign {

// CURVE/safety of a curve; else the folder itself.
std::filesystem::path safety_folder_of(const std::filesystem::path& folder);
// True if there is a safety run, or a series, in safety_folder_of().
bool holds_safety(const std::filesystem::path& folder);

// The model that a safety run asked; "" where its log has no header.
std::string model_of(const std::filesystem::path& safety_run);

// The measured concurrencies of a curve, ascending, each once; a dedicated Offline has none.
std::vector<std::uint32_t> curve_concurrencies(const CurveFolder& folder);

struct GatedFolder {
  std::vector<safety::GatedLevel> levels{};
  std::vector<safety::GateFinding> findings{};
  safety::GateWish wish{};  // what was held: the caller's, then the pack's, then the curve's
};
// `wish`: what is asked for; the curve's part of it is filled in here. `key`: of runs over sealed
// prompts. Fails if the folder holds no safety run; a curve without one has a finding for each
// point.
Result<GatedFolder> gate_folder(const std::filesystem::path& folder, safety::GateWish wish,
                                const std::optional<SealKey>& key = {});

// The causes of the exit code: a grade that falls or is below the least, and a gap above the most
// that is asked for, are `worse`.
void add_causes(const std::vector<safety::GateFinding>& findings, Ending& ending);

}  // namespace assay::campaign
