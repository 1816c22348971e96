// Looking for a level with short measurements. `assay curve --find`: the highest concurrency that
// still pays (max-concurrency, plan/c_max_search.h) or that keeps limits (slo), as an interval. And
// a curve's own C_max, where nobody gave one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "campaign/curve/curve_folder.h"
#include "metrics/point.h"

namespace assay::campaign {

struct FindWish {
  std::string what{};  // "max-concurrency" or "slo"
  std::string slo{};
  std::int64_t most = 4096;
};

// Measures one level, briefly.
using MeasureLevel = std::function<Result<metrics::Point>(std::int64_t level)>;

// {find, good, bad, steps: [{concurrency, system_tps, …, good}]}; `bad` null where none was. Where
// a disk or a memory had no more, what was found by then, and `stopped` says why.
Result<Json> find_level(const FindWish& wish, const MeasureLevel& measure,
                        const std::function<void(const std::string&)>& say);

std::string find_text(const Json& found);

// Finds C_max for a curve whose plan waits for it, and decides the plan. Goes on with the levels
// that the folder's journal has. `measure` gets the folder to measure into.
using MeasureInto =
    std::function<Result<metrics::Point>(std::int64_t level, const std::filesystem::path& folder)>;
Result<void> find_c_max(CurveFolder& curve, const MeasureInto& measure,
                        const std::function<void(const std::string&)>& say);

}  // namespace assay::campaign
