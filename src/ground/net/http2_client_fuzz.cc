// A server's bytes, with any cuts: the same replies, or a fault each time; each request ends at
// most once, heads stay within their limit, and there is no crash. The first byte gives the number
// of requests under way, and the second the cuts.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "net/http2_client.h"

namespace {

using assay::net::Http2Client;
using assay::net::Http2End;

struct Request {
  int heads = 0;
  int ends = 0;
  bool broken = false;
  std::string seen{};
};

class Client final : public assay::net::Http2Events {
 public:
  explicit Client(std::size_t count) : requests(count), client_(*this) {
    const std::array<Http2Client::Header, 4> fields{
        {{":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}}};
    for (Request& request : requests) client_.submit(fields, "{}", &request);
    send();
  }
  bool hear(std::string_view bytes) {
    const bool sound = client_.feed(bytes);
    send();
    const bool goes_on = sound && !client_.over();
    CHECK(goes_on || client_.broken() || client_.going_away());
    CHECK(!client_.broken() || !client_.error().empty());
    return goes_on;
  }
  std::string error() const { return client_.error(); }
  bool going_away() const { return client_.going_away(); }
  bool broken() const { return client_.broken(); }

  void on_head(void* user, const assay::net::ResponseHead& head) override {
    Request& request = of(user);
    CHECK(++request.heads == 1);
    CHECK(head.status >= 200 && head.location.size() <= Http2Client::kHeadBytesMax);
    request.seen += std::to_string(head.status) + " ";
  }
  void on_body(void* user, std::string_view piece, std::size_t) override {
    CHECK(of(user).heads == 1);
    of(user).seen += piece;
  }
  void on_request_out(void* user) override { of(user); }
  void on_end(void* user, const Http2End& end) override {
    Request& request = of(user);
    request.seen += " " + std::to_string(end.code) + std::string(end.broken);
    request.broken = !end.broken.empty();
    ++request.ends;
  }

  std::vector<Request> requests;

 private:
  static Request& of(void* user) {
    auto* const request = static_cast<Request*>(user);
    CHECK(request->ends == 0);
    return *request;
  }
  void send() {
    while (!client_.output().empty()) {
    }
  }
  Http2Client client_;
};

struct Told {
  std::string all{};
  bool faulty = false;  // the server broke the protocol, of the connection or of a stream
  bool left = false;    // a GOAWAY ended every request before the last piece
};

Told talk(std::string_view bytes, std::size_t requests, std::size_t step) {
  Client client(requests);
  bool goes_on = true;
  for (std::size_t at = 0; goes_on && at < bytes.size(); at += step) {
    const std::string piece(bytes.substr(at, step));  // a read past its end is detected
    goes_on = client.hear(piece);
  }
  Told told{.all = client.error(),
            .faulty = client.broken(),
            .left = !goes_on && client.going_away() && !client.broken()};
  for (const Request& request : client.requests) {
    told.all += "|" + request.seen;
    told.faulty = told.faulty || request.broken;
  }
  return told;
}

// Which of several faults comes first depends on when our answers go out. And nghttp2 1.52 counts
// each piece of a CONTINUATION frame as another one, and allows few.
void check_same(const Told& whole, const Told& pieces) {
  if (pieces.all.find("Too many CONTINUATION") != std::string::npos) return;
  // A GOAWAY, with an error or without, that ends every request ends the reading too: faults behind
  // it count only where they came in the same piece.
  if (pieces.left && !pieces.faulty) return;
  CHECK(whole.faulty == pieces.faulty);
  CHECK(whole.faulty || whole.all == pieces.all);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  // Every server begins with SETTINGS: most interesting input follows them.
  static const std::string opening("\0\0\0\4\0\0\0\0\0", 9);
  const std::string bytes =
      opening + std::string(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t requests = data[0] % 4U;
  const Told whole = talk(bytes, requests, bytes.size());
  check_same(whole, talk(bytes, requests, 1));
  check_same(whole, talk(bytes, requests, 1 + data[1] % 29U));
  return 0;
}
