// ConfigFields: reads a model's config.json, whose families spell the same figure differently.
//
// A figure is looked up under each of its names, first in the language model's own map (text_config
// and the like, where there is one), then at the top, then among the defaults of its family
// (catalogue/families.yaml): a config.json leaves out what equals them. null is no silence: it says
// that there is none. "a.b" is the member b of the map a. Keeps the first mistake, which names the
// field. A value belongs to one thread and must not outlive the Json.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  // The figures that the family's defaults gave, in the order of their use: "vocab_size 262208".
  const std::vector<std::string>& assumed() const { return assumed_; }

 private:
  const Json& said(std::string_view name) const;  // by the file
  bool says_null(std::string_view name) const;

  const Json* top_;
  const Json* inner_;
  const Json* family_;  // its defaults, or a null value
  std::vector<std::string> assumed_{};
  std::string where_;
  std::optional<std::string> failure_{};
};

}  // namespace assay::sim
