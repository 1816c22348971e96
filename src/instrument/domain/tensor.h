// Tensors as the open inference protocol names them: datatypes, the bytes of an element, and
// whether bytes fit a shape. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

// Bytes of one element of FP32, INT64, …; 0 for BYTES, whose elements have a length each, and for
// a name that is no datatype.
std::size_t tensor_element_bytes(std::string_view datatype);
bool is_tensor_datatype(std::string_view datatype);

// Refuses a shape, a datatype or a number of bytes that do not fit each other. A BYTES tensor has
// as many elements as its shape says, each behind its length of four bytes, little-endian.
Result<void> check_tensor(std::string_view datatype, std::span<const std::int64_t> shape,
                          std::string_view bytes);

// The elements of a BYTES tensor; what is left of a cut one is dropped.
std::vector<std::string_view> tensor_texts(std::string_view bytes);
void append_tensor_text(std::string& bytes, std::string_view text);

}  // namespace assay
