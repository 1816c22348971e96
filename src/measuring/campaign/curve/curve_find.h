// Searches for a level with short measurements. `assay curve --find` returns an interval: the
// highest concurrency that still pays (max-concurrency, plan/c_max_search.h) or that keeps limits
// (slo). A curve without a given C_max finds it here too.
#pragma once

#include <functional>
#include <string>

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

// Measures one level for a short time.
using MeasureLevel = std::function<Result<metrics::Point>(std::int64_t level)>;

// {find, good, bad, steps: [{concurrency, system_tps, …, good, why}]}; `bad` is null if there was
// none, `why` stands where a level is not good. A search for limits adds `served`
// (decide/served.h). If a disk or memory ran out, the result so far, with the reason in `stopped`.
Result<Json> find_level(const FindWish& wish, const MeasureLevel& measure,
                        const std::function<void(const std::string&)>& say);

std::string find_text(const Json& found);

// Finds C_max for a curve whose plan waits for it, and completes the plan. Resumes after the levels
// in the folder's journal. `measure` gets the folder to measure into.
using MeasureInto =
    std::function<Result<metrics::Point>(std::int64_t level, const std::filesystem::path& folder)>;
Result<void> find_c_max(CurveFolder& curve, const MeasureInto& measure,
                        const std::function<void(const std::string&)>& say);

}  // namespace assay::campaign
