#include "net/http_reply.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace assay::net {
namespace {

std::string head_text(const ReplyHead& head) {
  std::string out = "before ";  // append_head() appends
  append_head(out, head);
  EXPECT_TRUE(out.starts_with("before "));
  return out.substr(7);
}

TEST(HttpReply, a_head_says_how_its_body_ends) {
  EXPECT_EQ(head_text({.length = 12}), "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
  EXPECT_EQ(head_text({.framing = BodyFraming::chunked}),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(head_text({.framing = BodyFraming::until_end}),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
}

// Without a Connection field HTTP/1.1 keeps the connection and HTTP/1.0 ends it.
TEST(HttpReply, a_head_says_whether_the_connection_is_kept_where_the_version_does_not) {
  EXPECT_EQ(head_text({.keep_alive = false}),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head_text({.minor_version = 0}),
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(head_text({.keep_alive = false, .minor_version = 0}),
            "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST(HttpReply, a_head_has_its_type_and_the_fields_that_were_given) {
  const HttpHeader headers[] = {{"Retry-After", "7"}, {"X-Y", "z"}};
  EXPECT_EQ(head_text({.status = 429, .content_type = "text/plain", .headers = headers}),
            "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n"
            "Retry-After: 7\r\nX-Y: z\r\n\r\n");
}

TEST(HttpReply, each_status_that_is_answered_has_its_name) {
  const std::pair<int, std::string_view> names[] = {
      {100, "Continue"},
      {200, "OK"},
      {201, "Created"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {299, "Unknown"},
  };
  for (const auto& [status, name] : names) EXPECT_EQ(status_text(status), name) << status;
}

}  // namespace
}  // namespace assay::net
