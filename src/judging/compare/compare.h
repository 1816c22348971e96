// compare: is B worse than A? Effects with confidence intervals, one verdict, or a refusal.
//
// Every metric's effect is B / A − 1, signed so that a positive harm is worse. A block bootstrap of
// each run gives its uncertainty (compare/bootstrap.h). "Worse" means: worse by more than the
// regression margin; all metrics together are wrong in at most `alpha` of the cases without harm
// (Holm 1979). "Same" means: the interval is within the equivalence margin. Intervals are
// simultaneous (Bonferroni). Anything else is unresolved and needs more data.
//
// A run's client may have seen arrivals late. The limits of its figures (Distribution's `limits`)
// widen each interval and count against each verdict: a delay that the client may have added makes
// no run worse or better.
//
// Two runs of different work are not compared. A bootstrap within a run cannot see drift from one
// run to the next (another neighbour, a warmer machine): repeat (compare/repeats.h), or interleave.
// Two sides of one interleaved run are compared by pairs of blocks (compare/paired.h).
//
// Pure: all randomness comes from the seed in the options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/innocence.h"
#include "base/json.h"
#include "compare/compared_metric.h"
#include "compare/query_rows.h"
#include "metrics/point.h"

namespace assay::compare {

enum class MetricVerdict : std::uint8_t { better, same, unresolved, worse };
std::string_view to_string(MetricVerdict verdict);

struct CompareOptions {
  std::vector<ComparedMetric> metrics{ComparedMetric::kTtftP50,    ComparedMetric::kTtftP90,
                                      ComparedMetric::kTpotP50,    ComparedMetric::kTpotP90,
                                      ComparedMetric::kLatencyP50, ComparedMetric::kLatencyP90,
                                      ComparedMetric::kSystemTps};
  double alpha = 0.05;
  double regression_margin = 0.01;   // a harm up to this is no regression
  double equivalence_margin = 0.03;  // an interval within ± this is "same"
  double length_margin = 0.02;       // allowed difference of mean ISL and OSL
  double error_margin = 0.01;        // allowed difference of the failed shares
  // A run whose client was the bottleneck is compared all the same; its intervals are as wide as
  // what that client may have added.
  bool allow_client_limited = false;
  std::size_t replicates = 1000;
  std::uint64_t seed = 1;
};

// One of the two runs.
struct ComparedRun {
  std::string name{};
  const metrics::Point* point = nullptr;
  const QueryRows* rows = nullptr;  // sorted
  std::optional<audit::ClientLimited> client{};
  // Names what a replay really sent (metrics/trajectory_fold.h); "" for other runs.
  std::string sent_digest{};
};

struct MetricComparison {
  ComparedMetric metric{};
  double a = 0;  // ns, or per second
  double b = 0;
  double effect = 0;  // B / A − 1
  double low = 0;     // its interval
  double high = 0;
  double p_worse = 1;  // adjusted for the number of metrics
  double p_better = 1;
  MetricVerdict verdict = MetricVerdict::unresolved;
};

// Runs behind a comparison of repeats (compare/repeats.h).
struct RepeatCounts {
  std::size_t a = 1;
  std::size_t b = 1;
  std::size_t noise = 0;  // equal runs that were made to learn how far they differ
  double degrees = 0;     // of freedom of the deviation between runs
};

struct Comparison {
  std::vector<std::string> refusals{};  // why the runs are not comparable; else empty
  std::vector<std::string> notes{};
  std::size_t pairs = 0;                  // pairs of blocks, if measured in turns; else 0
  std::optional<RepeatCounts> repeats{};  // none: one run a side, by its own bootstrap
  std::vector<MetricComparison> metrics{};
  bool comparable() const { return refusals.empty(); }
  bool worse() const;
  bool unresolved() const;
};

Comparison compare_runs(const ComparedRun& a, const ComparedRun& b, const CompareOptions& options);

Json comparison_json(const Comparison& comparison, const ComparedRun& a, const ComparedRun& b,
                     const CompareOptions& options);

}  // namespace assay::compare
