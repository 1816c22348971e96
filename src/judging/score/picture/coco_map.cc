#include "score/picture/coco_map.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/format.h"

namespace assay::score {
namespace {

constexpr std::size_t kThresholds = 10;
constexpr std::size_t kRecalls = 101;
constexpr std::size_t kDetectionsMax = 100;

struct Area {
  double low = 0;
  double high = 0;
};
constexpr std::array<Area, 4> kAreas = {
    {{0, 1e10}, {0, 32.0 * 32.0}, {32.0 * 32.0, 96.0 * 96.0}, {96.0 * 96.0, 1e10}}};
constexpr std::array<std::size_t, 3> kCaps = {1, 10, 100};

// Rounds as numpy's linspace does.
double threshold(std::size_t i) {
  constexpr double kStep = (0.95 - 0.5) / 9;
  return i == kThresholds - 1 ? 0.95 : static_cast<double>(i) * kStep + 0.5;
}
double recall_point(std::size_t i) {
  return i == kRecalls - 1 ? 1.0 : static_cast<double>(i) * (1.0 / 100);
}

double overlap(const Box& d, const CocoTruth& g) {
  const double w = std::min(d.x + d.width, g.box.x + g.box.width) - std::max(d.x, g.box.x);
  if (w <= 0) return 0;
  const double h = std::min(d.y + d.height, g.box.y + g.box.height) - std::max(d.y, g.box.y);
  if (h <= 0) return 0;
  const double inter = w * h;
  const double own = d.width * d.height;
  return inter / (g.crowd ? own : own + g.box.width * g.box.height - inter);
}

// A detection of one image and category after matching, for one area.
struct Matched {
  double score = 0;
  std::size_t rank = 0;       // among the image's detections, by score
  std::uint16_t hit = 0;      // bit t: matched at threshold t
  std::uint16_t ignored = 0;  // bit t: neither right nor wrong
};

struct Image {
  std::vector<const CocoTruth*> truths{};
  std::vector<const CocoDetection*> detections{};
};

class OneCategory {
 public:
  explicit OneCategory(const std::map<std::int64_t, Image>& images) : images_(images) {}

  void match(const Area& area) {
    matched_.clear();
    truths_ = 0;
    for (const auto& [id, image] : images_) match_image(image, area);
    order_.resize(matched_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return matched_[a].score > matched_[b].score;
    });
  }

  std::size_t truths() const { return truths_; }

  // Computes precision at each recall point, and the final recall, at threshold t and a cap.
  double curve(std::size_t t, std::size_t cap, std::array<double, kRecalls>* precisions) {
    recall_.clear();
    precision_.clear();
    double right = 0;
    double wrong = 0;
    for (const std::size_t i : order_) {
      const Matched& one = matched_[i];
      if (one.rank >= cap) continue;
      const bool ignored = (one.ignored >> t & 1) != 0;
      const bool hit = (one.hit >> t & 1) != 0;
      if (!ignored) (hit ? right : wrong) += 1;
      recall_.push_back(right / static_cast<double>(truths_));
      precision_.push_back(right / (right + wrong + std::numeric_limits<double>::epsilon()));
    }
    if (precisions != nullptr) {
      for (std::size_t i = precision_.size(); i-- > 1;) {
        precision_[i - 1] = std::max(precision_[i - 1], precision_[i]);
      }
      for (std::size_t r = 0; r < kRecalls; ++r) {
        const auto at = std::lower_bound(recall_.begin(), recall_.end(), recall_point(r));
        const auto place = static_cast<std::size_t>(at - recall_.begin());
        (*precisions)[r] = at == recall_.end() ? 0 : precision_[place];
      }
    }
    return recall_.empty() ? 0 : recall_.back();
  }

 private:
  void match_image(const Image& image, const Area& area) {
    const auto outside = [&area](double size) { return size < area.low || size > area.high; };
    // Truths that do not count come last.
    sorted_.assign(image.truths.begin(), image.truths.end());
    const auto counts = [&](const CocoTruth* g) { return !g->crowd && !outside(g->area); };
    const auto ignored_from = static_cast<std::size_t>(
        std::stable_partition(sorted_.begin(), sorted_.end(), counts) - sorted_.begin());
    truths_ += ignored_from;
    const std::size_t n = std::min(image.detections.size(), kDetectionsMax);
    overlaps_.resize(n * sorted_.size());
    for (std::size_t d = 0; d < n; ++d) {
      for (std::size_t g = 0; g < sorted_.size(); ++g) {
        overlaps_[d * sorted_.size() + g] = overlap(image.detections[d]->box, *sorted_[g]);
      }
    }
    const std::size_t first = matched_.size();
    for (std::size_t d = 0; d < n; ++d) matched_.push_back({image.detections[d]->score, d, 0, 0});
    for (std::size_t t = 0; t < kThresholds; ++t) {
      taken_.assign(sorted_.size(), false);
      for (std::size_t d = 0; d < n; ++d) {
        const std::size_t best = best_truth(d, t, ignored_from);
        Matched& one = matched_[first + d];
        const auto mask = static_cast<std::uint16_t>(1u << t);
        if (best < sorted_.size()) {
          taken_[best] = true;
          one.hit = static_cast<std::uint16_t>(one.hit | mask);
          if (best >= ignored_from) one.ignored = static_cast<std::uint16_t>(one.ignored | mask);
        } else {
          const Box& box = image.detections[d]->box;
          if (outside(box.width * box.height)) {
            one.ignored = static_cast<std::uint16_t>(one.ignored | mask);
          }
        }
      }
    }
  }

