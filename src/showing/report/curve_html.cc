#include "report/curve_html.h"

#include <algorithm>
#include <functional>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/curve_chart.h"
#include "report/html_figures.h"
#include "report/html_style.h"

namespace assay::report {
namespace {

using metrics::Curve;
using metrics::CurvePoint;

constexpr double kNsAMs = 1e6;

CurveChart pareto(const Curve& curve) {
  CurveChart out;
  out.title = curve_verdict(curve);
  const bool tokens = curve.unit().empty();
  out.text =
      "System throughput against what one user sees. Steps hold the last measured value; nothing "
      "is interpolated. ▲ High, ■ Medium, ● Low, ◆ Ultra Low";
  if (std::ranges::any_of(curve.points, [](const CurvePoint& p) { return p.safety.has_value(); })) {
    out.text += "; beside a point its safety grade by Assay's own rules";
  }
  out.text += std::ranges::any_of(curve.points, &CurvePoint::all_at_once)
                  ? "; ▼ Offline, whose throughput is a dotted line."
                  : ".";
  out.options.label = out.title;
  out.options.x_title = tokens ? "tok/s per user (1000 / TPOT P90 in ms)" : "latency P90";
  out.options.y_title = "system " + curve.throughput_unit();
  if (!tokens) {
    out.options.x = Quantity::duration;
    out.options.y = Quantity::rate;
  }
  out.options.simulated = curve.simulated;
  for (const CurvePoint* point : measured_points(curve)) {
    const metrics::PointFigures& figures = point->official();
    const std::optional<double> rate = figures.throughput();
    const std::optional<double> seen =
        tokens ? figures.tps_per_user : std::optional(figures.latency_p90_ms * kNsAMs);
    if (!rate || !seen || *seen <= 0) continue;
    out.points.push_back({.x = *seen,
                          .y = *rate,
                          .marker = point_marker(*point),
                          .name = graded_name(*point),
                          .hint = point_hint(*point),
                          .apart = point->all_at_once()});
  }
  return out;
}

// One of the three charts over concurrency.
CurveChart over_concurrency(const Curve& curve, std::string title, std::string_view text,
                            Quantity y,
                            const std::function<std::optional<double>(const CurvePoint&)>& value,
                            int series) {
  CurveChart out{.title = std::move(title), .text = std::string(text)};
  out.options.label = out.title;
  out.options.width = 500;
  out.options.height = 280;
  out.options.x = Quantity::count;
  out.options.y = y;
  out.options.x_title = "concurrency";
  out.options.series = series;
  out.options.simulated = curve.simulated;
  for (const CurvePoint* point : measured_points(curve)) {
    const std::optional<double> at = value(*point);
    if (!at) continue;
    out.points.push_back({.x = static_cast<double>(point->concurrency),
                          .y = *at,
                          .marker = point_marker(*point),
                          .name = "",
                          .hint = point_hint(*point),
                          .apart = point->all_at_once()});
  }
  return out;
}

std::string charts(const Curve& curve) {
  const bool tokens = curve.unit().empty();
  const std::string throughput = format("system {} by concurrency", curve.throughput_unit());
  std::string out =
      chart_figure(over_concurrency(
                       curve, "How does throughput grow?", throughput,
                       tokens ? Quantity::tokens_per_second : Quantity::rate,
                       [](const CurvePoint& point) { return point.official().throughput(); }, 1),
                   true);
  if (!tokens) {
    out += chart_figure(
        over_concurrency(
            curve, "How long until the reply?", "latency P90 by concurrency", Quantity::duration,
            [](const CurvePoint& point) -> std::optional<double> {
              const double ms = point.official().latency_p90_ms;
              if (ms <= 0 || point.all_at_once()) return std::nullopt;
              return ms * kNsAMs;
            },
            2),
        true);
    return "<div class=\"grid\">\n" + out + "</div>\n";
  }
  out += chart_figure(
      over_concurrency(
          curve, "How long until the first token?", "TTFT P90 by concurrency", Quantity::duration,
          [](const CurvePoint& point) -> std::optional<double> {
            const double ms = point.official().ttft_p90_ms;
            if (ms <= 0 || point.all_at_once()) return std::nullopt;
            return ms * kNsAMs;
          },
          2),
      true);
  out += chart_figure(over_concurrency(
                          curve, "How fast is it for one user?", "tok/s per user by concurrency",
                          Quantity::tokens_per_second,
                          [](const CurvePoint& point) -> std::optional<double> {
                            if (point.all_at_once()) return std::nullopt;  // no user waits
                            return point.official().tps_per_user;
                          },
                          3),
                      true);
  return "<div class=\"grid\">\n" + out + "</div>\n";
}

std::string point_table(const Curve& curve, const CurveOptions& options) {
  const bool graded = std::ranges::any_of(
      curve.points, [](const metrics::CurvePoint& point) { return point.safety.has_value(); });
  const bool tokens = curve.unit().empty();
  const CurveHeads said = curve_heads(curve);
  std::vector<std::string> heads{"point", "region", said.throughput};
  if (tokens) {
    heads.insert(heads.end(), {"per user", "TTFT P90", "TPOT P90"});
  } else {
    heads.emplace_back("latency P90");
  }
  heads.emplace_back("accuracy");
  if (graded) heads.insert(heads.end(), {"safety", "safety failed"});
  heads.insert(heads.end(), {tokens ? "$ / M tokens" : said.cost,
                             tokens ? "J / token" : said.energy, "SLO", "basis", "doubt"});
  HtmlTable table(heads);
  const auto or_dash = [](const std::string& text) { return text.empty() ? "–" : text; };
  for (const CurveRow& row : curve_rows(curve, options)) {
    std::vector<std::string> cells{row.point, row.region, row.throughput};
    if (tokens) {
      cells.insert(cells.end(), {row.per_user, row.ttft, row.tpot});
    } else {
      cells.push_back(row.latency);
    }
    cells.push_back(row.accuracy);
    if (graded) cells.insert(cells.end(), {or_dash(row.safety), or_dash(row.safety_failed)});
    cells.insert(cells.end(),
                 {or_dash(row.cost), or_dash(row.energy), or_dash(row.slo), row.basis, row.doubt});
    table.row(cells);
  }
  return "<div class=\"card\">\n" + table.finish() + "</div>\n";
}

std::string facts(const Curve& curve) {
  std::string out = "<div class=\"card\">\n<dl class=\"facts\">\n";
  const auto add = [&out](std::string_view name, const std::string& text) {
    if (text.empty()) return;
    out += format("<dt>{}</dt><dd>{}</dd>\n", markup_text(name), markup_text(text));
  };
  add("model", curve.model);
  add("precision", curve.precision);
  add("endpoint", curve.endpoint);
  add("datasets", curve.datasets);
  add("started", curve.started);
  add("rules", format("{}, C_min {}, C_max {}", curve.edition, curve.c_min, curve.c_max));
  add("seeds", curve.seed_set.empty()
                   ? std::string()
                   : format("set {}, for cohort {}", curve.seed_set, curve.cohort));
  add("curve", curve.id);
  return out + "</dl>\n</div>\n";
}

std::string curve_section(std::string_view id, std::string_view title, const std::string& body) {
  return format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, markup_text(title), body);
}

}  // namespace

