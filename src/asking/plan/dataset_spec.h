// A dataset as one line of text, for --dataset and a config's `datasets` list:
//
//   [perf:|acc:]PATH[,key=value]…      acc:gsm8k.jsonl,parser.prompt=question,rows_max=100
//
// Only a literal perf or acc before the first colon is a prefix, so id::preset and URLs are read
// correctly; croissant:FILE#set is a path too. Keys may have dots. Commas cannot be escaped. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// Returns the line as a config's map.
Result<yaml::Node> parse_dataset_spec(std::string_view text);

// Reads a map, or such a line, into `out`.
void read_dataset(const yaml::Node& node, DatasetConfig& out, const std::string& path,
                  Reading& reading);

}  // namespace assay::plan
