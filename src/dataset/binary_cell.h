// Binary data as a cell of a row of JSON: text where it is valid UTF-8, else "data:;base64,…".
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace assay::dataset {

std::string binary_cell(std::string_view bytes);
std::string encode_base64(std::string_view bytes);

}  // namespace assay::dataset
