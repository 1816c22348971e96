// Checks of an endpoint's URL and of a header before anything is sent, so that a typing mistake is
// reported with all other mistakes of the config. net/url.h parses URLs for sending. Pure.
#pragma once

#include <string>
#include <string_view>

namespace assay::plan {

// Returns what is wrong and what to write; "" if nothing is. Never contains a password.
std::string wrong_with_url(std::string_view url);
// "host:port" in lower case, the port filled in: URLs with the same result share its ports.
std::string host_and_port(std::string_view url);

bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

}  // namespace assay::plan
