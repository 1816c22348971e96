// Gzip: a reply's body for a reader that accepts it (RFC 9110, 12.5.3). The documents of a thousand
// curves are megabytes of alike names and numbers; at zlib's lowest level they are a fifth of it.
//
// Any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::explorer {

// Bodies below this many bytes are sent as they are.
inline constexpr std::size_t kGzipBytesMin = 1024;

// True if an Accept-Encoding header admits gzip: by name or "*", unless with q=0.
bool accepts_gzip(std::string_view accept_encoding);

std::string gzip(std::string_view body);

}  // namespace assay::explorer
