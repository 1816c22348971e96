// A series of result_summary.json for the plausibility rules: its figures, as far as it has them.
// Times are ns, lengths tokens. Pure; any thread.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"

namespace assay::rules {

struct SeriesFigures {
  std::optional<double> min{};
  std::optional<double> max{};
  std::optional<double> avg{};
  std::optional<double> total{};
  std::vector<std::pair<double, double>> percentiles{};  // ascending by percentile
  // The value at a percentile; nullopt if the series does not state it.
  std::optional<double> at(double percentile) const;
};

// `block`: ttft, tpot, latency, …; {} where the series is empty.
SeriesFigures series_figures(const Json& block);

}  // namespace assay::rules
