#include "dataset/croissant_json.h"

#include <algorithm>

namespace assay::dataset::croissant {

std::string_view bare(std::string_view key) {
  if (key.starts_with('@')) return key;
  const std::size_t at = key.find_last_of(":/#");
  return at == std::string_view::npos ? key : key.substr(at + 1);
}

const Json& get(const Json& object, std::string_view name) {
  static const Json kNone;
  for (const auto& [key, value] : object.members()) {
    if (bare(key) == name) return value;
  }
  return kNone;
}

std::vector<const Json*> list_of(const Json& value) {
  std::vector<const Json*> out;
  if (value.is_array()) {
    for (const Json& item : value.items()) out.push_back(&item);
  } else if (!value.is_null()) {
    out.push_back(&value);
  }
  return out;
}

std::string text_of(const Json& value) {
  if (value.is_object()) {
    const Json& id = value["@id"];
    return text_of(id.is_null() ? value["@value"] : id);
  }
  return std::string(value.as_string());
}

std::vector<std::string> texts_of(const Json& value) {
  std::vector<std::string> out;
  for (const Json* item : list_of(value)) out.push_back(text_of(*item));
  return out;
}

std::vector<std::string> containers_of(const Json& resource) {
  std::vector<std::string> out;
  for (const Json* one : list_of(get(resource, "containedIn"))) {
    const bool is_source = one->is_object() && one->find("@id") == nullptr;
    std::string id = is_source ? text_of(get(*one, "fileObject")) : text_of(*one);
    if (is_source && id.empty()) id = text_of(get(*one, "fileSet"));
    if (is_source || !id.empty()) out.push_back(std::move(id));
  }
  return out;
}

std::string id_of(const Json& object) {
  const std::string id = text_of(object["@id"]);
  return id.empty() ? text_of(get(object, "name")) : id;
}

bool is_type(const Json& object, std::string_view type) {
  const std::vector<std::string> types = texts_of(get(object, "@type"));
  return std::any_of(types.begin(), types.end(),
                     [&](const std::string& text) { return bare(text) == type; });
}

}  // namespace assay::dataset::croissant
