#include "interchange/report_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/time.h"
#include "interchange/accuracy_text.h"
#include "metrics/result_json.h"

namespace assay::interchange {
namespace {

constexpr double kBarColumns = 30;
// Both are of "2026-11-26T19:38:00Z".
constexpr std::size_t kDayLength = 10;
constexpr std::size_t kSecondsLength = 19;

// "load_pattern: type=poisson, target_qps=25.0", as Python spells its values.
std::string spelled(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.as_bool() ? "True" : "False";
  if (value.is_string()) return std::string(value.as_string());
  return value.dump();
}

std::string run_config_lines(const Json& run_config) {
  std::string out;
  for (const auto& [section, value] : run_config.members()) {
    out += format("  {}: ", section);
    if (!value.is_object()) {
      out += spelled(value) + "\n";
      continue;
    }
    std::string_view separator;
    for (const auto& [key, inner] : value.members()) {
      out += format("{}{}={}", separator, key, spelled(inner));
      separator = ", ";
    }
    out += "\n";
  }
  return out;
}

std::string two_digits(const std::optional<double>& value) {
  return value ? format("{:.2f}", *value) : "N/A";
}

std::string state_line(const metrics::Point& point) {
  if (point.complete()) return "";
  switch (point.end.state) {
    case RunState::complete:
      return format("WARNING: incomplete: {} queries have no end\n", point.counts.unfinished);
    case RunState::interrupted:
      return "WARNING: run was interrupted (SIGTERM/SIGINT) — "
             "metrics below are best-effort partial data.\n";
    case RunState::crashed:
      return "WARNING: the run crashed: its log ends without a word\n";
  }
  return "";
}

std::string summary_lines(const metrics::Point& point) {
  const metrics::HeadlineRates rates = metrics::headline_rates(point);
  std::string out = "----------------- Summary -----------------\n";
  out += state_line(point);
  out += format("Version: {}\n", point.run.version);
  if (!point.run.git_sha.empty()) out += format("Git SHA: {}\n", point.run.git_sha);
  out += "Run config:\n" + run_config_lines(point.run.facts["run_config"]);
  if (point.run.started.ns > 0) {
    std::string at = rfc3339(point.run.started).substr(0, kSecondsLength);
    at[kDayLength] = ' ';
    out += format("Test started at: {}\n", at);
  }
  out += format("Total samples issued: {}\n", point.counts.issued);
  out += format("Total samples completed: {}\n", point.counts.completed);
  out += format("Total samples failed: {}\n", point.counts.failed);
  out += point.rates.duration.ns > 0
             ? format("Duration: {:.2f} seconds\n", point.rates.duration.seconds())
             : "Duration: N/A\n";
  out += format("QPS: {}\n", two_digits(rates.qps));
  out += format("TPS: {}\n", two_digits(rates.tps));
  return out;
}

std::string histogram_lines(const metrics::Distribution& series, double scale) {
  std::uint64_t most = 1;
  std::size_t columns = 0;
  std::vector<std::string> labels;
  for (const metrics::Bucket& bucket : series.histogram) {
    const bool last = &bucket == &series.histogram.back();
    labels.push_back(
        format("[{:.2f}, {:.2f}{}", bucket.low * scale, bucket.high * scale, last ? "]" : ")"));
    most = std::max(most, bucket.count);
    columns = std::max(columns, labels.back().size());
  }
  std::string out = "\n  Histogram:\n";
  // The reference client multiplies by this ratio, whose last digit decides on some bars.
  const double each = kBarColumns / static_cast<double>(most);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::uint64_t count = series.histogram[i].count;
    const std::string bar(static_cast<std::size_t>(static_cast<double>(count) * each), '#');
    out += format("    {:>{}} |{} {}\n", labels[i], columns, bar, count);
  }
  return out;
}

// "" for a series without values, and without estimates of them.
std::string series_lines(std::string_view name, const metrics::Distribution& series, double scale,
                         std::string_view unit) {
  if (series.empty() && !series.estimated) return "";
  std::string out = format("{}:\n", name);
  const auto row = [&](std::string_view label, double value) {
    out += format("  {}: {} {}\n", label, series.empty() ? "N/A" : format("{:.2f}", value * scale),
                  unit);
  };
  row("Min", series.min);
  row("Max", series.max);
  row("Median", series.median());
  row("Avg.", series.mean);
  row("Std Dev.", series.std_dev);
  out += histogram_lines(series, scale);
  out += "\n  Percentiles:\n";
  for (std::size_t i = 0; i < metrics::kPercentiles.size() && !series.empty(); ++i) {
    out += format("    {:>4}: {:.2f} {}\n", json_number(metrics::kPercentiles[i]),
                  series.percentiles[i] * scale, unit);
  }
  if (!series.estimated) return out + "\n";
  out += "\n  Early-stopping percentile estimates (N/A = insufficient samples):\n";
  for (std::size_t i = 0; i < metrics::kEstimates; ++i) {
    const auto& estimate = series.early_stopping[i];
    out += format("    {:>4}: {} {}\n", json_number(metrics::kPercentiles[i]),
                  estimate ? format("{:.2f}", *estimate * scale) : "N/A", unit);
  }
  return out + "\n";
}

}  // namespace

std::string report_text(const metrics::Point& point, const Json& accuracy) {
  constexpr double kMs = 1e-6;
  std::string out = summary_lines(point);
  out += accuracy_text(accuracy);
  out += "\n------------------- Latency Breakdowns -------------------\n";
  out += series_lines("TTFT", point.arrival.ttft, kMs, "ms");
  out += series_lines("TPOT", point.arrival.tpot, kMs, "ms");
  out += series_lines("Latency", point.arrival.latency, kMs, "ms");
  out += series_lines("Input sequence lengths", point.isl, 1, "tokens");
  out += series_lines("Output sequence lengths", point.osl, 1, "tokens");
  out += "----------------- End of Report -----------------\n";
  return out;
}

}  // namespace assay::interchange
