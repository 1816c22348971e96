#include "metrics/slo.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

const Distribution* series_of(std::string_view name, const Point& point) {
  if (name == "ttft") return &point.arrival.ttft;
  if (name == "tpot") return &point.arrival.tpot;
  if (name == "itl") return &point.arrival.itl;
  if (name == "latency") return &point.arrival.latency;
  return nullptr;
}

}  // namespace

Result<std::vector<SloLimit>> parse_slo(std::string_view text) {
  std::vector<SloLimit> out;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view one = trim(part);
    const Error bad = invalid(
        format("--slo: '{}': written as ttft_p99<=2s or tpot_p90<=50ms; series ttft, tpot, itl, "
               "latency",
               one));
    const std::size_t sign = one.find("<=");
    const std::size_t line = one.rfind("_p", sign);
    if (sign == std::string_view::npos || line == std::string_view::npos) return bad;
    SloLimit limit{.text = std::string(one), .series = std::string(trim(one.substr(0, line)))};
    const auto percentile = parse_double(trim(one.substr(line + 2, sign - line - 2)));
    const auto most = parse_duration(trim(one.substr(sign + 2)), 1_s);
    const Point none{};
    if (!percentile || !most || series_of(limit.series, none) == nullptr) return bad;
    if (std::ranges::find(kPercentiles, *percentile) == kPercentiles.end()) {
      return invalid(
          format("--slo: '{}': percentiles are 50, 75, 80, 90, 95, 97, 99 and 99.9", one));
    }
    limit.percentile = *percentile;
    limit.most = *most;
    out.push_back(std::move(limit));
  }
  return out;
}

Duration figure_of(const SloLimit& limit, const Point& point) {
  const Distribution* const series = series_of(limit.series, point);
  if (series == nullptr || series->empty()) return {};
  return Duration{std::llround(series->percentile(limit.percentile))};
}

bool keeps(const std::vector<SloLimit>& slo, const Point& point) {
  if (point.counts.failed > 0 || point.counts.completed == 0) return false;
  return std::ranges::all_of(slo, [&point](const SloLimit& limit) {
    const Distribution* const series = series_of(limit.series, point);
    return series != nullptr && !series->empty() && figure_of(limit, point) <= limit.most;
  });
}

}  // namespace assay::metrics
