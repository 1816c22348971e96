#include "score/picture/boxes_3d.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::score {
namespace {

constexpr std::array<float, kBoxClasses.size()> kOverlapMin = {0.5F, 0.5F, 0.7F};
constexpr std::size_t kRecallPoints = 41;

struct BoxPoint {
  double x = 0;
  double y = 0;
};
using Polygon = std::vector<BoxPoint>;

// The box from above, turned clockwise.
Polygon seen_from_above(const Box3d& box) {
  const float half_x = box.dimensions[0] / 2;
  const float half_z = box.dimensions[2] / 2;
  const double left = box.location[0] - half_x;
  const double right = box.location[0] + half_x;
  const double low = box.location[2] - half_z;
  const double high = box.location[2] + half_z;
  const BoxPoint middle{(left + right) / 2, (low + high) / 2};
  const double angle = -double{box.rotation_y};
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  Polygon out;
  for (const auto& [x, y] : {BoxPoint{left, low}, {right, low}, {right, high}, {left, high}}) {
    const double dx = x - middle.x;
    const double dy = y - middle.y;
    out.push_back({middle.x + cosine * dx - sine * dy, middle.y + sine * dx + cosine * dy});
  }
  return out;
}

double signed_area(const Polygon& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const BoxPoint& a = polygon[i];
    const BoxPoint& b = polygon[(i + 1) % polygon.size()];
    // About the first corner: coordinates are far greater than boxes.
    const BoxPoint& o = polygon.front();
    twice += (a.x - o.x) * (b.y - o.y) - (b.x - o.x) * (a.y - o.y);
  }
  return twice / 2;
}

// What of `polygon` lies to the left of the line from a to b (Sutherland and Hodgman 1974).
Polygon left_of(const Polygon& polygon, BoxPoint a, BoxPoint b) {
  const auto side = [a, b](const BoxPoint& p) {
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
  };
  Polygon out;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const BoxPoint& from = polygon[i];
    const BoxPoint& to = polygon[(i + 1) % polygon.size()];
    const double begin = side(from);
    const double end = side(to);
    if (begin >= 0) out.push_back(from);
    if ((begin > 0 && end < 0) || (begin < 0 && end > 0)) {
      const double part = begin / (begin - end);
      out.push_back({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
    }
  }
  return out;
}

double common_area(Polygon a, Polygon b) {
  // A negative length turns a polygon's corners round.
  if (signed_area(a) < 0) std::ranges::reverse(a);
  if (signed_area(b) < 0) std::ranges::reverse(b);
  if (signed_area(b) == 0) return 0;
  for (std::size_t i = 0; i < b.size() && !a.empty(); ++i) {
    a = left_of(a, b[i], b[(i + 1) % b.size()]);
  }
  return a.empty() ? 0 : std::abs(signed_area(a));
}

enum class TruthPart : std::uint8_t { counts, ignored, other };

TruthPart truth_part(const TrueBox& truth, std::size_t box_class) {
  if (truth.box_class != box_class) return TruthPart::other;
  return truth.is_near_class || truth.is_hard ? TruthPart::ignored : TruthPart::counts;
}

TruthPart truth_part(const FoundBox& found, std::size_t box_class) {
  if (found.is_upside_down) return TruthPart::ignored;
  return found.box_class == box_class ? TruthPart::counts : TruthPart::other;
}

// The scores of true positives where each truth takes the surest detection that meets it.
void append_scores(const BoxFrame& frame, std::size_t box_class, std::vector<double>& scores) {
  std::vector<bool> taken(frame.found().size());
  for (std::size_t t = 0; t < frame.truths().size(); ++t) {
    const TruthPart truth = truth_part(frame.truths()[t], box_class);
    if (truth == TruthPart::other) continue;
    const FoundBox* best = nullptr;
    double most = -1;
    for (const auto& [k, overlap] : frame.meetings()[t]) {
      const FoundBox& one = frame.found()[k];
      if (taken[k] || truth_part(one, box_class) == TruthPart::other) continue;
      if (!(overlap > kOverlapMin[box_class]) || !(one.score > most)) continue;
      best = &one;
      most = one.score;
    }
    if (best == nullptr) continue;
    taken[static_cast<std::size_t>(best - frame.found().data())] = true;
    if (truth == TruthPart::counts && truth_part(*best, box_class) == TruthPart::counts)
      scores.push_back(most);
  }
}

struct Counted {
  double right = 0;
  double missed = 0;
  double wrong = 0;
};

// At one threshold each truth takes the detection that overlaps it most.
void count_frame(const BoxFrame& frame, std::size_t box_class, double threshold, Counted& out) {
  std::vector<bool> taken(frame.found().size());
  for (std::size_t t = 0; t < frame.truths().size(); ++t) {
    const TruthPart truth = truth_part(frame.truths()[t], box_class);
    if (truth == TruthPart::other) continue;
    std::size_t best = frame.found().size();
    float most = -1;
    for (const auto& [k, overlap] : frame.meetings()[t]) {
      const TruthPart part = truth_part(frame.found()[k], box_class);
      if (taken[k] || part == TruthPart::other || frame.found()[k].score < threshold) continue;
      if (!(overlap > kOverlapMin[box_class])) continue;
      if (part == TruthPart::counts && overlap > most) {
        most = overlap;
        best = k;
      } else if (part == TruthPart::ignored && most == -1) {
        best = k;
      }
    }
    if (best == frame.found().size()) {
      out.missed += truth == TruthPart::counts ? 1 : 0;
      continue;
    }
    taken[best] = true;
    const bool counts = truth_part(frame.found()[best], box_class) == TruthPart::counts;
    out.right += counts && truth == TruthPart::counts ? 1 : 0;
  }
  for (std::size_t k = 0; k < frame.found().size(); ++k) {
    const FoundBox& one = frame.found()[k];
    const bool counts = truth_part(one, box_class) == TruthPart::counts;
    out.wrong += counts && one.score >= threshold && !taken[k] ? 1 : 0;
  }
}

// Scores at about every fortieth of the recall.
std::vector<double> thresholds_of(std::vector<double> scores, double truths) {
  std::ranges::sort(scores, std::greater<>());
  std::vector<double> out;
  double recall = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double left = static_cast<double>(i + 1) / truths;
    const double right = static_cast<double>(i + 2) / truths;
    const bool last = i + 1 == scores.size();
    if (!last && (left + right) / 2 < recall) continue;
    out.push_back(scores[i]);
    recall = static_cast<double>(out.size()) / static_cast<double>(kRecallPoints - 1);
  }
  return out;
}

