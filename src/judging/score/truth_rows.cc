#include "score/truth_rows.h"

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "dataset/dataset.h"

namespace assay::score {
namespace {

Result<std::vector<Json>> parquet_rows(const std::filesystem::path& path) {
  dataset::Spec spec;
  spec.path = path.string();
  ASSIGN_OR_RETURN(const auto source, dataset::open_rows(spec));
  std::vector<Json> out;
  for (;;) {
    ASSIGN_OR_RETURN(auto row, source->next());
    if (!row) return out;
    out.push_back(*std::move(row));
  }
}

Result<Json> mapped_line(std::string_view line) {
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos) return invalid("must be FILE LABEL");
  ASSIGN_OR_RETURN(const std::int64_t label, parse_int(trim(line.substr(space))));
  return Json().set("file", trim(line.substr(0, space))).set("label", label);
}

}  // namespace

Result<std::vector<Json>> read_truth_rows(const std::filesystem::path& path) {
  if (path.extension() == ".parquet") return parquet_rows(path);
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  std::vector<Json> out;
  if (trim(bytes).starts_with('[')) {
    auto list = Json::parse(bytes);
    if (!list) return list.error().within(path.string());
    for (const Json& row : list->items()) out.push_back(row);
    return out;
  }
  if (auto whole = Json::parse(bytes); whole && whole->is_object()) {
    out.push_back(*std::move(whole));
    return out;
  }
  const bool map = path.extension() == ".txt";
  std::size_t number = 0;
  for (const std::string_view line : split(bytes, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const auto place = [&] { return format("{}:{}", path.string(), number); };
    auto row = map ? mapped_line(trim(line)) : Json::parse(line);
    if (!row) return row.error().within(place());
    if (!row->is_object()) return invalid(place() + ": must be an object");
    out.push_back(*std::move(row));
  }
  return out;
}

}  // namespace assay::score
