#include "decide/limit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/text.h"

namespace assay::decide {
namespace {

constexpr std::string_view kPerUser = "tps_per_user";
constexpr double kNsToMs = 1e-6;

const metrics::Distribution* series_of(std::string_view name, const metrics::Point& point) {
  if (name == "ttft") return &point.arrival.ttft;
  if (name == "tpot") return &point.arrival.tpot;
  if (name == "itl") return &point.arrival.itl;
  if (name == "latency") return &point.arrival.latency;
  return nullptr;
}

Result<Limit> parse_limit(std::string_view one) {
  const Error bad = invalid(
      format("--slo: '{}': written as ttft_p99<=2s, tpot_p90<=50ms or tps_per_user>=30; series "
             "ttft, tpot, itl, latency",
             one));
  Limit out{.text = std::string(one)};
  if (const std::size_t sign = one.find(">="); sign != std::string_view::npos) {
    const auto least = parse_double(trim(one.substr(sign + 2)));
    if (trim(one.substr(0, sign)) != kPerUser || !least) return bad;
    if (*least <= 0) {
      return invalid(format("--slo: '{}': tokens a second must be above 0", one));
    }
    out.figure = kPerUser;
    out.at_least = true;
    out.value = *least;
    return out;
  }
  const std::size_t sign = one.find("<=");
  const std::size_t line = one.rfind("_p", sign);
  if (sign == std::string_view::npos || line == std::string_view::npos) return bad;
  out.series = trim(one.substr(0, line));
  const auto percentile = parse_double(trim(one.substr(line + 2, sign - line - 2)));
  const auto most = parse_duration(trim(one.substr(sign + 2)), 1_s);
  const metrics::Point none{};
  if (!percentile || !most || series_of(out.series, none) == nullptr) return bad;
  if (std::ranges::find(metrics::kPercentiles, *percentile) == metrics::kPercentiles.end()) {
    return invalid(format("--slo: '{}': percentiles are 50, 75, 80, 90, 95, 97, 99 and 99.9", one));
  }
  out.percentile = *percentile;
  out.figure = format("{}_p{:g}", out.series, out.percentile);
  out.value = most->ms();
  return out;
}

// Where a curve's point keeps the figure; nullptr where it keeps none.
const double* kept_in(const Limit& limit, const metrics::PointFigures& figures) {
  struct Row {
    std::string_view figure{};
    const double* value = nullptr;
  };
  const Row rows[] = {
      {"ttft_p50", &figures.ttft_p50_ms},       {"ttft_p90", &figures.ttft_p90_ms},
      {"ttft_p99", &figures.ttft_p99_ms},       {"tpot_p50", &figures.tpot_p50_ms},
      {"tpot_p90", &figures.tpot_p90_ms},       {"tpot_p99", &figures.tpot_p99_ms},
      {"latency_p50", &figures.latency_p50_ms}, {"latency_p90", &figures.latency_p90_ms},
      {"latency_p99", &figures.latency_p99_ms}};
  const auto* const row = std::ranges::find(rows, limit.figure, &Row::figure);
  return row == std::end(rows) ? nullptr : row->value;
}

}  // namespace

Result<std::vector<Limit>> parse_limits(std::string_view text) {
  std::vector<Limit> out;
  for (const std::string_view part : split(text, ',')) {
    ASSIGN_OR_RETURN(Limit limit, parse_limit(trim(part)));
    out.push_back(std::move(limit));
  }
  return out;
}

Result<void> check_curve_limits(const std::vector<Limit>& limits) {
  const metrics::PointFigures none{};
  for (const Limit& limit : limits) {
    if (limit.at_least || kept_in(limit, none) != nullptr) continue;
    return invalid(
        format("--slo: '{}': a curve's points have ttft, tpot and latency at p50, p90 and p99, and "
               "tps_per_user",
               limit.text));
  }
  return {};
}

std::string limits_text(const std::vector<Limit>& limits) {
  std::string out;
  for (const Limit& limit : limits) out += (out.empty() ? "" : ",") + limit.text;
  return out;
}

std::optional<double> figure_of(const Limit& limit, const metrics::Point& point) {
  if (limit.at_least) return point.rates.tps_per_user;
  const metrics::Distribution* const series = series_of(limit.series, point);
  if (series == nullptr || series->empty()) return std::nullopt;
  // To the nearest nanosecond, as every report shows it.
  return std::round(series->percentile(limit.percentile)) * kNsToMs;
}

std::optional<double> figure_of(const Limit& limit, const metrics::PointFigures& figures) {
  if (limit.at_least) return figures.tps_per_user;
  const double* const value = kept_in(limit, figures);
  return value != nullptr && *value > 0 ? std::optional(*value) : std::nullopt;
}

bool keeps(const Limit& limit, std::optional<double> figure) {
  if (!figure) return false;
  return limit.at_least ? *figure >= limit.value : *figure <= limit.value;
}

double share_of(const Limit& limit, std::optional<double> figure) {
  constexpr double kAll = std::numeric_limits<double>::infinity();
  if (!figure) return kAll;
  if (limit.at_least) return *figure > 0 ? limit.value / *figure : kAll;
  if (limit.value <= 0) return *figure > 0 ? kAll : 1;
  return *figure / limit.value;
}

std::string figure_name(const Limit& limit) {
  if (limit.at_least) return "tok/s per user";
  std::string series = limit.series;
  if (series == "latency") return format("latency P{:g}", limit.percentile);
  std::ranges::transform(series, series.begin(),
                         [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  return format("{} P{:g}", series, limit.percentile);
}

std::string value_text(const Limit& limit, std::optional<double> value) {
  if (!value) return "unknown";
  if (limit.at_least) return three_digits(*value);
  return human_duration(Duration::from_seconds(*value * 1e-3));
}

}  // namespace assay::decide
