#include "net/http1_response.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "base/rng.h"

namespace assay::net {
namespace {

struct Seen {
  int heads = 0;
  ResponseHead head{};
  std::string body{};
  ResponseParser::State state = ResponseParser::State::head;
  std::string error{};
  std::size_t left = 0;

  bool operator==(const Seen& o) const {
    return heads == o.heads && head.status == o.head.status && body == o.body && state == o.state &&
           error == o.error && left == o.left;
  }
};

template <typename NextSize>
Seen parse(const std::string& text, bool close, NextSize next_size) {
  ResponseParser parser;
  Seen seen;
  std::size_t at = 0;
  while (at < text.size() && parser.state() != ResponseParser::State::complete &&
         parser.state() != ResponseParser::State::failed) {
    const std::string piece = text.substr(at, next_size());
    std::string_view bytes = piece;
    parser.feed(
        bytes,
        [&](const ResponseHead& head) {
          ++seen.heads;
          seen.head = head;
        },
        [&](std::string_view part) { seen.body += part; });
    at += piece.size() - bytes.size();
    if (parser.state() == ResponseParser::State::failed) at = text.size();
  }
  if (close) parser.end_of_input();
  seen.state = parser.state();
  seen.error = parser.error();
  seen.left = text.size() - at;
  return seen;
}

Seen parse_whole(const std::string& text, bool close = false) {
  return parse(text, close, [&] { return text.size(); });
}

using State = ResponseParser::State;

TEST(Http1Response, a_length_delimited_body) {
  const Seen seen = parse_whole(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "
      "2\r\n\r\n{}"
      "next");
  EXPECT_EQ(seen.state, State::complete);
  EXPECT_EQ(seen.body, "{}");
  EXPECT_EQ(seen.head.type, ContentType::json);
  EXPECT_TRUE(seen.head.keep_alive);
  EXPECT_EQ(seen.left, 4U);
}

TEST(Http1Response, chunks_with_extensions_and_trailers) {
  const Seen seen = parse_whole(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCONTENT-TYPE: text/event-stream\r\n\r\n"
      "4;x=y\r\nabcd\r\n0A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n");
  EXPECT_EQ(seen.state, State::complete);
  EXPECT_EQ(seen.body, "abcd0123456789");
  EXPECT_EQ(seen.head.type, ContentType::event_stream);
}

TEST(Http1Response, a_body_until_close_is_complete_by_the_close) {
  const std::string text = "HTTP/1.0 200 OK\r\n\r\nhello";
  EXPECT_EQ(parse_whole(text).state, State::body);
  EXPECT_EQ(parse_whole(text, true).state, State::complete);
  EXPECT_FALSE(parse_whole(text, true).head.keep_alive);
}

TEST(Http1Response, a_date_to_retry_after_is_counted_from_the_replys_date) {
  const Seen seen = parse_whole(
      "HTTP/1.1 503 Busy\r\nRetry-After: Wed, 21 Oct 2015 07:28:09 GMT\r\n"
      "date: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(seen.head.retry_after_s(), 9);
}

TEST(Http1Response, an_interim_response_is_passed_over) {
  const Seen seen = parse_whole(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Too Many\r\nRetry-After: 7\r\n"
      "Content-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(seen.heads, 1);
  EXPECT_EQ(seen.head.status, 429);
  EXPECT_EQ(seen.head.retry_after_s(), 7);
  EXPECT_FALSE(seen.head.keep_alive);
  EXPECT_EQ(seen.state, State::complete);
}

TEST(Http1Response, a_folded_field_is_one) {
  const Seen seen = parse_whole(
      "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\nContent-Length:\r\n\t 2\r\n"
      "Connection: keep-alive,\n close\r\n\r\n{}");
  EXPECT_EQ(seen.state, State::complete);
  EXPECT_EQ(seen.body, "{}");
  EXPECT_FALSE(seen.head.keep_alive);
}

TEST(Http1Response, what_is_wrong_is_named) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& text :
       {std::string("SSH-2.0-OpenSSH\r\n\r\n"), "HTTP/1.1 OK\r\n\r\n" + ok,
        ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", ok + "Content-Length: x\r\n\r\n",
        std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        ok + "Transfer-Encoding: gzip\r\n\r\n", ok + "no colon\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", ok + std::string(70000, 'x')}) {
    const Seen seen = parse_whole(text);
    EXPECT_EQ(seen.state, State::failed) << text.substr(0, 80);
    EXPECT_FALSE(seen.error.empty());
  }
}

TEST(Http1Response, what_is_no_http_is_told_at_once_and_by_its_name) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff",
       "the reply does not begin with an HTTP/1.x status line"},
      {"+", "the reply does not begin with an HTTP/1.x status line"},
      {"HTTP/2", "the reply does not begin with an HTTP/1.x status line"},
      {"\x15\x03\x03\0\x02\x02\x46"sv, "this port speaks TLS: https:// in place of http://"},
      {"\0\0\x06\x04\0\0\0\0\0"sv, "this port speaks HTTP/2 alone: --http 2"}};
  for (const auto& [bytes, error] : cases) {
    std::size_t next = 0;
    const Seen seen = parse(std::string(bytes), false, [&] { return ++next; });
    EXPECT_EQ(seen.state, State::failed);
    EXPECT_EQ(seen.error, error);
  }
  ResponseParser parser;
  std::string_view bytes = "SMT";
  parser.feed(
      bytes, [](const ResponseHead&) {}, [](std::string_view) {});
  EXPECT_EQ(parser.state(), State::head);  // too little to know who speaks
  parser.end_of_input();
  EXPECT_TRUE(parser.malformed());
  parser.reset();
  bytes = "HTTP/1.1 20";
  parser.feed(
      bytes, [](const ResponseHead&) {}, [](std::string_view) {});
  parser.end_of_input();
  EXPECT_EQ(parser.state(), State::failed);
  EXPECT_FALSE(parser.malformed());
}

