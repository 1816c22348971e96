// Boxes in space, judged as PointPainting's program judges them on Waymo's frames: the intersection
// over the union of upright boxes that are turned about the vertical, in the camera's coordinates
// and in single precision; for each class the mean of eleven of up to 41 points of the curve of
// precision over recall. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace assay::score {

struct Box3d {
  std::array<float, 3> location{};    // x; the bottom's y, which points down; z
  std::array<float, 3> dimensions{};  // along x, y and z before the turn
  float rotation_y = 0;
};

float box_overlap(const Box3d& a, const Box3d& b);

inline constexpr std::array<std::string_view, 3> kBoxClasses = {"Pedestrian", "Cyclist", "Car"};

struct TrueBox {
  Box3d box{};
  std::size_t box_class = kBoxClasses.size();  // that many: another class, which counts nowhere
  bool is_near_class = false;                  // a van for a car, a sitting person for a walking
  bool is_hard = false;                        // its difficulty is not 0
};

struct FoundBox {
  Box3d box{};
  std::size_t box_class = 0;
  double score = 0;
  bool is_upside_down = false;  // its picture box has a height below -1
};

// A frame's truths and detections, and which of them meet.
class BoxFrame {
 public:
  BoxFrame(std::vector<TrueBox> truths, std::vector<FoundBox> found);

  struct Meeting {
    std::size_t found = 0;
    float overlap = 0;
  };
  const std::vector<TrueBox>& truths() const { return truths_; }
  const std::vector<FoundBox>& found() const { return found_; }
  // For each truth, in the order of detections: those whose overlap is above 0.5.
  const std::vector<std::vector<Meeting>>& meetings() const { return meetings_; }

 private:
  std::vector<TrueBox> truths_;
  std::vector<FoundBox> found_;
  std::vector<std::vector<Meeting>> meetings_{};
};

// The mean precision of each class, × 100. NaN where the program's is.
std::array<double, kBoxClasses.size()> box_precisions(std::span<const BoxFrame* const> frames);

}  // namespace assay::score
