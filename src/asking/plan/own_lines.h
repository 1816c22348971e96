// The lines of a config.yaml that only Assay reads. The reference client refuses a file with a key
// that it does not know; it skips comments. So our own keys stand in comments with a mark:
//
//   #assay| settings:
//   #assay|   guard:
//   #assay|     preflight: false
//
// What follows the mark in all these lines is one YAML document, merged into the file's own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/yaml.h"
#include "plan/schema.h"

namespace assay::plan {

// Takes the keys that only Assay has out of a config; an object of them, empty when there are none.
// Lists keep their length, with {} for an item without such a key.
Json take_own_keys(const Part& part, Json& config);

// The marked lines of these keys, "" for none.
std::string write_own_lines(const Json& own);

// Reads the marked lines of a file; its nodes have the file's line numbers. nullopt: there are
// none. The error starts with "LINE: ".
Result<std::optional<yaml::Node>> read_own_lines(std::string_view text);

// Adds the keys of marked lines to the file's. A key in both is a problem.
void merge_own_lines(yaml::Node& file, yaml::Node own, const std::string& path, Reading& reading);

}  // namespace assay::plan
