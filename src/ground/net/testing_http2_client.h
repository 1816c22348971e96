// For tests: a client of HTTP/2 that has sent its requests, and what it makes of a server's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http2_client.h"
#include "net/testing_http2.h"

namespace assay::net {
struct TalkReply {
  int status = 0;
  std::string body{};
  bool out = false;  // the request was
  int ended = 0;
  std::uint32_t code = 0;
  bool unprocessed = false;
  std::string broken{};
  ResponseHead head{};  // not compared
  std::vector<std::size_t> behind{};
  int heads = 0;
  std::int32_t grpc_status = -1;
  std::string grpc_message{};

  bool operator==(const TalkReply& o) const {
    return status == o.status && body == o.body && out == o.out && ended == o.ended &&
           code == o.code && unprocessed == o.unprocessed && broken == o.broken;
  }
};

// A client that has sent `requests` requests, and its reaction to a server's bytes.
class Talk final : public Http2Events {
 public:
  explicit Talk(std::size_t requests, std::string_view body = "{}")
      : replies(requests), client(*this) {
    const std::vector<Http2Client::Header> fields{
        {":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}};
    for (TalkReply& reply : replies) streams.push_back(client.submit(fields, body, &reply));
    send();
  }
  // False when the connection is over.
  bool hear(std::string_view bytes) {
    const bool sound = client.feed(bytes);
    send();
    return sound && !client.over();
  }
  void send() {
    for (std::string_view out; !(out = client.output()).empty();) sent += out;
  }

  void on_head(void* user, const ResponseHead& head) override {
    TalkReply& reply = *static_cast<TalkReply*>(user);
    reply.status = head.status;
    reply.head = head;
    ++reply.heads;
  }
  void on_body(void* user, std::string_view piece, std::size_t behind) override {
    static_cast<TalkReply*>(user)->body += piece;
    static_cast<TalkReply*>(user)->behind.push_back(behind);
  }
  void on_request_out(void* user) override { static_cast<TalkReply*>(user)->out = true; }
  void on_end(void* user, const Http2End& end) override {
    TalkReply& reply = *static_cast<TalkReply*>(user);
    ++reply.ended;
    reply.code = end.code;
    reply.unprocessed = end.unprocessed;
    reply.broken = end.broken;
    reply.grpc_status = end.grpc_status;
    reply.grpc_message = end.grpc_message;
    if (when_ended) when_ended();
  }

  std::function<void()> when_ended{};
  std::vector<TalkReply> replies;
  std::vector<std::int32_t> streams{};
  std::string sent{};
  Http2Client client;
};

// Our SETTINGS are in force: frames may be as large as they say.
inline const std::string kAcknowledged = frame(Http2FrameType::settings, 1, 0, "");
inline const std::string kPing = frame(Http2FrameType::ping, 0, 0, "12345678");

}  // namespace assay::net
