// The header fields that say what a body is, as HTTP/1.1 and HTTP/2 both have them. Pure; any
// thread.
#pragma once

#include <string_view>

#include "net/http1_response.h"

namespace assay::net {

// `lower` must be in lower case.
bool equal_fold(std::string_view a, std::string_view lower);
// Without blanks, tabs and a CR at its ends.
std::string_view trim_space(std::string_view text);

// Parameters are passed over.
ContentType content_type_of(std::string_view value);
ContentCoding content_coding_of(std::string_view value);
std::string_view to_string(ContentCoding coding);

}  // namespace assay::net
