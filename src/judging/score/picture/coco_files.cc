#include "base/format.h"
#include "score/picture/coco_map.h"

namespace assay::score {
namespace {

Result<Box> box_of(const Json& one, std::size_t place, std::string_view list) {
  const Json& box = one["bbox"];
  bool good = box.size() == 4;
  for (std::size_t i = 0; i < 4; ++i) good = good && box[i].is_number();
  if (!good) return invalid(format("{}[{}].bbox: must be [x, y, width, height]", list, place));
  return Box{box[std::size_t{0}].as_double(), box[1].as_double(), box[2].as_double(),
             box[3].as_double()};
}

std::int32_t category_number(const Json& one) {
  return static_cast<std::int32_t>(one["category_id"].as_int());
}

}  // namespace

Result<CocoAnnotations> read_coco_annotations(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json file, read_json_file(path));
  if (!file["annotations"].is_array()) {
    return invalid(format("{}: no list 'annotations': not COCO's instances file", path.string()));
  }
  CocoAnnotations out;
  for (const Json& image : file["images"].items()) {
    out.sizes[image["id"].as_int()] = {image["width"].as_double(), image["height"].as_double()};
    out.images.push_back(image["id"].as_int());
  }
  for (const Json& category : file["categories"].items()) {
    out.categories.insert(static_cast<std::int32_t>(category["id"].as_int()));
  }
  const Json::Array& annotations = file["annotations"].items();
  out.truths.reserve(annotations.size());
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const Json& one = annotations[i];
    const auto box = box_of(one, i, "annotations");
    if (!box) return box.error().within(path.string());
    out.truths.push_back({one["image_id"].as_int(), category_number(one), *box,
                          one["area"].as_double(), one["iscrowd"].as_int() != 0});
    out.categories.insert(category_number(one));
  }
  return out;
}

Result<std::vector<CocoDetection>> read_coco_results(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json file, read_json_file(path));
  std::vector<CocoDetection> out;
  out.reserve(file.size());
  for (std::size_t i = 0; i < file.items().size(); ++i) {
    const Json& one = file[i];
    const auto box = box_of(one, i, "");
    if (!box) return box.error().within(path.string());
    out.push_back({one["image_id"].as_int(), category_number(one), *box, one["score"].as_double()});
  }
  return out;
}

Json coco_json(const CocoScores& scores) {
  Json stats = Json::array();
  stats.push_back(scores.ap).push_back(scores.ap50).push_back(scores.ap75);
  for (const double value : scores.ap_by_area) stats.push_back(value);
  for (const double value : scores.ar_by_detections) stats.push_back(value);
  for (const double value : scores.ar_by_area) stats.push_back(value);
  return Json::object().set("stats", std::move(stats));
}

}  // namespace assay::score
