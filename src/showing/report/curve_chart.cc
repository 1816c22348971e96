#include "report/curve_chart.h"

#include <algorithm>

#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/curve_text.h"

namespace assay::report {

using metrics::Curve;
using metrics::CurvePoint;

svg::Marker point_marker(const CurvePoint& point) {
  if (point.all_at_once()) return svg::Marker::down_triangle;
  if (point.region == "high_concurrency") return svg::Marker::triangle;
  if (point.region == "med_concurrency") return svg::Marker::square;
  if (point.region == "low_concurrency") return svg::Marker::circle;
  return svg::Marker::diamond;
}

std::string point_hint(const CurvePoint& point) {
  const metrics::PointFigures& figures = point.official();
  std::string out = format("{}, {}",
                           point.all_at_once() ? std::string("all at once")
                                               : "concurrency " + with_thousands(point.concurrency),
                           region_words(point));
  if (const auto rate = figures.throughput()) {
    const std::string unit = point.unit.empty() ? "tok/s" : point.unit + "s/s";
    out += format(": {} {}", three_digits(*rate), unit);
  }
  if (!point.unit.empty()) {
    out += ", latency P90 " + human_duration(Duration::from_seconds(figures.latency_p90_ms * 1e-3));
  }
  if (figures.tps_per_user) out += format(", {} per user", three_digits(*figures.tps_per_user));
  if (figures.ttft_p90_ms > 0) {
    out += ", TTFT P90 " + human_duration(Duration::from_seconds(figures.ttft_p90_ms * 1e-3));
  }
  return out;
}

std::string graded_name(const CurvePoint& point) {
  if (!point.safety || point.safety->grade.empty()) return point.name;
  return point.name + " " + point.safety->grade;
}

std::vector<const CurvePoint*> measured_points(const Curve& curve) {
  std::vector<const CurvePoint*> out;
  for (const CurvePoint& point : curve.points) {
    if (point.measured) out.push_back(&point);
  }
  std::ranges::stable_sort(out, {}, &CurvePoint::concurrency);
  return out;
}

std::string chart_figure(const CurveChart& chart, bool half) {
  const std::string drawing = svg::step_chart(chart.points, chart.options);
  if (drawing.empty()) return {};
  svg::StepChartOptions small = chart.options;
  small.width = 460;
  small.height = 300;
  return format(
      "<figure class=\"card{}\">\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n"
      "<div class=\"wide\">\n{}</div>\n<div class=\"narrow\">\n{}</div>\n</figure>\n",
      half ? " half" : "", markup_text(chart.title), markup_text(chart.text), drawing,
      svg::step_chart(chart.points, small));
}

}  // namespace assay::report
