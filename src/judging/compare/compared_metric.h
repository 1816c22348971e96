// ComparedMetric: what a comparison holds side by side: a percentile of a series of times, or a
// rate. Its name is that of `--require`: "ttft_p95", "latency_due_p99.9", "system_tps".
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/point.h"

namespace assay::compare {

// metrics/point.h defines them.
enum class ComparedSeries : std::uint8_t {
  ttft,
  ttft_due,
  ttft_visible,
  tpot,
  itl,
  latency,
  latency_due,
  system_tps,  // a rate: tokens a second
  qps,         // a rate: successful queries a second
};

struct ComparedMetric {
  ComparedSeries series = ComparedSeries::ttft;
  double percentile = 50;  // of metrics::kPercentiles; 0 for a rate
  bool operator==(const ComparedMetric&) const = default;

  // Those of a comparison that names none, and qps.
  static const ComparedMetric kTtftP50;
  static const ComparedMetric kTtftP90;
  static const ComparedMetric kTpotP50;
  static const ComparedMetric kTpotP90;
  static const ComparedMetric kLatencyP50;
  static const ComparedMetric kLatencyP90;
  static const ComparedMetric kSystemTps;
  static const ComparedMetric kQps;
};
inline constexpr ComparedMetric ComparedMetric::kTtftP50{ComparedSeries::ttft, 50};
inline constexpr ComparedMetric ComparedMetric::kTtftP90{ComparedSeries::ttft, 90};
inline constexpr ComparedMetric ComparedMetric::kTpotP50{ComparedSeries::tpot, 50};
inline constexpr ComparedMetric ComparedMetric::kTpotP90{ComparedSeries::tpot, 90};
inline constexpr ComparedMetric ComparedMetric::kLatencyP50{ComparedSeries::latency, 50};
inline constexpr ComparedMetric ComparedMetric::kLatencyP90{ComparedSeries::latency, 90};
inline constexpr ComparedMetric ComparedMetric::kSystemTps{ComparedSeries::system_tps, 0};
inline constexpr ComparedMetric ComparedMetric::kQps{ComparedSeries::qps, 0};

std::string to_string(ComparedMetric metric);
std::optional<ComparedMetric> compared_metric_from(std::string_view name);
// What compared_metric_from() takes, in a sentence of an error or a help text.
std::string compared_metric_names();

constexpr bool is_rate(ComparedMetric metric) {
  return metric.series == ComparedSeries::system_tps || metric.series == ComparedSeries::qps;
}
constexpr bool higher_is_better(ComparedMetric metric) { return is_rate(metric); }

// The point's series that the metric is a percentile of; nullptr: a rate.
const metrics::Distribution* series_in(const metrics::Point& point, ComparedMetric metric);

}  // namespace assay::compare
