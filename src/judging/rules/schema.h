// Schema: the fields of a document with their kinds and bounds; one table for each file. A
// violation is an Issue with the value's pointer, for the rule that judges the file.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::rules {

enum class Shape : std::uint8_t {
  any,
  text,
  integer,
  seed,    // unsigned, 64 bits
  digits,  // an integer, or text that consists of digits
  number,
  boolean,
  on_off,  // a boolean or an integer
  list,
  map,
  text_or_map,
  text_or_number,
};

struct Field {
  std::string_view pointer{};
  Shape shape = Shape::any;
  bool required = false;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

struct Issue {
  std::string pointer{};
  std::string found{};
  std::string expected{};
};

// `base`: the pointer of `json` in its document. A null field counts as missing.
void check_fields(const Json& json, std::string_view base, std::span<const Field> fields,
                  std::vector<Issue>& issues);

}  // namespace assay::rules
