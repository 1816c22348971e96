// The two sides of a comparison of safety (safety/level_pairs.h), each from a folder: a curve with
// its safety runs, a series, or one safety run. Verdicts are derived again from the event logs. One
// thread.
#pragma once

#include <filesystem>
#include <optional>

#include "base/aead.h"
#include "base/json.h"
#include "base/result.h"
#include "metrics/curve.h"
#include "safety/level_pairs.h"

namespace assay::campaign {

struct SafetySide {
  safety::LevelSide side{};
  // The curve with its grades. Without a curve it has the series' own speed, at each of its
  // concurrencies.
  metrics::Curve curve{};
};

// `key`: of runs over sealed prompts. Fails if the folder holds no safety run, or if its files are
// not what its event logs give.
Result<SafetySide> load_safety_side(const std::filesystem::path& folder,
                                    const std::optional<SealKey>& key);

// Both sides loaded and compared, as safety::safety_comparison_json gives it. `margin`: a share.
Result<Json> compare_safety_folders(const std::filesystem::path& a, const std::filesystem::path& b,
                                    const std::optional<SealKey>& key,
                                    std::optional<double> margin);

}  // namespace assay::campaign
