// JsonPath: the part of JSONPath that Croissant files use: $ . name  ['name'] [n] [*] .* ..name .
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::dataset {

class JsonPath {
 public:
  static Result<JsonPath> parse(std::string_view text);
  // Returns the values it names, in document order. They live as long as `json`.
  std::vector<const Json*> find(const Json& json) const;

 private:
  struct Step {
    enum class Kind : std::uint8_t { name, index, all, deep } kind = Kind::name;
    std::string name{};
    std::int64_t index = 0;
  };
  std::vector<Step> steps_{};
};

}  // namespace assay::dataset
