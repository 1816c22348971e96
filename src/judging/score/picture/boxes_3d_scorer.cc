// waymo_map: PointPainting's mean average precision of boxes in space. A reply has fourteen float32
// for each detection: dimensions, location, rotation_y, the box in the picture, class, score, and
// the frame's image_idx; a first dimension that is not above 0 is no detection. The truth is the
// frame's entry of the suite's waymo_infos_val.pkl as JSON: the columns image (image_idx) and annos
// (name, location, dimensions, rotation_y, difficulty).
//
// waymo_map is the mean of the three classes as a share, as the checker's target is one; the
// classes' own figures are × 100, as the suite's program prints all of them.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "base/format.h"
#include "score/payload.h"
#include "score/picture/boxes_3d.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

constexpr std::size_t kFloats = 14;
constexpr float kImagesEnd = 1e9F;
using Precisions = std::array<double, kBoxClasses.size()>;

Result<std::array<float, 3>> three(const Json& list, std::string_view name) {
  if (list.size() != 3) return invalid(format("{}: expected three numbers for each box", name));
  return std::array<float, 3>{static_cast<float>(list[0].as_double()),
                              static_cast<float>(list[1].as_double()),
                              static_cast<float>(list[2].as_double())};
}

std::size_t class_of(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kBoxClasses, name) - kBoxClasses.begin());
}

Result<std::vector<TrueBox>> truths_of(const Json& annos) {
  const std::size_t boxes = annos["name"].size();
  for (const char* key : {"name", "location", "dimensions", "rotation_y", "difficulty"}) {
    if (!annos[key].is_array() || annos[key].size() != boxes) {
      return invalid(format("{}: expected a list with an entry for each box", key));
    }
  }
  std::vector<TrueBox> out;
  for (std::size_t i = 0; i < boxes; ++i) {
    const std::string_view name = annos["name"][i].as_string();
    TrueBox one{.box_class = class_of(name), .is_hard = annos["difficulty"][i].as_int(-1) != 0};
    if (name == "Person_sitting" || name == "Van") {
      one.box_class = class_of(name == "Van" ? "Car" : "Pedestrian");
      one.is_near_class = true;
    }
    ASSIGN_OR_RETURN(one.box.location, three(annos["location"][i], "location"));
    ASSIGN_OR_RETURN(one.box.dimensions, three(annos["dimensions"][i], "dimensions"));
    one.box.rotation_y = static_cast<float>(annos["rotation_y"][i].as_double());
    out.push_back(one);
  }
  return out;
}

class Boxes3d final : public Scorer {
 public:
  explicit Boxes3d(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "annos";
  }

  Result<void> add(const Row& row) override {
    const Json* const annos = row.columns->find(options_.ground_truth);
    const Json& image = (*row.columns)["image"]["image_idx"];
    if (annos == nullptr || !image.is_integer()) {
      return invalid(
          format("a frame needs the columns image (with image_idx) and {}", options_.ground_truth));
    }
    auto truths = truths_of(*annos);
    if (!truths) return truths.error().within(options_.ground_truth);
    truths_[image.as_int()] = *std::move(truths);
    if (!row.answered) {
      ++missing_;
      found_[image.as_int()];
      return {};
    }
    ASSIGN_OR_RETURN(const std::vector<float> floats, read_floats(row.content));
    if (floats.empty() || floats.size() % kFloats != 0) {
      return invalid(
          format("{} floats are not detections of {} each, and a frame without any has "
                 "one of -1 that names it",
                 floats.size(), kFloats));
    }
    for (std::size_t i = 0; i < floats.size(); i += kFloats) {
      TRY(take(std::span(floats).subspan(i, kFloats)));
    }
    return {};
  }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (truths_.empty()) return verdict;
    std::vector<BoxFrame> frames;
    for (auto& [image, truths] : truths_) {
      const auto found = found_.find(image);
      if (found == found_.end()) {
        return invalid(
            format("no reply names frame {} (image_idx, the fourteenth number); the "
                   "suite's program stops here, too",
                   image));
      }
      frames.emplace_back(std::move(truths), std::move(found->second));
    }
    const Precisions all = precisions(frames, std::nullopt);
    const auto total = [](const Precisions& of) { return (of[0] + of[1] + of[2]) / 3; };
    verdict.score.set("waymo_map", total(all) / 100);
    for (std::size_t i = 0; i < all.size(); ++i) verdict.score.set(kBoxClasses[i], all[i]);
    std::vector<double> values;
    const std::size_t groups = std::min(kGroups, frames.size());
    for (std::size_t g = 0; g < groups && groups > 1; ++g) {
      values.push_back(total(precisions(frames, g)) / 100);
    }
    if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) values.clear();
    verdict.figures.push_back(
        {"waymo_map", jackknifed(total(all) / 100, frames.size(), values, 1), std::nullopt});
    if (missing_ > 0) verdict.note = format("{} frames have no reply: all is missed", missing_);
    return verdict;
  }

 private:
  static constexpr std::size_t kGroups = 10;  // of the jackknife

  // Without every tenth frame from `group` on; none: of all.
  static Precisions precisions(const std::vector<BoxFrame>& frames,
                               std::optional<std::size_t> group) {
    std::vector<const BoxFrame*> some;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (i % kGroups != group) some.push_back(&frames[i]);
    }
    return box_precisions(some);
  }

  Result<void> take(std::span<const float> said) {
    if (!(std::abs(said[13]) < kImagesEnd)) return invalid("image_idx: is not a frame's number");
    auto& found = found_[static_cast<std::int64_t>(said[13])];
    if (!(said[0] > 0)) return {};
    const float label = std::trunc(said[11]);
    if (!(label >= 0 && label < static_cast<float>(kBoxClasses.size()))) {
      return invalid(format("class {}: expected 0 (pedestrian), 1 (cyclist) or 2 (car)", said[11]));
    }
    found.push_back({.box = {.location = {said[3], said[4], said[5]},
                             .dimensions = {said[0], said[1], said[2]},
                             .rotation_y = said[6]},
                     .box_class = static_cast<std::size_t>(label),
                     .score = said[12],
                     .is_upside_down = double{said[10]} - double{said[8]} < -1});
    return {};
  }

  ScorerOptions options_;
  std::map<std::int64_t, std::vector<TrueBox>> truths_{};  // by image_idx
  std::map<std::int64_t, std::vector<FoundBox>> found_{};  // likewise
  std::size_t missing_ = 0;
};

}  // namespace

Made make_boxes_3d(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Boxes3d>(options);
}

}  // namespace assay::score
