// ConfigFields: reads a model's config.json, whose families spell the same figure differently.
//
// A figure is looked up under each of its names, first in the language model's own map (text_config
// and the like, where there is one), then at the top. "a.b" is the member b of the map a. Keeps the
// first mistake, which names the field. A value belongs to one thread and must not outlive the
// Json.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::sim {

class ConfigFields {
 public:
  using Names = std::initializer_list<std::string_view>;

  // `where`: the file's name in errors.
  ConfigFields(const Json& config, std::string where);

  // The member; a null value when it is missing.
  const Json& value(std::string_view name) const;
  // A whole number; of a list its first. Nothing if all names are missing or null.
  std::optional<unsigned> count(Names names);
  // The same; a missing one is a mistake.
  unsigned need(Names names);
  bool flag(std::string_view name) const { return value(name).as_bool(); }
  std::string_view text(std::string_view name) const { return value(name).as_string(); }
  void fail(std::string_view field, const std::string& why);
  Result<void> done() const;

 private:
  const Json* top_;
  const Json* inner_;
  std::string where_;
  std::optional<std::string> failure_{};
};

}  // namespace assay::sim
