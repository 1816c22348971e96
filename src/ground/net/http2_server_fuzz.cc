// A client's bytes, with any cuts: the same requests; each is answered, with a reply in any pieces,
// and its stream ends once at most. The first byte gives the cuts; with an odd second byte the
// opening of a connection stands before the rest.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/http2_reply.h"
#include "net/http2_server.h"
#include "net/testing_http2.h"

namespace {

using assay::net::Http2Reply;
using assay::net::Http2Request;
using assay::net::Http2Server;
using assay::net::RequestLimits;

constexpr RequestLimits kLimits{.head_bytes_max = 4096, .body_bytes_max = 8192};

std::string serve(std::string_view bytes, std::size_t step) {
  Http2Server server(kLimits);
  std::string seen;
  std::vector<std::int32_t> taken;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const bool sound = server.feed(bytes.substr(at, step));
    while (const std::int32_t gone = server.take_gone()) {
      CHECK(std::erase(taken, gone) == 1);
    }
    while (const Http2Request* const request = server.take_request()) {
      CHECK(request->body.size() <= kLimits.body_bytes_max && !request->head.method.empty());
      taken.push_back(request->stream);
      seen += std::string(request->head.method) + " " + std::string(request->head.target) + " " +
              std::string(request->body) + "\n";
      // The request's own body as the reply, as if a service had written it.
      Http2Reply reply(request->stream, request->head.method == "HEAD");
      const std::string body(request->body);
      for (std::size_t i = 0; i < body.size(); i += 3) {
        reply.feed(std::string_view(body).substr(i, 3), server);
      }
      reply.close(server);
      CHECK(reply.complete());
    }
    while (!server.output().empty()) {
    }
    if (!sound) break;
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (data[1] % 2 == 1)
    bytes.insert(0, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + assay::net::settings());
  const std::string whole = serve(bytes, std::max<std::size_t>(1, bytes.size()));
  const std::string cut = serve(bytes, 1 + data[0] % 16);
  // A whole read may end at a fault before the requests in front of it were taken, and no other.
  CHECK(whole.starts_with(cut) || cut.starts_with(whole));
  return 0;
}
