// What can be said of an endpoint's URL and of a header before anything is sent, so that a config
// with a typing mistake is refused with all its other mistakes. How a URL is taken apart for
// sending is net/url.h's business. Pure.
#pragma once

#include <string>
#include <string_view>

namespace assay::plan {

// What is wrong, and what to write; "" when nothing is. Never repeats a password.
std::string wrong_with_url(std::string_view url);
// "host:port" in lower case, the port filled in: two URLs with the same one share its ports.
std::string host_and_port(std::string_view url);

bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

}  // namespace assay::plan
