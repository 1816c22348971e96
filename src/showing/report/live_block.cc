#include "report/live_block.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "report/quantity.h"

namespace assay::report {
namespace {

using metrics::LivePercentiles;
using metrics::LiveSnapshot;

constexpr std::size_t kLiveNameColumns = 12;
constexpr std::size_t kBarColumns = 34;
constexpr std::size_t kSparkColumns = 20;
constexpr std::size_t kFailureLines = 3;

std::string named(std::string_view name, std::string_view rest) {
  return pad_right(fit(name, kLiveNameColumns - 1), kLiveNameColumns) + std::string(rest);
}

// `text`, then the sparkline at the right edge.
std::string with_spark(std::string_view text, std::span<const std::optional<double>> values,
                       std::size_t columns) {
  if (values.empty() || columns < display_width(text) + kSparkColumns + 1) {
    return std::string(text);
  }
  return pad_right(text, columns - kSparkColumns) + sparkline(values, kSparkColumns);
}

std::vector<std::optional<double>> optional_values(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

std::string live_title(const LiveTitle& title, std::size_t columns) {
  const std::string left = named("assay " + title.command, "");
  const std::string load = fit(printable(title.load), columns / 3);
  const std::size_t room = columns - display_width(left) - display_width(load) - 2;
  return left + pad_right(fit(printable(title.target), room), room) + "  " + load;
}

Duration time_left(const LiveSnapshot& snapshot, double share) {
  return Duration::from_seconds(snapshot.elapsed.seconds() * (1 - share) / share);
}

std::string progress_text(const LiveSnapshot& snapshot) {
  const std::string elapsed = clock_text(snapshot.elapsed);
  if (snapshot.step != PhaseStep::started) {
    return format(
        "{}   {}", elapsed,
        snapshot.step == PhaseStep::drained
            ? "done"
            : format("draining {}", with_thousands(static_cast<std::int64_t>(snapshot.in_flight))));
  }
  const std::optional<double> share = live_progress(snapshot);
  if (!share) return elapsed;
  const double by_time =
      snapshot.duration_max ? snapshot.elapsed.seconds() / snapshot.duration_max->seconds() : -1;
  if (by_time >= *share) return format("{} of {}", elapsed, clock_text(*snapshot.duration_max));
  // Below one hundredth an estimate would jump.
  if (*share < 0.01) return elapsed;
  return format("{}, about {} left", elapsed, clock_text(time_left(snapshot, *share)));
}

std::string phase_line(const LiveSnapshot& snapshot) {
  const std::optional<double> share =
      snapshot.step == PhaseStep::started ? live_progress(snapshot) : 1.0;
  std::string out = named(printable(snapshot.phase), "");
  if (share) {
    // Rounds down: less than all is not 100 %.
    const int percent = static_cast<int>(*share * 100);
    out += progress_bar(*share, kBarColumns) + format(" {:>3} %   ", percent);
  }
  return out + progress_text(snapshot);
}

std::string rate_line(const LiveSnapshot& snapshot, std::size_t columns) {
  const auto rate = [](double value) { return pad_right(three_digits(value) + "/s", 9); };
  std::string text = named("rate", "");
  if (snapshot.open_loop) text += "offered " + rate(snapshot.offered_qps);
  text += "sent " + rate(snapshot.achieved_qps) + "done " + rate(snapshot.completed_qps);
  return with_spark(text, optional_values(snapshot.completions), columns);
}

std::string queries_line(const LiveSnapshot& snapshot, std::size_t columns) {
  const std::uint64_t done = snapshot.completed + snapshot.failed;
  std::string of = snapshot.queries_planned ? " of " + count_text(*snapshot.queries_planned) : "";
  std::string text = named("queries", format("in flight {}   done {}{}   failed {}",
                                             pad_right(count_text(snapshot.in_flight), 6),
                                             count_text(done), of, count_text(snapshot.failed)));
  // The sparklines' time span, under the first of them.
  const std::string caption = format("└ last {} s ┘", snapshot.completions.size());
  if (snapshot.completions.size() > 1 &&
      display_width(text) + 1 + display_width(caption) <= columns) {
    text += pad_left(caption, columns - display_width(text));
  }
  return text;
}

std::string percentiles_line(std::string_view name, const LivePercentiles& series,
                             std::span<const std::optional<double>> values, std::size_t columns) {
  const auto one = [&series](std::string_view percentile, Duration value) {
    return format("{} {}   ", percentile,
                  pad_left(series.count == 0 ? "–" : human_duration(value), 7));
  };
  const std::string text =
      named(name, one("P50", series.p50) + one("P90", series.p90) + one("P99", series.p99));
  return with_spark(std::string(text.substr(0, text.find_last_not_of(' ') + 1)), values, columns);
}

// tok/s for one user: 1 / TPOT P90, the percentile of the report's tps_per_user.
std::string output_line(const LiveSnapshot& snapshot, std::size_t columns) {
  std::string text =
      named("output", pad_right(three_digits(snapshot.output_tps) +
                                    (snapshot.tokens_known ? " tok/s" : " fragments/s"),
                                18));
  if (snapshot.tpot.count > 0 && snapshot.tpot.p90.ns > 0) {
    text += format("{} {}/s/user", three_digits(1 / snapshot.tpot.p90.seconds()),
                   snapshot.tokens_known ? "tok" : "fragments");
  }
  return with_spark(text, optional_values(snapshot.tokens), columns);
}

std::string client_line(const LiveSnapshot& snapshot) {
  return named("client", format("sends late P50 {}   P99 {}", human_duration(snapshot.lateness.p50),
                                human_duration(snapshot.lateness.p99)));
}

std::vector<std::string> failure_lines(const LiveSnapshot& snapshot) {
  std::vector<std::string> out;
  for (const metrics::LiveFailures& failures : snapshot.failures) {
    if (out.size() == kFailureLines) break;
    std::string text = format("{} × {}", count_text(failures.count), to_string(failures.outcome));
    if (!failures.last_detail.empty()) text += ": " + printable(failures.last_detail);
    out.push_back(named(out.empty() ? "failed" : "", text));
  }
  return out;
}

}  // namespace

std::vector<std::string> live_block(const LiveTitle& title, const LiveSnapshot& snapshot,
                                    std::size_t columns) {
  const std::size_t visible = columns;
  columns = std::clamp<std::size_t>(columns, 40, 80);
  std::vector<std::string> out;
  out.push_back(live_title(title, columns));
  if (!snapshot.trouble.empty()) {
    const std::string indent(kLiveNameColumns, ' ');
    const std::string lines = wrap(printable(snapshot.trouble), columns, indent);
    for (const std::string_view line : split(lines, '\n')) {
      const bool first = out.size() == 1;
      out.push_back(first ? named("! disk", line.substr(indent.size())) : std::string(line));
    }
  }
  if (snapshot.phase.empty()) {
    out.push_back(named("", "getting ready"));
    return out;
  }
  out.push_back(phase_line(snapshot));
  out.push_back(rate_line(snapshot, columns));
  out.push_back(queries_line(snapshot, columns));
  out.push_back(percentiles_line("TTFT", snapshot.ttft, snapshot.ttft_ms, columns));
  out.push_back(percentiles_line("TPOT", snapshot.tpot, snapshot.tpot_ms, columns));
  out.push_back(output_line(snapshot, columns));
  if (!snapshot.steady.empty()) out.push_back(named("state", snapshot.steady));
  if (snapshot.open_loop && snapshot.lateness.count > 0) out.push_back(client_line(snapshot));
  for (std::string& line : failure_lines(snapshot)) out.push_back(std::move(line));
  for (std::string& line : out) {
    line = fit(line, std::min(columns, visible));
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return out;
}

std::string live_line(const LiveSnapshot& snapshot) {
  if (snapshot.phase.empty()) return "getting ready";
  const std::optional<double> share = live_progress(snapshot);
  std::string out = format("{} {}", printable(snapshot.phase), clock_text(snapshot.elapsed));
  if (share) out += format(" ({} %)", static_cast<int>(*share * 100));
  if (snapshot.step == PhaseStep::issue_ended) out += " draining";
  out += format("  in flight {}  done {}  failed {}  {}/s", count_text(snapshot.in_flight),
                count_text(snapshot.completed + snapshot.failed), count_text(snapshot.failed),
                three_digits(snapshot.completed_qps));
  if (snapshot.tokens_known) out += format("  {} tok/s", three_digits(snapshot.output_tps));
  if (snapshot.ttft.count > 0) out += "  TTFT P90 " + human_duration(snapshot.ttft.p90);
  if (snapshot.tpot.p90.ns > 0) out += "  TPOT P90 " + human_duration(snapshot.tpot.p90);
  if (!snapshot.steady.empty()) out += "  " + snapshot.steady;
  return out;
}

std::optional<double> live_progress(const LiveSnapshot& snapshot) {
  std::optional<double> share;
  if (snapshot.queries_planned && *snapshot.queries_planned > 0) {
    share = static_cast<double>(snapshot.completed + snapshot.failed) /
            static_cast<double>(*snapshot.queries_planned);
  }
  if (snapshot.duration_max && snapshot.duration_max->ns > 0) {
    const double by_time = snapshot.elapsed.seconds() / snapshot.duration_max->seconds();
    share = std::max(share.value_or(0), by_time);
  }
  if (share) share = std::clamp(*share, 0.0, 1.0);
  return share;
}

std::string progress_bar(double share, std::size_t columns) {
  const auto halves = static_cast<std::size_t>(
      std::floor(std::clamp(share, 0.0, 1.0) * static_cast<double>(2 * columns)));
  std::string out;
  for (std::size_t i = 0; i < columns; ++i) {
    out += halves >= 2 * (i + 1) ? "━" : halves == 2 * i + 1 ? "╸" : "─";
  }
  return out;
}

std::string sparkline(std::span<const std::optional<double>> values, std::size_t columns) {
  static constexpr std::array<std::string_view, 7> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
  // Columns hold equal numbers of values, counted from the newest, so that a new value does not
  // regroup the older ones.
  const std::size_t each = (values.size() + columns - 1) / std::max<std::size_t>(columns, 1);
  std::vector<std::optional<double>> bars(columns);
  double largest = 0;
  for (std::size_t i = 0; each > 0 && i < columns && i * each < values.size(); ++i) {
    const std::size_t end = values.size() - i * each;
    double sum = 0;
    int count = 0;
    for (std::size_t k = end > each ? end - each : 0; k < end; ++k) {
      if (!values[k]) continue;
      sum += *values[k];
      ++count;
    }
    if (count == 0) continue;
    bars[columns - 1 - i] = sum / count;
    largest = std::max(largest, sum / count);
  }
  std::string out;
  for (const std::optional<double>& bar : bars) {
    if (!bar) {
      out += ' ';
      continue;
    }
    const double part = largest > 0 ? *bar / largest : 0;
    out += kBars[static_cast<std::size_t>(std::clamp(std::lround(part * 6), 0L, 6L))];
  }
  return out;
}

}  // namespace assay::report
