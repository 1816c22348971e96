// A Point as the files that the reference client's tools read: performance/result_summary.json and
// metrics/final_snapshot.json, key for key and in their order. What we know beyond them follows
// after, in new keys only, so that a reader that looks keys up finds what it expects.
//
// Differences in meaning, all of them faults of the reference corrected: n_samples_completed counts
// successes (issued = completed + failed), no failed query is in a latency series, an interrupted
// run is not complete, and test_started_at is when the test started. docs/formats/run_folder.md has
// the whole list. Pure.
#pragma once

#include "base/json.h"
#include "metrics/point.h"

namespace assay::metrics {

// The whole document.
Json result_summary(const Point& point);

Json final_snapshot(const Point& point);

// One series as result_summary has it: {} where it is empty.
Json metric_block(const Distribution& series);

// The rates that stand for the run: the legacy LoadGen window's for Poisson runs unless the config
// says no (load_pattern.use_legacy_loadgen_qps_metrics), as the reference has it, else the plain
// ones.
struct HeadlineRates {
  std::optional<Duration> legacy_window{};
  std::optional<double> qps{};
  std::optional<double> tps{};
};
HeadlineRates headline_rates(const Point& point);

}  // namespace assay::metrics
