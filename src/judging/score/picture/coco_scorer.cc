// coco_map: the mean average precision of recorded detections. A reply is a list of floats, seven
// for each detection ([index, ymin, xmin, ymax, xmax, score, class], coordinates as shares of the
// image's size), as JSON or as base64 of little-endian float32; an empty one is an image without
// detections. Only images that were asked are judged, each by its first reply. Truths come from
// COCO's annotations. The column image_id names a row's image; without it, the sample's index is
// the image's place in the annotations, as LoadGen counts sample indices.
#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "score/payload.h"
#include "score/picture/coco_map.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

class Coco final : public Scorer {
 public:
  Coco(CocoAnnotations annotations, const ScorerOptions& options)
      : annotations_(std::move(annotations)), options_(options) {
    by_place_ = options_.ground_truth.empty();
    if (by_place_) options_.ground_truth = "image_id";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::int64_t id, image_of(row));
    if (!annotations_.sizes.contains(id)) {
      return invalid(format("sample {}: image {} is not in the annotations", row.sample, id));
    }
    if (!asked_.insert(id).second || !row.answered) return {};
    auto floats = read_floats(row.content);
    if (!floats) return floats.error().within(format("sample {}", row.sample));
    if (floats->size() < 7) return {};
    const auto added = append_coco_payload(*floats, id, annotations_, detections_);
    return added ? added : added.error().within(format("sample {}", row.sample));
  }

  Result<Verdict> finish() override {
    std::erase_if(annotations_.truths,
                  [this](const CocoTruth& one) { return !asked_.contains(one.image); });
    const CocoScores scores = coco_scores(annotations_.truths, detections_);
    Verdict verdict;
    verdict.score.set("mAP", 100 * scores.ap)
        .set("AP50", 100 * scores.ap50)
        .set("AP75", 100 * scores.ap75);
    verdict.breakdown = coco_json(scores);
    verdict.figures = figures(scores);
    return verdict;
  }

 private:
  static constexpr std::size_t kGroups = 10;  // of the jackknife: each is a judgement of all others

  std::vector<ScoreFigure> figures(const CocoScores& scores) const {
    std::map<std::int64_t, std::size_t> group_of;
    for (const std::int64_t image : asked_) group_of.emplace(image, group_of.size() % kGroups);
    std::vector<CocoScores> without;
    for (std::size_t g = 0; g < std::min(kGroups, asked_.size()) && asked_.size() > 1; ++g) {
      const auto in_group = [&](const auto& one) { return group_of.at(one.image) == g; };
      std::vector<CocoTruth> truths = annotations_.truths;
      std::vector<CocoDetection> detections = detections_;
      std::erase_if(truths, in_group);
      std::erase_if(detections, in_group);
      without.push_back(coco_scores(truths, detections));
    }
    std::vector<ScoreFigure> out;
    const auto add = [&](const char* name, double CocoScores::*figure) {
      std::vector<double> values;
      for (const CocoScores& one : without) {
        if (one.*figure >= 0) values.push_back(100 * one.*figure);
      }
      // A group without which there is nothing to judge leaves no interval.
      if (values.size() < without.size()) values.clear();
      out.push_back({name, jackknifed(100 * scores.*figure, asked_.size(), values, 100)});
    };
    add("mAP", &CocoScores::ap);
    add("AP50", &CocoScores::ap50);
    add("AP75", &CocoScores::ap75);
    return out;
  }

  Result<std::int64_t> image_of(const Row& row) const {
    if (by_place_ && row.columns->find("image_id") == nullptr) {
      if (row.sample < annotations_.images.size()) return annotations_.images[row.sample];
      return invalid(
          format("sample {}: the annotations have {} images, and the row has no image_id",
                 row.sample, annotations_.images.size()));
    }
    ASSIGN_OR_RETURN(const std::string text, column_text(row, options_.ground_truth));
    const auto id = parse_int(text);
    if (!id) {
      return id.error().within(format("sample {}: column '{}'", row.sample, options_.ground_truth));
    }
    return *id;
  }

  CocoAnnotations annotations_;
  bool by_place_ = false;  // without the column, a row's place names its image
  ScorerOptions options_;
  std::set<std::int64_t> asked_{};
  std::vector<CocoDetection> detections_{};
};

}  // namespace

Made make_coco(std::string_view, const ScorerOptions& options) {
  const std::string file(options.extra["annotations"].as_string());
  if (file.empty()) {
    return invalid(
        "coco_map needs COCO's annotations\n  --annotations FILE, or extras.annotations");
  }
  ASSIGN_OR_RETURN(CocoAnnotations annotations, read_coco_annotations(file));
  return std::make_unique<Coco>(std::move(annotations), options);
}

}  // namespace assay::score
