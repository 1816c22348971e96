#include "report/twin.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/markup.h"
#include "base/text.h"
#include "base/version.h"
#include "report/html_figures.h"
#include "report/html_style.h"
#include "report/simulated.h"
#include "report/svg/range_chart.h"

namespace assay::report {
namespace {

std::string twin_ms(double value) {
  return value > 0 ? human_duration(Duration::from_seconds(value * 1e-3)) : "–";
}

std::string tps_cell(double value) { return value > 0 ? three_digits(value) : "–"; }

std::string percent(double share) { return format("{:.1f} %", share * 100); }

using Cell = std::string (*)(double);

std::string range_cell(const sim::Estimate& estimate, Cell cell) {
  std::string out = cell(estimate.value);
  if (estimate.low > 0) out += format(" ({} – {})", cell(estimate.low), cell(estimate.high));
  return out;
}

std::string held_out_text(const sim::Twin& twin) {
  if (twin.held_out.empty()) return {};
  std::string out =
      format("TPOT {}, TTFT {}", percent(sim::held_out_error(twin, &sim::HeldOut::tpot)),
             percent(sim::held_out_error(twin, &sim::HeldOut::ttft)));
  const double throughput = sim::held_out_error(twin, &sim::HeldOut::throughput);
  if (throughput > 0) out += format(", throughput {}", percent(throughput));
  return out;
}

std::string causes_text(const TwinAnswer& answer) {
  if (sim::is_near(answer.twin)) return {};
  const std::string residual = sim::residual_text(answer.measured, answer.twin);
  if (answer.causes.empty()) {
    return format("\n{}; none of the changes that were tried explains half of it\n", residual);
  }
  std::string out = format("\n{}, as if\n", residual);
  for (const sim::TwinCause& cause : answer.causes) {
    out += format("  {}: TPOT {}, TTFT {} off then\n", cause.as_if, percent(cause.tpot_error),
                  percent(cause.ttft_error));
  }
  return out;
}

const std::vector<std::string>& what_if_heads() {
  static const std::vector<std::string> heads = {
      "in flight", "tok/s now", "then (from – to)", "TPOT now", "then", "TTFT now", "then"};
  return heads;
}

std::vector<std::string> what_if_row(const sim::WhatIfPoint& point) {
  return {with_thousands(point.measured.concurrency) + (point.unsteady.empty() ? "" : " *"),
          tps_cell(point.measured.system_tps),
          range_cell(point.system_tps, tps_cell),
          twin_ms(point.measured.tpot_ms_mean),
          range_cell(point.tpot_ms, twin_ms),
          twin_ms(point.measured.ttft_ms_mean),
          range_cell(point.ttft_ms, twin_ms)};
}

std::string what_if_table(const sim::WhatIf& what_if) {
  std::vector<std::vector<std::string>> rows = {what_if_heads()};
  for (const sim::WhatIfPoint& point : what_if.points) rows.push_back(what_if_row(point));
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += "  " + pad_left(row[i], widths[i]);
    out += "\n";
  }
  return out;
}

std::string unsteady_lines(const sim::WhatIf& what_if) {
  std::string out;
  for (const sim::WhatIfPoint& point : what_if.points) {
    if (point.unsteady.empty()) continue;
    out += format("  * {}: {}\n", point.measured.concurrency, point.unsteady);
  }
  return out;
}

std::string trust_line(const sim::WhatIf& what_if) {
  if (what_if.points.empty()) return {};
  const sim::Trust& trust = what_if.points.back().trust;
  return format("  {}: {}\n", to_string(trust.level), trust.says);
}

constexpr std::string_view kRangeWords =
    "from – to: how far this curve's own held-out points lay from the twin, and measured points "
    "like the changed system from the model";

Json estimate_json(const sim::Estimate& estimate) {
  if (estimate.value <= 0) return Json();
  Json out;
  out.set("value", estimate.value);
  if (estimate.low > 0) out.set("low", estimate.low).set("high", estimate.high);
  return out;
}

Json what_if_json(const sim::WhatIf& what_if, const std::string& changes) {
  Json points = Json::array();
  for (const sim::WhatIfPoint& point : what_if.points) {
    Json one;
    one.set("concurrency", point.measured.concurrency)
        .set("measured", Json()
                             .set("system_tps", point.measured.system_tps)
                             .set("tpot_ms_mean", point.measured.tpot_ms_mean)
                             .set("ttft_ms_mean", point.measured.ttft_ms_mean))
        .set("system_tps", estimate_json(point.system_tps))
        .set("tpot_ms_mean", estimate_json(point.tpot_ms))
        .set("ttft_ms_mean", estimate_json(point.ttft_ms))
        .set("trust",
             Json().set("level", to_string(point.trust.level)).set("says", point.trust.says));
    if (!point.unsteady.empty()) one.set("unsteady", point.unsteady);
    points.push_back(std::move(one));
  }
  return Json()
      .set("changes", changes)
      .set("system", what_if.system)
      .set("gpus", what_if.gpus)
      .set("points", std::move(points));
}

// One figure of the curve, measured and after each change.
std::string chart(const TwinAnswer& answer, std::string_view title, Quantity quantity, double scale,
                  double sim::MeasuredPoint::*now, sim::Estimate sim::WhatIfPoint::*then) {
  std::vector<svg::RangeSeries> series = {{.name = "measured", .points = {}, .measured = true}};
  for (const sim::MeasuredPoint& point : answer.measured) {
    if (point.*now > 0) {
      series[0].points.push_back({.x = static_cast<double>(point.concurrency),
                                  .y = point.*now * scale,
                                  .hint = format("measured at {}", point.concurrency)});
    }
  }
  for (std::size_t n = 0; n < answer.what_ifs.size(); ++n) {
    series.push_back({.name = answer.changes[n] + " (simulated)"});
    for (const sim::WhatIfPoint& point : answer.what_ifs[n].points) {
      const sim::Estimate& figure = point.*then;
      if (figure.value <= 0) continue;
      series.back().points.push_back(
          {.x = static_cast<double>(point.measured.concurrency),
           .y = figure.value * scale,
           .low = figure.low * scale,
           .high = figure.high * scale,
           .hint = format("{} at {}", answer.changes[n], point.measured.concurrency)});
    }
  }
  for (svg::RangeSeries& one : series) std::ranges::sort(one.points, {}, &svg::RangePoint::x);
  const svg::RangeChartOptions options{
      .label = std::string(title), .y = quantity, .x_title = "in flight"};
  const std::string drawing = svg::range_chart(series, options);
  if (drawing.empty()) return {};
  return format(
      "<figure class=\"card\">\n<figcaption><h3>{}</h3></figcaption>\n"
      "<div class=\"wide\">\n{}</div>\n</figure>\n",
      markup_text(title), drawing);
}

std::string what_if_sections(const TwinAnswer& answer) {
  std::string out;
  for (std::size_t n = 0; n < answer.what_ifs.size(); ++n) {
    HtmlTable table(what_if_heads());
    for (const sim::WhatIfPoint& point : answer.what_ifs[n].points) table.row(what_if_row(point));
    out +=
        format("<section>\n<h2>What if {}?</h2>\n<p>{}. {}.</p>\n<div class=\"card\">\n{}</div>\n",
               markup_text(answer.changes[n]), markup_text(answer.what_ifs[n].system),
               markup_text(kRangeWords), table.finish());
    const std::string unsteady = unsteady_lines(answer.what_ifs[n]);
    if (!unsteady.empty()) out += format("<p>{}</p>\n", markup_text(unsteady));
    out += "</section>\n";
  }
  return out;
}

}  // namespace

