// A Point as the files that the reference client's tools read: performance/result_summary.json and
// metrics/final_snapshot.json, with the same keys in the same order. Our additional figures follow
// in new keys, so that a reader that looks keys up finds what it expects.
//
// Differences in meaning, each a corrected fault of the reference: n_samples_completed counts
// successes (issued = completed + failed), no failed query is in a latency series, an interrupted
// run is not complete, and test_started_at is when the test started. docs/formats/run_folder.md has
// the full list. Pure.
#pragma once

#include "base/json.h"
#include "metrics/point.h"

namespace assay::metrics {

// The whole document.
Json result_summary(const Point& point);

Json final_snapshot(const Point& point);

// One series as in result_summary; {} where it is empty.
Json metric_block(const Distribution& series);

// What one conversation gets: output tokens over the seconds in which it waits for its turns. None
// for any other load.
std::optional<double> conversation_rate(const Point& point);

// The rates that represent the run: those of the legacy LoadGen window for Poisson runs, as in the
// reference, unless the config disables it (load_pattern.use_legacy_loadgen_qps_metrics); else the
// plain rates.
struct HeadlineRates {
  std::optional<Duration> legacy_window{};
  std::optional<double> qps{};
  std::optional<double> tps{};
};
HeadlineRates headline_rates(const Point& point);

}  // namespace assay::metrics
