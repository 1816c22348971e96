// How a call of gRPC ends: its status decides, whatever came before it.
#include <gtest/gtest.h>

#include <string>

#include "base/protobuf.h"
#include "domain/quiet_sink.h"
#include "net/grpc.h"
#include "protocol/exchange.h"

namespace assay::protocol {
namespace {

class CallEnd final : public QuietSink {
 public:
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override { ++events; }
  void on_done(const Event& event, std::string_view why) override {
    outcome = event.outcome;
    detail = why;
    ++ends;
  }

  Outcome outcome = Outcome::ok;
  std::string detail{};
  int events = 0;
  int ends = 0;
};

std::string call_reply() {
  std::string output;
  put_proto_text(output, 2, "FP32");
  std::string message;
  put_proto_bytes(message, 5, output);
  put_proto_bytes(message, 6, "abcd");
  std::string body = net::grpc_framed(message);
  return body;
}

// status −1: the trailers say nothing; a status of HTTP other than 200 comes in front of it.
CallEnd end_of_call(std::int32_t status, std::string_view words, std::string body,
                    std::uint16_t http_status = 200) {
  CallEnd out;
  ReplyDecoder decoder;
  Exchange exchange;
  const Stamp at{.arrival = Instant{5}, .read = Instant{6}};
  exchange.begin({}, Instant{1}, 0, {.api = Api::kserve_grpc, .stream = false});
  exchange.on_head({.status = http_status});
  const std::size_t size = body.size();
  body.append(kDecodePadding, '\0');
  if (size > 0) exchange.on_body({body.data(), size}, 0, at, decoder, out);
  if (status >= 0) exchange.set_grpc(status, words);
  exchange.complete(at, decoder, out);
  EXPECT_EQ(out.ends, 1);
  return out;
}

TEST(ExchangeGrpc, a_reply_with_status_ok_is_whole) {
  const CallEnd end = end_of_call(0, "", call_reply());
  EXPECT_EQ(end.outcome, Outcome::ok) << end.detail;
  EXPECT_EQ(end.events, 1);
}

TEST(ExchangeGrpc, a_status_fails_the_call_after_a_message_too) {
  for (const std::string& body : {std::string(), call_reply()}) {
    const CallEnd end = end_of_call(3, "bad%20shape", body);
    EXPECT_EQ(end.outcome, Outcome::stream_error);
    EXPECT_EQ(end.detail, "gRPC INVALID_ARGUMENT (3): bad shape");
    EXPECT_EQ(end.events, 0);
  }
  EXPECT_EQ(end_of_call(4, "", "").outcome, Outcome::timed_out);
}

TEST(ExchangeGrpc, a_reply_without_a_status_is_cut) {
  const CallEnd end = end_of_call(-1, "", call_reply());
  EXPECT_EQ(end.outcome, Outcome::truncated);
  EXPECT_EQ(end.detail, "the reply ended without grpc-status");
}

TEST(ExchangeGrpc, ok_without_a_message_is_no_reply_and_http_comes_first) {
  EXPECT_EQ(end_of_call(0, "", "").outcome, Outcome::truncated);
  EXPECT_EQ(end_of_call(0, "", "no message").outcome, Outcome::bad_reply);
  EXPECT_EQ(end_of_call(14, "proxy", "words", 503).outcome, Outcome::http_error);
}

}  // namespace
}  // namespace assay::protocol