TEST(Http1Response, heads_and_trailers_are_bounded_together) {
  const std::string ok = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n";
  std::string trailers;
  while (trailers.size() < 60'000) trailers += "X-Trailer: " + std::string(200, 'x') + "\r\n";
  std::string interim;
  while (interim.size() < 60'000) interim += "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n";
  EXPECT_EQ(parse_whole(ok + trailers + "\r\n").state, State::complete);
  EXPECT_EQ(parse_whole(interim + ok + "\r\n").state, State::complete);
  for (const std::string& text :
       {ok + trailers + trailers, interim + interim + ok, interim + ok + trailers}) {
    const Seen seen = parse_whole(text + "\r\n");
    EXPECT_EQ(seen.state, State::failed);
    EXPECT_EQ(seen.error, "the response head is too long");
    EXPECT_EQ(seen, parse(text + "\r\n", false, [] { return std::size_t{777}; }));
  }
}

TEST(Http1Response, a_head_that_the_budget_does_not_allow_is_told_apart) {
  MemoryBudget budget(4096);
  ResponseParser parser(&budget);
  const std::string piece = "HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'x');
  std::string_view bytes = piece;
  parser.feed(
      bytes, [](const ResponseHead&) {}, [](std::string_view) {});
  EXPECT_EQ(parser.state(), State::failed);
  EXPECT_TRUE(parser.no_room());
  EXPECT_EQ(budget.in_use(), 0U);
}

TEST(Http1Response, a_body_cut_short_is_a_failure) {
  EXPECT_EQ(parse_whole("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", true).state,
            State::failed);
  EXPECT_EQ(
      parse_whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true).state,
      State::failed);
  EXPECT_EQ(parse_whole("HTTP/1.1 200", true).state, State::failed);
}

TEST(Http1Response, the_same_however_the_bytes_are_cut) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    std::string text = rng.below(3) == 0 ? "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" : "";
    const std::string eol = rng.below(4) == 0 ? "\n" : "\r\n";
    text += "HTTP/1.1 200 OK" + eol + "Server: x" + eol;
    if (rng.below(2) == 0) {
      text += "Transfer-Encoding: chunked" + eol + eol;
      for (std::uint64_t i = rng.below(6); i-- > 0;) {
        const std::string chunk(1 + rng.below(50), static_cast<char>('a' + rng.below(26)));
        text += format("{:x}", chunk.size()) + eol + chunk + eol;
      }
      text += "0" + eol + eol;
    } else {
      const std::string body(rng.below(80), 'b');
      text += format("Content-Length: {}", body.size()) + eol + eol + body;
    }
    if (rng.below(3) == 0) text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    const bool close = rng.below(2) == 0;
    const Seen whole = parse_whole(text, close);
    const Seen pieces = parse(text, close, [&] { return 1 + rng.below(9); });
    EXPECT_EQ(whole, pieces) << "seed " << seed;
  }
}

}  // namespace
}  // namespace assay::net
