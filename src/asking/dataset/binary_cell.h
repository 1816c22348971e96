// Binary data as a cell of a row of JSON: text if it is valid UTF-8, else a data URL,
// "data:image/jpeg;base64,…". The media type comes from the first bytes; if they match no known
// type it is empty ("data:;base64,…"). An endpoint needs it for pictures. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::dataset {

std::string binary_cell(std::string_view bytes);

// Returns "" if the type is unknown.
std::string_view media_type_of(std::string_view bytes);

// Returns the base64 text of a cell that is a data URL.
std::optional<std::string_view> base64_of_cell(std::string_view cell);

}  // namespace assay::dataset
