// Header fields that describe a body, the same for HTTP/1.1 and HTTP/2. Pure; any thread.
#pragma once

#include <string_view>

#include "net/http1_response.h"

namespace assay::net {

// `lower` must be in lower case.
bool equal_fold(std::string_view a, std::string_view lower);
// Removes blanks, tabs and a CR at both ends.
std::string_view trim_space(std::string_view text);

// Both ignore parameters.
ContentType content_type_of(std::string_view value);
ContentCoding content_coding_of(std::string_view value);
std::string_view to_string(ContentCoding coding);

}  // namespace assay::net
