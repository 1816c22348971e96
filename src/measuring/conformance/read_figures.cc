#include "conformance/read_figures.h"

#include <string>

#include "base/files.h"
#include "base/format.h"

namespace assay::conformance {

Result<Json> read_json(const std::filesystem::path& file) {
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  auto json = Json::parse(text);
  if (!json) return json.error().within(file.string());
  return json;
}

Result<double> number_at(const Json& json, const std::filesystem::path& file,
                         std::initializer_list<std::string_view> path) {
  const Json* at = &json;
  std::string name;
  for (const std::string_view member : path) {
    name += (name.empty() ? "" : ".") + std::string(member);
    at = &(*at)[member];
  }
  if (!at->is_number()) return invalid(format("{}: {}: must be a number", file.string(), name));
  return at->as_double();
}

}  // namespace assay::conformance