double class_precision(std::span<const BoxFrame* const> frames, std::size_t box_class) {
  std::vector<double> scores;
  double truths = 0;
  for (const BoxFrame* const frame : frames) {
    append_scores(*frame, box_class, scores);
    for (const TrueBox& one : frame->truths()) {
      truths += truth_part(one, box_class) == TruthPart::counts ? 1 : 0;
    }
  }
  std::vector<double> precisions;
  for (const double threshold : thresholds_of(std::move(scores), truths)) {
    Counted counted;
    for (const BoxFrame* const frame : frames) count_frame(*frame, box_class, threshold, counted);
    precisions.push_back(counted.right / (counted.right + counted.wrong));
  }
  double sum = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = precisions.size(); i-- > 0;) {
    // As numpy's maximum, which keeps what is no number.
    best = std::isnan(best) || std::isnan(precisions[i]) ? std::nan("")
                                                         : std::max(best, precisions[i]);
    if (i % 4 == 0) sum += best;
  }
  return sum / 11 * 100;
}

}  // namespace

float box_overlap(const Box3d& a, const Box3d& b) {
  const float bottom = std::max(a.location[1] - a.dimensions[1], b.location[1] - b.dimensions[1]);
  const float top = std::min(a.location[1], b.location[1]);
  const float height = std::max(top - bottom, 0.0F);
  const auto area = static_cast<float>(common_area(seen_from_above(a), seen_from_above(b)));
  const float common = height * area;
  const auto volume = [](const Box3d& box) {
    return box.dimensions[0] * box.dimensions[1] * box.dimensions[2];
  };
  return common / (volume(a) + volume(b) - common + 1e-8F);
}

BoxFrame::BoxFrame(std::vector<TrueBox> truths, std::vector<FoundBox> found)
    : truths_(std::move(truths)), found_(std::move(found)) {
  constexpr float kLeast = 0.5F;
  for (const TrueBox& truth : truths_) {
    std::vector<Meeting> meetings;
    for (std::size_t k = 0; k < found_.size(); ++k) {
      const float overlap = box_overlap(truth.box, found_[k].box);
      if (overlap > kLeast) meetings.push_back({k, overlap});
    }
    meetings_.push_back(std::move(meetings));
  }
}

std::array<double, kBoxClasses.size()> box_precisions(std::span<const BoxFrame* const> frames) {
  std::array<double, kBoxClasses.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = class_precision(frames, i);
  return out;
}

}  // namespace assay::score
