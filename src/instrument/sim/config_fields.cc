#include "sim/config_fields.h"

#include "base/format.h"

namespace assay::sim {
namespace {

// Null when a part of the path is missing.
const Json& at_path(const Json& map, std::string_view path) {
  const auto dot = path.find('.');
  if (dot == std::string_view::npos) return map[path];
  return at_path(map[path.substr(0, dot)], path.substr(dot + 1));
}

}  // namespace

ConfigFields::ConfigFields(const Json& config, std::string where)
    : top_(&config), inner_(&config), where_(std::move(where)) {
  for (const char* key :
       {"text_config", "llm_config", "language_config", "llm", "thinker_config.text_config"}) {
    const Json& found = at_path(config, key);
    if (found.is_object() && inner_ == top_) inner_ = &found;
  }
}

const Json& ConfigFields::value(std::string_view name) const {
  const Json& found = at_path(*inner_, name);
  return found.is_null() ? at_path(*top_, name) : found;
}

std::optional<unsigned> ConfigFields::count(Names names) {
  for (const std::string_view name : names) {
    const Json* found = &value(name);
    if (found->is_array()) found = &(*found)[0];
    if (found->is_null() || found->is_object()) continue;
    const std::int64_t number = found->as_int(-1);
    if (!found->is_integer() || number < 0 || number > 1'000'000'000) {
      fail(name, "must be a whole number from 0 to 1,000,000,000");
      return {};
    }
    return static_cast<unsigned>(number);
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