  std::size_t best_truth(std::size_t d, std::size_t t, std::size_t ignored_from) const {
    double best = std::min(threshold(t), 1 - 1e-10);
    std::size_t found = sorted_.size();
    for (std::size_t g = 0; g < sorted_.size(); ++g) {
      if (taken_[g] && !sorted_[g]->crowd) continue;
      if (found < ignored_from && g >= ignored_from) break;
      const double value = overlaps_[d * sorted_.size() + g];
      if (value < best) continue;
      best = value;
      found = g;
    }
    return found;
  }

  const std::map<std::int64_t, Image>& images_;
  std::vector<Matched> matched_{};
  std::vector<std::size_t> order_{};
  std::size_t truths_ = 0;
  std::vector<const CocoTruth*> sorted_{};
  std::vector<double> overlaps_{};
  std::vector<bool> taken_{};
  std::vector<double> recall_{};
  std::vector<double> precision_{};
};

struct Mean {
  double sum = 0;
  std::size_t n = 0;
  void add(double value) {
    sum += value;
    ++n;
  }
  double value() const { return n == 0 ? -1 : sum / static_cast<double>(n); }
};

// A class is a category's id, and the annotations' ids have gaps. An index of YOLO's 80 may be
// another category's id, and is refused if it is no category's.
Result<std::int32_t> category_in(const CocoAnnotations& annotations, float id) {
  const bool small = id > -1e9f && id < 1e9f;
  const std::int32_t whole = small ? static_cast<std::int32_t>(id) : -1;
  if (small && static_cast<float>(whole) == id && annotations.categories.contains(whole)) {
    return whole;
  }
  return invalid(
      format("class {} is not a category of the annotations\n"
             "  a class is a category_id as the annotations have it (COCO's go from 1 to 90, with "
             "gaps), not an index from 0 to 79",
             id));
}

}  // namespace

CocoScores coco_scores(std::span<const CocoTruth> truths,
                       std::span<const CocoDetection> detections) {
  std::map<std::int32_t, std::map<std::int64_t, Image>> categories;
  for (const CocoTruth& one : truths) categories[one.category][one.image].truths.push_back(&one);
  for (const CocoDetection& one : detections) {
    const auto at = categories.find(one.category);
    // A category without truths has no precision for the average.
    if (at != categories.end()) at->second[one.image].detections.push_back(&one);
  }
  Mean ap;
  Mean ap50;
  Mean ap75;
  std::array<Mean, 3> ap_area{};
  std::array<Mean, 3> ar_cap{};
  std::array<Mean, 3> ar_area{};
  std::array<double, kRecalls> precisions{};
  for (auto& [id, images] : categories) {
    for (auto& [image_id, image] : images) {
      std::stable_sort(image.detections.begin(), image.detections.end(),
                       [](const auto* a, const auto* b) { return a->score > b->score; });
    }
    OneCategory category(images);
    for (std::size_t a = 0; a < kAreas.size(); ++a) {
      category.match(kAreas[a]);
      if (category.truths() == 0) continue;
      for (std::size_t t = 0; t < kThresholds; ++t) {
        const double recall = category.curve(t, kDetectionsMax, &precisions);
        for (const double p : precisions) {
          (a == 0 ? ap : ap_area[a - 1]).add(p);
          if (a == 0 && t == 0) ap50.add(p);
          if (a == 0 && t == 5) ap75.add(p);
        }
        if (a > 0) ar_area[a - 1].add(recall);
        if (a > 0) continue;
        for (std::size_t c = 0; c < kCaps.size(); ++c) {
          ar_cap[c].add(kCaps[c] == kDetectionsMax ? recall : category.curve(t, kCaps[c], nullptr));
        }
      }
    }
  }
  CocoScores scores;
  scores.ap = ap.value();
  scores.ap50 = ap50.value();
  scores.ap75 = ap75.value();
  for (std::size_t i = 0; i < 3; ++i) {
    scores.ap_by_area[i] = ap_area[i].value();
    scores.ar_by_detections[i] = ar_cap[i].value();
    scores.ar_by_area[i] = ar_area[i].value();
  }
  return scores;
}

Result<void> append_coco_payload(std::span<const float> payload, std::int64_t image,
                                 const CocoAnnotations& annotations,
                                 std::vector<CocoDetection>& out) {
  if (payload.size() % 7 != 0) {
    return invalid(format("image {}: {} floats are not a whole number of detections of 7", image,
                          payload.size()));
  }
  const auto size = annotations.sizes.find(image);
  if (size == annotations.sizes.end()) {
    return invalid(format("image {} is not in the annotations", image));
  }
  const auto width = static_cast<float>(size->second.first);
  const auto height = static_cast<float>(size->second.second);
  for (std::size_t i = 0; i < payload.size(); i += 7) {
    const auto category = category_in(annotations, payload[i + 6]);
    if (!category) return category.error().within(format("image {}", image));
    // Use single precision, like the suite's scorer.
    const float top = payload[i + 1] * height;
    const float left = payload[i + 2] * width;
    const float bottom = payload[i + 3] * height;
    const float right = payload[i + 4] * width;
    CocoDetection one;
    one.image = image;
    one.category = *category;
    one.box = {left, top, right - left, bottom - top};
    one.score = static_cast<double>(payload[i + 5]);
    out.push_back(one);
  }
  return {};
}

}  // namespace assay::score
