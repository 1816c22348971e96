// COCO's mean average precision for boxes, as pycocotools computes it: IoU thresholds 0.50 to 0.95,
// 101 recall points, areas all, small, medium and large, at most 1, 10 and 100 detections an image.
// Equal scores keep the order of the detections, with images in order of their ids. Pure; any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::score {

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

struct CocoTruth {
  std::int64_t image = 0;
  std::int32_t category = 0;
  Box box{};
  double area = 0;  // the annotation's, not the box's
  bool crowd = false;
};

struct CocoDetection {
  std::int64_t image = 0;
  std::int32_t category = 0;
  Box box{};
  double score = 0;
};

// −1 if there is nothing to average.
struct CocoScores {
  double ap = -1;  // the headline: IoU 0.50:0.95
  double ap50 = -1;
  double ap75 = -1;
  std::array<double, 3> ap_by_area{-1, -1, -1};        // small, medium, large
  std::array<double, 3> ar_by_detections{-1, -1, -1};  // at most 1, 10, 100
  std::array<double, 3> ar_by_area{-1, -1, -1};
};

CocoScores coco_scores(std::span<const CocoTruth> truths,
                       std::span<const CocoDetection> detections);

// COCO's instances file.
struct CocoAnnotations {
  std::vector<CocoTruth> truths{};
  std::map<std::int64_t, std::pair<double, double>> sizes{};  // by image: width, height
  std::vector<std::int64_t> images{};                         // in the file's order
  std::set<std::int32_t> categories{};
};

// Reads the suite's payload: seven floats for each detection, [index, ymin, xmin, ymax, xmax,
// score, class], coordinates as shares of the image's size, class a category_id. Appends; fails if
// the number of floats is not a multiple of 7, or the annotations lack an image or a class.
Result<void> append_coco_payload(std::span<const float> payload, std::int64_t image,
                                 const CocoAnnotations& annotations,
                                 std::vector<CocoDetection>& out);
Result<CocoAnnotations> read_coco_annotations(const std::filesystem::path& path);
// Reads COCO's list of results: [{image_id, category_id, bbox, score}].
Result<std::vector<CocoDetection>> read_coco_results(const std::filesystem::path& path);
// "stats": the twelve figures in COCO's order.
Json coco_json(const CocoScores& scores);

}  // namespace assay::score
