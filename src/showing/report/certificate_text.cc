#include "report/certificate_text.h"

#include <cmath>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "base/time.h"

namespace assay::report {
namespace {

// "+1.8 / +6.1 / +16 µs": P50, P99, P99.9.
std::string error_cell(const audit::ErrorFigures& f) {
  if (f.count == 0) return "–";
  const auto one = [](std::int64_t ns) {
    const double us = static_cast<double>(ns) * 1e-3;
    const std::string sign = us < 0 ? "-" : "+";
    return sign + three_digits(std::abs(us));
  };
  return format("{} / {} / {}", one(f.p50), one(f.p99), one(f.p99_9));
}

std::string table_rows(const audit::Certificate& c) {
  std::string out;
  for (const audit::CalibratedLevel& level : c.levels) {
    const std::pair<std::string_view, const audit::ClockErrors*> clocks[] = {
        {"kernel", &level.arrival}, {"kernel, own read", &level.alone}, {"reader", &level.read}};
    for (const auto& [clock, errors] : clocks) {
      out += format("| {} | {:.0f} % | {} | {:.1f} % | {} | {} | {} | {} | {} |\n",
                    with_thousands(std::int64_t{c.streams}), 100 * level.share,
                    three_digits(level.events_per_second), 100 * level.shares_read, clock,
                    error_cell(errors->ttft), error_cell(errors->itl), error_cell(errors->latency),
                    level.client_limited);
    }
  }
  return out;
}

}  // namespace

std::string certificate_table(const std::vector<audit::Certificate>& all) {
  const audit::Certificate& first = all.front();
  std::string out = format(
      "Client minus truth in µs, P50 / P99 / P99.9 of the signed errors. {}, {}, {}; "
      "Assay {} ({}), {}; {}.\n\n",
      first.machine.cpu.empty() ? "CPU unknown" : first.machine.cpu,
      counted(first.machine.cores, "core"), first.machine.kernel, first.version, first.build,
      counted(first.threads, "measuring thread"), rfc3339(first.made).substr(0, 10));
  out += "| Streams | Ceiling, queries/s | Ceiling, events/s |\n|---:|---:|---:|\n";
  for (const audit::Certificate& c : all) {
    out += format("| {} | {} | {} |\n", with_thousands(std::int64_t{c.streams}),
                  three_digits(c.qps), three_digits(c.events_per_second));
  }
  out +=
      "\n| Streams | Load | Events/s | Share a read | Clock | TTFT | ITL | Latency | Client "
      "limited |\n"
      "|---:|---:|---:|---:|---|---:|---:|---:|---|\n";
  for (const audit::Certificate& c : all) out += table_rows(c);
  return out;
}

std::string certificate_text(const audit::Certificate& c) {
  std::string out = format("{} streams: ceiling {} queries/s, {} events/s\n",
                           with_thousands(std::int64_t{c.streams}), three_digits(c.qps),
                           three_digits(c.events_per_second));
  out += "  " + pad_right("load", 8) + pad_right("clock", 18) +
         "error, P50 / P99 / P99.9 in µs:  TTFT · ITL · latency\n";
  for (const audit::CalibratedLevel& level : c.levels) {
    const std::pair<std::string_view, const audit::ClockErrors*> clocks[] = {
        {"kernel", &level.arrival}, {"kernel, own read", &level.alone}, {"reader", &level.read}};
    for (const auto& [clock, errors] : clocks) {
      out += "  " + pad_right(format("{:.0f} %", 100 * level.share), 8) + pad_right(clock, 18) +
             format("{} · {} · {}\n", error_cell(errors->ttft), error_cell(errors->itl),
                    error_cell(errors->latency));
    }
    if (level.client_limited != "no") {
      out += format("  {}client limited: {}\n", std::string(8, ' '), level.client_limited);
    }
    if (level.unmatched > 0) {
      out += format("  {}{} of {} replies do not match the endpoint's own log\n",
                    std::string(8, ' '), level.unmatched, level.replies);
    }
  }
  return out;
}

}  // namespace assay::report
