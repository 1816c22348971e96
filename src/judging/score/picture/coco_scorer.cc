// coco_map: the mean average precision of recorded detections. A reply is a list of floats, seven
// for each detection ([index, ymin, xmin, ymax, xmax, score, class], coordinates as shares of the
// image's size), as JSON or as base64 of little-endian float32; an empty one is an image without
// detections. Only images that were asked are judged, each by its first reply. Truths come from
// COCO's annotations. The column image_id names a row's image; without it, the sample's index is
// the image's place in the annotations, as LoadGen counts sample indices.
#include <set>

#include "base/files.h"
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
    return verdict;
  }

 private:
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
