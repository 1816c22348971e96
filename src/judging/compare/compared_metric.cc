#include "compare/compared_metric.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"

namespace assay::compare {
namespace {

struct NamedSeries {
  std::string_view name{};
  metrics::Distribution metrics::Latencies::*times = nullptr;  // none: a rate
};

// In the order of ComparedSeries.
constexpr std::array<NamedSeries, 9> kComparedSeries{
    NamedSeries{"ttft", &metrics::Latencies::ttft},
    NamedSeries{"ttft_due", &metrics::Latencies::ttft_due},
    NamedSeries{"ttft_visible", &metrics::Latencies::ttft_visible},
    NamedSeries{"tpot", &metrics::Latencies::tpot},
    NamedSeries{"itl", &metrics::Latencies::itl},
    NamedSeries{"latency", &metrics::Latencies::latency},
    NamedSeries{"latency_due", &metrics::Latencies::latency_due},
    NamedSeries{"system_tps"},
    NamedSeries{"qps"}};

const NamedSeries& named(ComparedMetric metric) {
  return kComparedSeries[static_cast<std::size_t>(metric.series)];
}

}  // namespace

std::string to_string(ComparedMetric metric) {
  const std::string_view series = named(metric).name;
  return is_rate(metric) ? std::string(series) : format("{}_p{:g}", series, metric.percentile);
}

std::optional<ComparedMetric> compared_metric_from(std::string_view name) {
  for (std::size_t i = 0; i < kComparedSeries.size(); ++i) {
    const ComparedMetric whole{static_cast<ComparedSeries>(i), 0};
    if (is_rate(whole)) {
      if (name == kComparedSeries[i].name) return whole;
      continue;
    }
    const std::string before = std::string(kComparedSeries[i].name) + "_p";
    if (!name.starts_with(before)) continue;
    const auto percentile = parse_double(name.substr(before.size()));
    if (!percentile) continue;
    if (std::ranges::find(metrics::kPercentiles, *percentile) == metrics::kPercentiles.end()) {
      return std::nullopt;
    }
    return ComparedMetric{whole.series, *percentile};
  }
  return std::nullopt;
}

std::string compared_metric_names() {
  std::string series;
  std::string rates;
  for (const NamedSeries& one : kComparedSeries) {
    std::string& list = one.times == nullptr ? rates : series;
    list += (list.empty() ? "" : ", ") + std::string(one.name);
  }
  std::string percentiles;
  for (const double p : metrics::kPercentiles) {
    percentiles += format("{}_p{:g}", percentiles.empty() ? "" : ", ", p);
  }
  return format("{}, each with a percentile ({}); {}", series, percentiles, rates);
}

const metrics::Distribution* series_in(const metrics::Point& point, ComparedMetric metric) {
  const auto times = named(metric).times;
  return times == nullptr ? nullptr : &(point.arrival.*times);
}

}  // namespace assay::compare