std::string twin_provenance(const TwinAnswer& answer) {
  const std::string held_out = held_out_text(answer.twin);
  return format(
      "fitted to {} points of {}, {} tokens in and {} out; largest error TPOT {}, TTFT {}{}",
      answer.measured.size(), answer.curve, sim::describe(answer.load.input),
      sim::describe(answer.load.output), percent(answer.twin.tpot_error_max),
      percent(answer.twin.ttft_error_max),
      held_out.empty() ? held_out : "; of points left out, median: " + held_out);
}

std::string twin_text(const TwinAnswer& answer) {
  const sim::Twin& twin = answer.twin;
  const sim::MeasuredLoad& load = answer.load;
  std::string out = format(
      "simulated  {}, fitted to {} points\n           {} tokens in, {} out{}\n\n", answer.system,
      answer.measured.size(), sim::describe(load.input), sim::describe(load.output),
      load.cached_share > 0 ? format(", {:.0f} % cached", load.cached_share * 100) : "");
  for (std::size_t i = 0; i < sim::Twin::kFactors; ++i) {
    out += format("  {:<18} x {:.3f}\n", sim::twin_constants()[i], twin.factors[i]);
  }
  out += format(
      "\n  median error   TPOT {} -> {}   TTFT {} -> {}\n"
      "  largest error  TPOT {}   TTFT {}\n",
      percent(twin.tpot_error_before), percent(twin.tpot_error_after),
      percent(twin.ttft_error_before), percent(twin.ttft_error_after), percent(twin.tpot_error_max),
      percent(twin.ttft_error_max));
  const std::string held_out = held_out_text(twin);
  if (!held_out.empty()) out += format("  of points that the fit had not: {} (median)\n", held_out);
  out += "\n" + points_table(twin.points) + causes_text(answer);
  for (std::size_t n = 0; n < answer.what_ifs.size(); ++n) {
    const sim::WhatIf& what_if = answer.what_ifs[n];
    out += format("\nwhat if {}: simulated, {}\n", answer.changes[n], what_if.system);
    out += trust_line(what_if) + what_if_table(what_if) + unsteady_lines(what_if);
  }
  if (!answer.what_ifs.empty()) out += format("  {}\n", kRangeWords);
  return out;
}

