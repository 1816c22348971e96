// Converts a page's values to plain ones, and a plain value to JSON. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "dataset/parquet_meta.h"

namespace assay::dataset::parquet {

// Bytes of one plain value; 0: a byte array, whose length precedes it.
std::size_t plain_size(const Node& leaf);
// Takes one plain value from the front. Returns false when it is incomplete.
bool take_plain(const Node& leaf, std::string_view& bytes, std::string_view& value);

Result<std::string> plain_from_delta_binary(const Node& leaf, std::string_view bytes,
                                            std::uint64_t count);
Result<std::string> plain_from_delta_length(std::string_view bytes, std::uint64_t count);
Result<std::string> plain_from_delta_text(const Node& leaf, std::string_view bytes,
                                          std::uint64_t count);
Result<std::string> plain_from_stream_split(const Node& leaf, std::string_view bytes,
                                            std::uint64_t count);

// Instants and dates become ISO 8601 text, decimals text, binary data a binary_cell. An error names
// the part that is not UTF-8.
Result<Json> to_json(const Node& leaf, std::string_view value);

}  // namespace assay::dataset::parquet
