#include "report/safety_page.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/check.h"
#include "base/format.h"
#include "base/markup.h"
#include "report/curve_chart.h"
#include "report/html_figures.h"
#include "report/html_style.h"
#include "report/quantity.h"

namespace assay::report {
namespace {

using metrics::CurvePoint;
using FigureOf = std::function<std::optional<double>(const CurvePoint&)>;

std::string side_name(const std::vector<SafetyPageSide>& sides, std::size_t i) {
  const std::string letter(1, static_cast<char>('A' + i));
  return sides[i].precision.empty() ? letter : letter + " " + sides[i].precision;
}

CurveChart chart_of_sides(const std::vector<SafetyPageSide>& sides, std::string title,
                          std::string text, const FigureOf& x, const FigureOf& y) {
  CurveChart out{.title = std::move(title), .text = std::move(text)};
  out.options.label = out.title;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (const CurvePoint* const point : measured_points(*sides[i].curve)) {
      const auto at = x(*point);
      const auto value = y(*point);
      if (!at || !value || *at <= 0 || point->all_at_once()) continue;
      svg::StepPoint drawn{.x = *at, .y = *value, .marker = point_marker(*point)};
      drawn.name = side_name(sides, i) + " " + graded_name(*point);
      drawn.hint = drawn.name + ": " + point_hint(*point);
      drawn.series = static_cast<int>(i) + 1;
      out.points.push_back(std::move(drawn));
    }
  }
  return out;
}

std::optional<double> concurrency_of(const CurvePoint& point) {
  return static_cast<double>(point.concurrency);
}

std::optional<double> failed_share_of(const CurvePoint& point) {
  if (!point.safety || point.safety->queries == 0) return std::nullopt;
  return static_cast<double>(point.safety->failed) / static_cast<double>(point.safety->queries);
}

std::optional<double> safe_share_of(const CurvePoint& point) {
  if (!point.safety || !point.safety->safe_share) return std::nullopt;
  return point.safety->safe_share;
}

std::string performance(const std::vector<SafetyPageSide>& sides) {
  CurveChart chart = chart_of_sides(
      sides, "What does each give, and how safely?",
      "System throughput against what one user sees; beside a point its safety grade.",
      [](const CurvePoint& point) { return point.official().tps_per_user; },
      [](const CurvePoint& point) { return point.official().throughput(); });
  chart.options.x_title = "tok/s per user (1000 / TPOT P90 in ms)";
  chart.options.y_title = "system tok/s";
  return chart_figure(chart, false);
}

std::string over_load(const std::vector<SafetyPageSide>& sides, std::string title,
                      std::string y_title, const FigureOf& y) {
  CurveChart chart =
      chart_of_sides(sides, std::move(title), y_title + " by concurrency", concurrency_of, y);
  // Lines close together leave room for one name each.
  for (std::size_t i = 0; i < chart.points.size(); ++i) {
    const bool last =
        i + 1 == chart.points.size() || chart.points[i + 1].series != chart.points[i].series;
    const auto side = static_cast<std::size_t>(chart.points[i].series) - 1;
    chart.points[i].name = last ? side_name(sides, side) : std::string();
  }
  chart.options.width = 500;
  chart.options.height = 280;
  chart.options.x = Quantity::count;
  chart.options.y = Quantity::share;
  chart.options.x_title = "concurrency";
  chart.options.y_title = std::move(y_title);
  return chart_figure(chart, true);
}

std::string page_table(const std::vector<SafetyPageSide>& sides) {
  std::set<std::int64_t> concurrencies;
  for (const SafetyPageSide& side : sides) {
    for (const CurvePoint& point : side.curve->points) {
      if (point.measured && !point.all_at_once()) concurrencies.insert(point.concurrency);
    }
  }
  HtmlTable table(
      {"concurrency", "side", "grade", "safe", "failed", "tok/s", "per user", "TTFT P90, ms"});
  const auto shown = [](const std::optional<double>& value) {
    return value ? format("{:.2f}", *value) : std::string("–");
  };
  const auto share = [](const std::optional<double>& value) {
    return value ? share_text(*value) : std::string("–");
  };
  for (const std::int64_t concurrency : concurrencies) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      for (const CurvePoint& point : sides[i].curve->points) {
        if (point.concurrency != concurrency || !point.measured || point.all_at_once()) continue;
        const auto& figures = point.official();
        const bool graded = point.safety && !point.safety->grade.empty();
        table.row({format("{}", concurrency), side_name(sides, i),
                   graded ? point.safety->grade : "–", share(safe_share_of(point)),
                   share(failed_share_of(point)), shown(figures.throughput()),
                   shown(figures.tps_per_user),
                   figures.ttft_p90_ms > 0 ? shown(figures.ttft_p90_ms) : "–"});
      }
    }
  }
  return "<div class=\"card\">\n" + table.finish() + "</div>\n";
}

}  // namespace

std::string safety_page(const std::vector<SafetyPageSide>& sides, std::string_view note,
                        const std::vector<std::string>& sentences) {
  CHECK(!sides.empty() && sides.size() <= 4);
  std::string out = page_head(sides.front().curve->model + ": safety by precision");
  out += format(
      "<header>\n<div class=\"kind\"><b>ASSAY</b><span class=\"badge\">safety, in pairs</span>"
      "</div>\n<h1>{}</h1>\n<p class=\"verdict\">{}.</p>\n",
      markup_text(sides.front().curve->model), markup_text(note));
  for (std::size_t i = 0; i < sides.size(); ++i) {
    out += format("<p class=\"meta\">{}: {}</p>\n", markup_text(side_name(sides, i)),
                  markup_text(sides[i].name));
  }
  out += "</header>\n<main>\n<section id=\"pairs\">\n<h2>Is B as safe as A?</h2>\n<ul>\n";
  for (const std::string& one : sentences) out += "<li>" + markup_text(one) + "</li>\n";
  out += "</ul>\n</section>\n<section id=\"curves\">\n<h2>On the same curves</h2>\n";
  out += performance(sides);
  out += "<div class=\"grid\">\n" +
         over_load(sides, "How safe is it under load?", "safe replies", safe_share_of) +
         over_load(sides, "How much fails?", "failed queries", failed_share_of) + "</div>\n";
  out += "</section>\n<section id=\"points\">\n<h2>Each point</h2>\n" + page_table(sides);
  return out + "</section>\n</main>\n</body>\n</html>\n";
}

}  // namespace assay::report
