// Requests and replies of HTTP/1.1 at the edges of what is read, kept and given back.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "net/http1_request.h"
#include "net/http1_response.h"

namespace assay::net {
namespace {

using ReplyState = ResponseParser::State;

// What is left of `bytes`, and the body's bytes.
std::pair<std::string, std::string> feed_reply(ResponseParser& parser, std::string_view bytes) {
  std::string body;
  parser.feed(
      bytes, [](const ResponseHead&) {}, [&](std::string_view piece) { body += piece; });
  return {std::string(bytes), body};
}

TEST(Http1Edges, a_request_that_is_just_whole_is_read_where_it_lies) {
  for (const std::string text : {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab",
                                 "GET / HTTP/1.1\r\nHost: h\r\n\r\n"}) {
    RequestReader reader;
    RequestHead head;
    const auto step = reader.feed(text, {}, head);
    EXPECT_EQ(step.status, ReadStatus::ready);
    EXPECT_EQ(step.body.data() + step.body.size(), text.data() + text.size());
    EXPECT_EQ(head.method.data(), text.data());
    EXPECT_TRUE(reader.idle());
    EXPECT_LT(reader.memory_bytes(), 64U);
  }
}

TEST(Http1Edges, a_request_that_is_refused_used_no_byte) {
  for (const std::string text : {"?", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\n",
                                 "GET / HTTP/1.1\r\n\r\n"}) {
    RequestReader reader;
    RequestHead head;
    const auto step = reader.feed(text, {.head_bytes_max = 100, .body_bytes_max = 9}, head);
    EXPECT_EQ(step.status, ReadStatus::bad) << text;
    EXPECT_EQ(step.used, 0U) << text;
    EXPECT_FALSE(step.wants_body);
  }
}

TEST(Http1Edges, a_line_that_begins_with_a_bare_cr_ends_no_head) {
  ResponseParser parser;
  EXPECT_FALSE(parser.no_room());
  EXPECT_FALSE(parser.malformed());
  const auto [left, body] =
      feed_reply(parser, "HTTP/1.1 200 OK\r\n\rX: y\r\nContent-Length: 2\r\n\r\nabc");
  EXPECT_EQ(parser.state(), ReplyState::complete) << parser.error();
  EXPECT_EQ(body, "ab");
  EXPECT_EQ(left, "c");
}

TEST(Http1Edges, a_status_and_a_length_are_digits_alone) {
  for (const std::string status : {"2/0", "2:0", "/00", ":00", "20/", "20:", " 20", "+20"}) {
    ResponseParser parser;
    feed_reply(parser, "HTTP/1.1 " + status + " X\r\n\r\n");
    EXPECT_EQ(parser.error(), "the status line has no three-digit status") << status;
    EXPECT_EQ(parser.head().status, 0);
  }
  ResponseParser parser;
  feed_reply(parser, "HTTP/1.1 987 X\r\nContent-Length: 5, 6\r\nX: y\r\n\r\n");
  EXPECT_EQ(parser.head().status, 987);
  EXPECT_EQ(parser.head().length, 5U);
  EXPECT_EQ(parser.error(), "a Content-Length that is not a number, or two that differ");
}

TEST(Http1Edges, of_a_head_that_is_too_long_one_byte_more_is_taken) {
  const std::string open = "HTTP/1.1 200 OK\r\nX: ";
  const std::string text = open + std::string(200'000, 'x');
  for (const std::size_t first : {std::size_t{0}, std::size_t{40'000}}) {
    MemoryBudget budget(220'000);  // growing holds the old text and the new one
    ResponseParser parser(&budget);
    feed_reply(parser, std::string_view(text).substr(0, first));
    const auto [left, body] = feed_reply(parser, std::string_view(text).substr(first));
    EXPECT_EQ(parser.error(), "the response head is too long");
    EXPECT_FALSE(parser.no_room());
    EXPECT_EQ(left.size(), text.size() - ResponseParser::kHeadBytesMax - 1);
  }
  // A parser that begins anew counts from nothing.
  ResponseParser parser;
  parser.reset();
  const std::string most = open +
                           std::string(ResponseParser::kHeadBytesMax - open.size() - 4 - 19, 'x') +
                           "\r\nContent-Length: 0\r\n\r\n";
  ASSERT_EQ(most.size(), ResponseParser::kHeadBytesMax);
  feed_reply(parser, most);
  EXPECT_EQ(parser.state(), ReplyState::complete) << parser.error();
}

TEST(Http1Edges, a_head_without_room_gives_no_head_and_no_body) {
  MemoryBudget budget(1000);
  ResponseParser parser(&budget);
  std::string_view bytes = "HTTP/1.1 200 OK\r\n";
  int heads = 0;
  const std::string more(5000, 'x');
  for (const std::string_view piece : {bytes, std::string_view(more)}) {
    bytes = piece;
    parser.feed(
        bytes, [&](const ResponseHead&) { ++heads; }, [&](std::string_view) { ++heads; });
  }
  EXPECT_EQ(parser.error(), "the response head is over the memory budget");
  EXPECT_EQ(heads, 0);
}

TEST(Http1Edges, a_chunks_line_that_is_too_long_asks_for_no_memory) {
  MemoryBudget budget(9000);
  ResponseParser parser(&budget);
  feed_reply(parser, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  feed_reply(parser, "1;" + std::string(100'000, 'x'));
  EXPECT_EQ(parser.error(), "a chunk's line is too long");
  EXPECT_FALSE(parser.no_room());
}

}  // namespace
}  // namespace assay::net
