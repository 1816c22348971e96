// Binary data as a cell of a row of JSON: text where it is valid UTF-8, else a data URL,
// "data:image/jpeg;base64,…". Its media type is what the first bytes tell, and empty where they do
// not ("data:;base64,…"): an endpoint that is asked about a picture wants to know. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::dataset {

std::string binary_cell(std::string_view bytes);

// "" where unknown.
std::string_view media_type_of(std::string_view bytes);

// The base64 text of a cell that is a data URL.
std::optional<std::string_view> base64_of_cell(std::string_view cell);

}  // namespace assay::dataset
