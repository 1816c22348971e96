// Drawing: an SVG picture as text, built one mark at a time.
//
// Marks carry class names and no colours: the page's stylesheet (style.h) colours them for light,
// dark and paper, and a chart is the same text in all three. Coordinates are pixels of the view
// box, y downwards, printed with at most one decimal, so that a golden file is stable and small.
// All text from outside is escaped here. Pure; one thread a drawing.
#pragma once

#include <string>
#include <string_view>

namespace assay::report::svg {

// A coordinate: at most one decimal, no trailing zero, no "-0".
std::string coordinate(double value);

// The d attribute of a path.
class Path {
 public:
  Path& move_to(double x, double y);
  Path& line_to(double x, double y);
  Path& close();
  // A closed rectangle. Many in one path take far less text than one element each.
  Path& add_rect(double x, double y, double width, double height);
  bool empty() const { return data_.empty(); }
  const std::string& data() const { return data_; }

 private:
  std::string data_{};
};

enum class Anchor { start, middle, end };
// Shape repeats the meaning of colour.
enum class Marker { circle, square, triangle, diamond, down_triangle };

class Drawing {
 public:
  // `label`: what a screen reader says instead of the picture.
  Drawing(double width, double height, std::string_view label);

  void open_group(std::string_view classes);
  void close_group();
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void rect(double x, double y, double width, double height, std::string_view classes);
  void path(const Path& path, std::string_view classes);
  void text(double x, double y, Anchor anchor, std::string_view classes, std::string_view words);
  // `hint` appears when the pointer is over the mark; may be "".
  void marker(Marker marker, double x, double y, std::string_view classes, std::string_view hint);
  void cross(double x, double y, std::string_view classes, std::string_view hint);
  // An invisible rectangle that shows `hint` under the pointer.
  void hover_area(double x, double y, double width, double height, std::string_view hint);

  // The whole <svg> element. The drawing is empty afterwards.
  std::string finish();

 private:
  std::string out_{};
  int open_groups_ = 0;
};

// The approximate width of `words` at a font size, in pixels: enough to keep labels apart.
double text_width(std::string_view words, double font_size);

}  // namespace assay::report::svg
