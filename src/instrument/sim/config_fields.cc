#include "sim/config_fields.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "sim/catalogue.h"
#include "sim/yaml_file.h"

namespace assay::sim {
namespace {

Json read_families() {
  for (const EmbeddedFile& file : embedded_catalogue()) {
    if (!file.name.ends_with("families.yaml")) continue;
    const auto read = parse_yaml(file.text, file.name);
    CHECK(read.has_value());
    return (*read)["families"];
  }
  CHECK(false && "families.yaml is not built in");
  return {};
}

// The defaults of a model_type; null where it is not known.
const Json& family_of(std::string_view type) {
  static const Json kFamilies = read_families();
  const Json& found = kFamilies[type];
  return found.is_string() ? kFamilies[found.as_string()] : found;
}

// Null when a part of the path is missing.
const Json& at_path(const Json& map, std::string_view path) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return map[path];
  return at_path(map[path.substr(0, dot)], path.substr(dot + 1));
}

}  // namespace

ConfigFields::ConfigFields(const Json& config, std::string where)
    : top_(&config), inner_(&config), family_(&family_of("")), where_(std::move(where)) {
  for (const char* key :
       {"text_config", "llm_config", "language_config", "llm", "thinker_config.text_config"}) {
    const Json& found = at_path(config, key);
    if (found.is_object() && inner_ == top_) inner_ = &found;
  }
  family_ = &family_of(text("model_type"));
}

// Whether the file says that there is none.
bool ConfigFields::says_null(std::string_view name) const {
  const auto null_in = [name](const Json& map) {
    const auto dot = name.rfind('.');
    const Json& of = dot == std::string_view::npos ? map : at_path(map, name.substr(0, dot));
    const Json* const found =
        of.is_object() ? of.find(dot == std::string_view::npos ? name : name.substr(dot + 1))
                       : nullptr;
    return found != nullptr && found->is_null();
  };
  return null_in(*inner_) || null_in(*top_);
}

const Json& ConfigFields::said(std::string_view name) const {
  const Json& found = at_path(*inner_, name);
  return found.is_null() ? at_path(*top_, name) : found;
}

const Json& ConfigFields::value(std::string_view name) const {
  const Json& found = said(name);
  return found.is_null() && !says_null(name) ? (*family_)[name] : found;
}

std::optional<unsigned> ConfigFields::count(Names names) {
  for (const std::string_view name : names) {
    const Json* found = &said(name);
    if (found->is_array()) found = &(*found)[0];
    if (found->is_null() || found->is_object()) continue;
    const std::int64_t number = found->as_int(-1);
    if (!found->is_integer() || number < 0 || number > 1'000'000'000) {
      fail(name, "must be a whole number from 0 to 1,000,000,000");
      return {};
    }
    return static_cast<unsigned>(number);
  }
  if (std::ranges::any_of(names, [this](auto name) { return says_null(name); })) return {};
  for (const std::string_view name : names) {
    const Json& usual = (*family_)[name];
    if (!usual.is_integer()) continue;
    const std::string words = format("{} {}", name, usual.as_int());
    if (std::ranges::find(assumed_, words) == assumed_.end()) assumed_.push_back(words);
    return static_cast<unsigned>(usual.as_int());
  }
  return {};
}

unsigned ConfigFields::need(Names names) {
  const auto found = count(names);
  if (!found) fail(*names.begin(), "is missing");
  return found.value_or(0);
}

void ConfigFields::fail(std::string_view field, const std::string& why) {
  if (!failure_) failure_ = format("{}: '{}' {}", where_, field, why);
}

Result<void> ConfigFields::done() const {
  if (failure_) return invalid(*failure_);
  return {};
}

}  // namespace assay::sim
