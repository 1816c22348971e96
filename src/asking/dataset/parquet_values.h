// A page's values rewritten as plain ones, and a plain value as JSON. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "dataset/parquet_meta.h"

namespace assay::dataset::parquet {

// Bytes of one plain value; 0: a byte array, whose length stands before it.
std::size_t plain_size(const Node& leaf);
// Takes one plain value from the front. False when it is not whole.
bool take_plain(const Node& leaf, std::string_view& bytes, std::string_view& value);

Result<std::string> plain_from_delta_binary(const Node& leaf, std::string_view bytes,
                                            std::uint64_t count);
Result<std::string> plain_from_delta_length(std::string_view bytes, std::uint64_t count);
Result<std::string> plain_from_delta_text(std::string_view bytes, std::uint64_t count);
Result<std::string> plain_from_stream_split(const Node& leaf, std::string_view bytes,
                                            std::uint64_t count);

// Instants and dates as ISO 8601 text, decimals as text, binary data as binary_cell has it. The
// error says what is not UTF-8.
Result<Json> to_json(const Node& leaf, std::string_view value);

}  // namespace assay::dataset::parquet
