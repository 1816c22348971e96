#include "report/svg/drawing.h"

#include <cmath>

#include "base/check.h"
#include "base/display.h"
#include "base/enum_name.h"
#include "base/format.h"
#include "base/markup.h"

namespace assay::report::svg {
namespace {

constexpr double kMarkerRadius = 4;

Path marker_path(Marker marker, double x, double y) {
  const double r = kMarkerRadius;
  Path path;
  switch (marker) {
    case Marker::circle:
      break;  // an element of its own
    case Marker::square:
      path.add_rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
      break;
    case Marker::triangle:
      path.move_to(x, y - r * 1.2).line_to(x + r * 1.15, y + r * 0.9);
      path.line_to(x - r * 1.15, y + r * 0.9).close();
      break;
    case Marker::down_triangle:
      path.move_to(x, y + r * 1.2).line_to(x + r * 1.15, y - r * 0.9);
      path.line_to(x - r * 1.15, y - r * 0.9).close();
      break;
    case Marker::diamond:
      path.move_to(x, y - r * 1.3).line_to(x + r * 1.3, y);
      path.line_to(x, y + r * 1.3).line_to(x - r * 1.3, y).close();
      break;
  }
  return path;
}

}  // namespace

std::string coordinate(double value) {
  CHECK(std::isfinite(value));
  const double tenths = std::round(value * 10);
  if (tenths == 0) return "0";
  const double whole = tenths / 10;
  return std::fmod(tenths, 10) == 0 ? format("{:.0f}", whole) : format("{:.1f}", whole);
}

Path& Path::move_to(double x, double y) {
  data_ += format("M{} {}", coordinate(x), coordinate(y));
  return *this;
}

Path& Path::line_to(double x, double y) {
  data_ += format("L{} {}", coordinate(x), coordinate(y));
  return *this;
}

Path& Path::close() {
  data_ += 'Z';
  return *this;
}

Path& Path::add_rect(double x, double y, double width, double height) {
  data_ += format("M{} {}h{}v{}h{}Z", coordinate(x), coordinate(y), coordinate(width),
                  coordinate(height), coordinate(-width));
  return *this;
}

Drawing::Drawing(double width, double height, std::string_view label) {
  out_ = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\">\n",
      coordinate(width), coordinate(height), markup_text(label));
}

void Drawing::open_group(std::string_view classes) {
  out_ += format("<g class=\"{}\">\n", classes);
  ++open_groups_;
}

void Drawing::close_group() {
  CHECK(open_groups_ > 0);
  --open_groups_;
  out_ += "</g>\n";
}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  out_ += format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", classes,
                 coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2));
}

void Drawing::rect(double x, double y, double width, double height, std::string_view classes) {
  out_ += format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", classes,
                 coordinate(x), coordinate(y), coordinate(width), coordinate(height));
}

void Drawing::path(const Path& path, std::string_view classes) {
  if (path.empty()) return;
  out_ += format("<path class=\"{}\" d=\"{}\"/>\n", classes, path.data());
}

void Drawing::text(double x, double y, Anchor anchor, std::string_view classes,
                   std::string_view words) {
  out_ += format("<text class=\"{}\" x=\"{}\" y=\"{}\"", classes, coordinate(x), coordinate(y));
  if (anchor != Anchor::start) out_ += format(" text-anchor=\"{}\"", enum_name(anchor));
  out_ += format(">{}</text>\n", markup_text(words));
}

void Drawing::marker(Marker marker, double x, double y, std::string_view classes,
                     std::string_view hint) {
  const std::string title = hint.empty() ? "" : format("<title>{}</title>", markup_text(hint));
  if (marker == Marker::circle) {
    out_ += format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{}</circle>\n", classes,
                   coordinate(x), coordinate(y), coordinate(kMarkerRadius), title);
    return;
  }
  out_ += format("<path class=\"{}\" d=\"{}\">{}</path>\n", classes,
                 marker_path(marker, x, y).data(), title);
}

void Drawing::cross(double x, double y, std::string_view classes, std::string_view hint) {
  const double r = kMarkerRadius;
  Path path;
  path.move_to(x - r, y - r).line_to(x + r, y + r).move_to(x - r, y + r).line_to(x + r, y - r);
  out_ += format("<path class=\"{}\" d=\"{}\"><title>{}</title></path>\n", classes, path.data(),
                 markup_text(hint));
}

void Drawing::hover_area(double x, double y, double width, double height, std::string_view hint) {
  out_ += format(
      "<rect class=\"hover\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}"
      "</title></rect>\n",
      coordinate(x), coordinate(y), coordinate(width), coordinate(height), markup_text(hint));
}

std::string Drawing::finish() {
  CHECK(open_groups_ == 0);
  out_ += "</svg>\n";
  return std::move(out_);
}

double text_width(std::string_view words, double font_size) {
  return static_cast<double>(display_width(words)) * font_size * 0.56;
}

}  // namespace assay::report::svg