Json twin_json(const TwinAnswer& answer) {
  const sim::Twin& twin = answer.twin;
  Json factors;
  for (std::size_t i = 0; i < sim::Twin::kFactors; ++i) {
    factors.set(sim::twin_constants()[i], twin.factors[i]);
  }
  Json causes = Json::array();
  for (const sim::TwinCause& cause : answer.causes) {
    causes.push_back(Json()
                         .set("as_if", cause.as_if)
                         .set("tpot_error", cause.tpot_error)
                         .set("ttft_error", cause.ttft_error)
                         .set("misfit", cause.misfit));
  }
  Json what_ifs = Json::array();
  for (std::size_t n = 0; n < answer.what_ifs.size(); ++n) {
    what_ifs.push_back(what_if_json(answer.what_ifs[n], answer.changes[n]));
  }
  Json out = Json()
                 .set("kind", "simulated")
                 .set("system", answer.system)
                 .set("calibration", answer.provenance)
                 .set("factors", std::move(factors))
                 .set("tpot_error_before", twin.tpot_error_before)
                 .set("tpot_error_after", twin.tpot_error_after)
                 .set("ttft_error_before", twin.ttft_error_before)
                 .set("ttft_error_after", twin.ttft_error_after)
                 .set("tpot_error_max", twin.tpot_error_max)
                 .set("ttft_error_max", twin.ttft_error_max)
                 .set("isl_mean", sim::mean_tokens(answer.load.input))
                 .set("osl_mean", sim::mean_tokens(answer.load.output))
                 .set("cached_share", answer.load.cached_share)
                 .set("points", json_list(twin.points, point_json));
  if (!twin.held_out.empty()) {
    out.set("held_out",
            Json()
                .set("tpot_error", sim::held_out_error(twin, &sim::HeldOut::tpot))
                .set("ttft_error", sim::held_out_error(twin, &sim::HeldOut::ttft))
                .set("throughput_error", sim::held_out_error(twin, &sim::HeldOut::throughput)));
  }
  return out.set("causes", std::move(causes)).set("what_if", std::move(what_ifs));
}

std::string twin_html(const TwinAnswer& answer) {
  constexpr double kMsToNs = 1e6;
  std::string out = page_head(answer.system + ": twin");
  out += format(
      "<header>\n<div class=\"kind\"><b>ASSAY</b><span class=\"badge simulated\">simulated over "
      "measured</span></div>\n<h1>{}</h1>\n<p class=\"meta\">{}.</p>\n",
      markup_text(answer.system), markup_text(answer.provenance));
  if (!answer.causes.empty()) {
    out += format("<p class=\"verdict\">{}, as if {}.</p>\n",
                  markup_text(sim::residual_text(answer.measured, answer.twin)),
                  markup_text(answer.causes.front().as_if));
  }
  out += "</header>\n<main>\n<section>\n<h2>Measured, and what it would be</h2>\n";
  out += chart(answer, "system tok/s", Quantity::tokens_per_second, 1,
               &sim::MeasuredPoint::system_tps, &sim::WhatIfPoint::system_tps);
  out += chart(answer, "TPOT, mean", Quantity::duration, kMsToNs, &sim::MeasuredPoint::tpot_ms_mean,
               &sim::WhatIfPoint::tpot_ms);
  out += chart(answer, "TTFT, mean", Quantity::duration, kMsToNs, &sim::MeasuredPoint::ttft_ms_mean,
               &sim::WhatIfPoint::ttft_ms);
  out += "</section>\n" + what_if_sections(answer);
  return out + format("</main>\n<footer>\n<p>Assay {}</p>\n</footer>\n</body>\n</html>\n",
                      markup_text(version()));
}

}  // namespace assay::report