std::string curve_html(const Curve& curve, const CurveOptions& options) {
  std::string out = page_head(curve.model + ": curve");
  out += format(
      "<header>\n<div class=\"kind\"><b>ASSAY</b><span class=\"badge{}\">{}</span></div>\n"
      "<h1>{} @ {}</h1>\n<p class=\"meta\">{}</p>\n<p class=\"verdict\">{}.</p>\n",
      curve.simulated ? " simulated" : "", curve.simulated ? "simulated curve" : "measured curve",
      markup_text(curve.model), markup_text(curve.endpoint), markup_text(curve.started),
      markup_text(curve_verdict(curve)));
  for (const std::string& more : further_sentences(curve, options)) {
    out += format("<p class=\"meta\">{}.</p>\n", markup_text(more));
  }
  const std::vector<std::string> doubts = curve_doubts(curve);
  if (!doubts.empty()) {
    out += "<ul class=\"warnings\" aria-label=\"warnings\">\n";
    for (const std::string& doubt : doubts) {
      out += format("<li><b>Warning:</b> {}</li>\n", markup_text(doubt));
    }
    out += "</ul>\n";
  }
  out += "</header>\n<main>\n";
  const std::string main_chart = chart_figure(pareto(curve), false);
  if (!main_chart.empty()) {
    out += curve_section("curve", "What does it give, and to how many?", main_chart);
    out += curve_section("concurrency", "What does more load do?", charts(curve));
  }
  out += curve_section("points", "Each point", point_table(curve, options));
  out += curve_section("about", "What was measured?", facts(curve));
  const bool tokens = curve.unit().empty();
  out += format(
      "</main>\n<footer>\n<p>{} A window is the part of a run in which {} are level over at least "
      "four passes over the dataset; where there is none, the whole run counts.{}</p>\n<p>Assay "
      "{}</p>\n</footer>\n</body>\n</html>\n",
      tokens ? "system_tps = output tokens / s. tps per user = 1000 / TPOT P90 in ms."
             : markup_text(curve.throughput_unit()) +
                   " = asked for by the queries that succeeded, a second.",
      tokens ? "TPOT P50 and P90" : "latency P90 and the completion rate",
      options.price_per_hour ? format(" $ for {} at ${} an hour for the system.",
                                      tokens ? "a million output tokens"
                                             : markup_text(decide::lot_of(curve.unit()).words),
                                      three_digits(*options.price_per_hour))
                             : "",
      markup_text(curve.version));
  return out;
}

}  // namespace assay::report
