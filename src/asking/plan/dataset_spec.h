// A dataset as one line of text, as --dataset and a config's `datasets` list take it:
//
//   [perf:|acc:]PATH[,key=value]…      acc:gsm8k.jsonl,parser.prompt=question,rows_max=100
//
// Only a literal perf or acc before the first colon is a prefix, so id::preset and URLs are not
// misread; croissant:FILE#set is a path too. Keys may be dotted. Commas cannot be escaped. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// The line as the map that a config would hold.
Result<yaml::Node> parse_dataset_spec(std::string_view text);

// A map, or such a line, into `out`.
void read_dataset(const yaml::Node& node, DatasetConfig& out, const std::string& path,
                  Reading& reading);

}  // namespace assay::plan
