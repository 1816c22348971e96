#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "net/url.h"

// A URL that is accepted reads back the same after writing it, and cannot forge a header.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto url = assay::net::parse_url({reinterpret_cast<const char*>(data), size});
  if (!url) return 0;
  const auto again = assay::net::parse_url(to_string(*url));
  CHECK(again.has_value());
  CHECK(again->scheme == url->scheme && again->host == url->host && again->port == url->port);
  CHECK(again->path == url->path && again->query == url->query);
  CHECK(again->unix_path == url->unix_path && again->tls == url->tls);
  for (const char c : host_header(*url) + url->path + url->query) CHECK(c > ' ' && c < 0x7f);
  CHECK(!url->host.empty() && url->path[0] == '/');
  CHECK(url->unix_path.empty() ? url->port != 0 : url->port == 0);
  return 0;
}
