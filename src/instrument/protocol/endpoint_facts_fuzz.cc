#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "protocol/endpoint_capture.h"

// Any bytes as an endpoint's pages about itself; the first byte chooses the page. The result is
// JSON of valid text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using namespace assay::protocol;
  EndpointReplies replies;
  CapturedReply* const pages[] = {&replies.models, &replies.version, &replies.server_info,
                                  &replies.metrics};
  CapturedReply& page = *pages[data[0] % 4];
  page.status = 200;
  page.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  page.server = page.body.substr(0, 64);
  const std::string text = endpoint_facts(replies).dump();
  CHECK(assay::valid_utf8(text));
  CHECK(assay::Json::parse(text));
  return 0;
}
