#include "campaign/curve/curve_show.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "report/curve_plot.h"
#include "report/live_block.h"
#include "report/quantity.h"

namespace assay::campaign {
namespace {

constexpr std::size_t kPlotRows = 8;

std::string region_text(const plan::CurvePoint& point) {
  if (point.offline == plan::Offline::dedicated) return "Offline";
  std::string out = "–";
  if (point.region) {
    switch (*point.region) {
      case rulebook::Region::low_latency:
        out = "Ultra Low";
        break;
      case rulebook::Region::low_concurrency:
        out = "Low";
        break;
      case rulebook::Region::med_concurrency:
        out = "Medium";
        break;
      case rulebook::Region::high_concurrency:
        out = "High";
        break;
      case rulebook::Region::margin:
        out = "margin";
        break;
    }
  }
  if (point.offline == plan::Offline::elected) out += ", Offline";
  return out;
}

std::string time_text(const plan::CurvePoint& point, const PointState& state, Duration time,
                      bool known) {
  if (state.finished) return "measured, " + report::clock_text(state.took);
  if (point.offline == plan::Offline::dedicated && !known) return "one pass";
  return (known ? "about " : "at least ") + report::clock_text(time);
}

// Replaces the table of points while C_max is unknown.
std::string search_text(const CurveSettings& settings, const report::TerminalStyle& style) {
  const CurveSearch& search = *settings.search;
  std::string out = "  C_max    will be found";
  out += search.range.most > search.range.least
             ? format(": the highest level from {} to {} that still pays\n",
                      with_thousands(search.range.least), with_thousands(search.range.most))
             : format(" at {}, the only level there is room for\n", search.range.most);
  out += wrap(
      format("Levels double while no query fails and throughput grows by {:.0f} % or more with "
             "each doubling; then the interval is halved until it is {:.0f} % wide. Each level "
             "takes some seconds and is kept below search/. The points follow from C_max.",
             (plan::kWorthwhileGain - 1) * 100, plan::kSearchTolerance * 100),
      style.columns, "           ");
  return out + "\n";
}

std::string seeds_text(const CurveSettings& settings) {
  return format("  seeds: set {}, cohort {}, rules {}\n",
                settings.seeds.set.empty() ? "–" : settings.seeds.set, settings.seeds.cohort,
                settings.edition);
}

std::string audit_text(const Json& audit) {
  if (audit.is_null()) return {};
  return format(
      "  output caching audit before the points: {} queries of distinct rows, then {} of row {}, "
      "at "
      "concurrency {}, without salt\n",
      audit["samples"].as_uint(), audit["samples"].as_uint(), audit["sample_index"].as_uint(),
      audit["concurrency"].as_int());
}

std::string notes_text(const plan::CurvePlan& plan, const report::TerminalStyle& style) {
  std::string out;
  for (const std::string& note : plan.notes) {
    std::string lines = wrap(note, style.columns, std::string(8, ' '));
    out += report::paint(style, report::Ink::warning, "  note: ") + lines.substr(8) + "\n";
  }
  return out;
}

}  // namespace

Duration time_left(const plan::CurvePlan& plan, const std::vector<PointState>& points) {
  Duration out{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].finished) continue;
    out += plan::least_time(plan.points[i], plan.rows, expected_rate(plan, points, i));
  }
  return out;
}

std::string plan_table(const CurveSettings& settings, const std::vector<PointState>& points,
                       const report::TerminalStyle& style) {
  const plan::CurvePlan& plan = settings.plan;
  if (plan.points.empty() && settings.search) {
    return search_text(settings, style) + seeds_text(settings) + audit_text(settings.audit) +
           notes_text(plan, style);
  }
  const auto line = [](std::string_view name, std::string_view region, std::string_view level,
                       std::string_view time, std::string_view passes, std::string_view accuracy) {
    std::string out = "  " + pad_right(name, 8) + pad_right(region, 16) + pad_left(level, 11) +
                      "  " + pad_right(time, 22) + pad_right(passes, 8) + std::string(accuracy);
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out =
      report::paint(style, report::Ink::faint,
                    line("point", "region", "concurrency", "time", "passes", "accuracy"));
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const plan::CurvePoint& point = plan.points[i];
    const double rate = expected_rate(plan, points, i);
    const Duration time = plan::least_time(point, plan.rows, rate);
    out += line(point.name, region_text(point) + (point.choice && point.region ? " (choice)" : ""),
                with_thousands(point.concurrency), time_text(point, points[i], time, rate > 0),
                format("≥ {}", point.passes_min), point.accuracy ? "yes" : "");
  }
  const Duration left = time_left(plan, points);
  out += format(
      "\n  {} points over {} rows; issuing takes at least {}, with warm-up, drain and accuracy on "
      "top\n",
      plan.points.size(), with_thousands(static_cast<std::int64_t>(plan.rows)),
      report::clock_text(left));
  return out + seeds_text(settings) + audit_text(settings.audit) + notes_text(plan, style);
}

std::vector<std::string> curve_lines(const metrics::Curve& curve, const CurveFolder& folder,
                                     std::size_t point, Duration left, std::size_t columns) {
  columns = std::min<std::size_t>(columns, 80);
  std::vector<std::string> out = report::curve_plot(curve, columns, kPlotRows);
  if (!out.empty()) out.emplace_back();
  const plan::CurvePlan& plan = folder.settings().plan;
  const auto done =
      static_cast<double>(std::ranges::count_if(folder.points(), &PointState::finished));
  const auto all = static_cast<double>(plan.points.size());
  out.push_back(fit(pad_right("curve", 12) + report::progress_bar(done / all, 20) +
                        format("  point {} of {}: {} {}   {} left at least", point + 1,
                               plan.points.size(), plan.points[point].name,
                               region_text(plan.points[point]), report::clock_text(left)),
                    columns));
  return out;
}

}  // namespace assay::campaign
