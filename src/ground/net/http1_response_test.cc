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
  bool malformed = false;
  std::size_t left = 0;

  bool operator==(const Seen& o) const {
    return heads == o.heads && head.status == o.head.status && head.type == o.head.type &&
           head.coding == o.head.coding && head.length == o.head.length &&
           head.keep_alive == o.head.keep_alive && head.location == o.head.location &&
           head.retry_after_s() == o.head.retry_after_s() && body == o.body && state == o.state &&
           error == o.error && malformed == o.malformed && left == o.left;
  }
};

template <typename NextSize>
Seen parse_with(ResponseParser& parser, const std::string& text, bool close, NextSize next_size) {
  Seen seen;
  std::size_t at = 0;
  while (at < text.size() && parser.state() != ResponseParser::State::complete &&
         parser.state() != ResponseParser::State::failed) {
    const std::string piece = text.substr(at, next_size());
    std::string_view bytes = piece;
    parser.feed(
        bytes,
        [&](const ResponseHead& head) {
          EXPECT_EQ(&head, &parser.head());
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
  seen.malformed = parser.malformed();
  seen.left = text.size() - at;
  return seen;
}

template <typename NextSize>
Seen parse(const std::string& text, bool close, NextSize next_size) {
  ResponseParser parser;
  return parse_with(parser, text, close, next_size);
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
  // Its fields are its own.
  const Seen after = parse_whole(
      "HTTP/1.1 103 Early\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\nRetry-After: 3\r\n"
      "Content-Type: text/html\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(after.state, State::complete);
  EXPECT_EQ(after.body, "{}");
  EXPECT_EQ(after.head.type, ContentType::none);
  EXPECT_EQ(after.head.coding, ContentCoding::identity);
  EXPECT_EQ(after.head.retry_after_s(), -1);
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
  EXPECT_EQ(parser.state(), State::head);  // too few bytes to recognise the protocol
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

const std::string kOk = "HTTP/1.1 200 OK\r\n";

TEST(Http1Response, a_status_line_is_a_version_and_three_digits) {
  for (const auto& [line, status] : {std::pair{"HTTP/1.1 200", 200},
                                     {"HTTP/1.0 200 ", 200},
                                     {"HTTP/1.1 204 A reason: of some words", 204},
                                     {"HTTP/1.1 599 x", 599}}) {
    const Seen seen = parse_whole(std::string(line) + "\r\n\r\n");
    EXPECT_EQ(seen.heads, 1) << line;
    EXPECT_EQ(seen.head.status, status);
    EXPECT_EQ(seen.head.minor_version, line[7] - '0');
    EXPECT_EQ(seen.state, status == 204 ? State::complete : State::body);
  }
  for (const std::string line :
       {"HTTP/1.1 2000", "HTTP/1.1 20", "HTTP/1.1 20x OK", "HTTP/1.1 099 x", "HTTP/1.1 x00 OK",
        "HTTP/1.1 -20 OK", "HTTP/1.1 200OK", "HTTP/1.2 200 OK", "HTTP/1.10 200 OK",
        "HTTP/1.1-200 OK"}) {
    const Seen seen = parse_whole(line + "\r\n\r\n");
    EXPECT_EQ(seen.state, State::failed) << line;
    EXPECT_EQ(seen.heads, 0);
    EXPECT_TRUE(seen.malformed);
  }
  // Interim responses down to 100; the final one follows in the same piece, or in the next.
  for (const std::string line : {"HTTP/1.1 100", "HTTP/1.1 199 x"}) {
    EXPECT_EQ(parse_whole(line + "\r\n\r\n").state, State::head) << line;
    EXPECT_EQ(parse_whole(line + "\r\n\r\n" + kOk + "Content-Length: 0\r\n\r\n").head.status, 200);
  }
}

ResponseHead head_with(const std::string& fields, int status = 200) {
  const Seen seen = parse_whole(format("HTTP/1.1 {} X\r\n{}\r\n", status, fields));
  EXPECT_EQ(seen.heads, 1) << fields << seen.error;
  return seen.head;
}

TEST(Http1Response, each_field_that_is_acted_on_is_read_in_any_case_and_with_any_space) {
  EXPECT_EQ(head_with("CONTENT-type: \t Text/plain \r\n").type, ContentType::text);
  EXPECT_EQ(head_with("Content-Type:application/json\r\n").type, ContentType::json);
  EXPECT_EQ(head_with("X: y\r\n").type, ContentType::none);
  EXPECT_EQ(head_with("content-encoding: br\r\n").coding, ContentCoding::br);
  EXPECT_EQ(head_with("content-encoding:zstd\r\n").coding, ContentCoding::zstd);
  EXPECT_EQ(head_with("Content-Length:7\r\n").length, 7U);
  EXPECT_TRUE(head_with("Content-Length: 7\r\n").has_length);
  EXPECT_FALSE(head_with("Transfer-Encoding: chunked\r\n").has_length);
  EXPECT_TRUE(head_with("Transfer-Encoding: Chunked\r\n").chunked);
  EXPECT_TRUE(head_with("Transfer-Encoding:identity, chunked,\r\n").chunked);
  EXPECT_FALSE(head_with("Transfer-Encoding: identity\r\n").chunked);
  EXPECT_EQ(head_with("Retry-After:8\r\n", 503).retry_after_s(), 8);
  EXPECT_EQ(head_with("X: y\r\n", 503).retry_after_s(), -1);
  EXPECT_EQ(head_with("Location: /a b \r\n", 307).location, "/a b");
  EXPECT_EQ(head_with("location:/a\r\n", 399).location, "/a");
  EXPECT_EQ(head_with("location:/a\r\n", 300).location, "/a");
}

// Both are useless elsewhere, and each reply has a Date: the parser spends no time on them.
TEST(Http1Response, a_place_is_read_of_redirects_only_and_a_date_never_of_a_success) {
  EXPECT_EQ(head_with("Location: /a\r\n", 201).location, "");
  EXPECT_EQ(head_with("Location: /a\r\n", 400).location, "");
  const std::string dates =
      "Retry-After: Wed, 21 Oct 2015 07:28:09 GMT\r\nDate:Wed, 21 Oct 2015 07:28:00 GMT\r\n";
  EXPECT_EQ(head_with(dates, 503).retry_after_s(), 9);
  EXPECT_EQ(head_with(dates, 201).retry_after_s(), 9);
  EXPECT_EQ(head_with(dates, 200).retry_after_s(), -1);
}

// The parser first compares the lengths of field names.
TEST(Http1Response, a_field_of_the_same_length_is_another) {
  const ResponseHead head = head_with(
      "Etag: Wed, 21 Oct 2015 07:28:00 GMT\r\nLocaxion: /a\r\nConxection: close\r\n"
      "Retry-Befor: 5\r\nContent-Typo: text/plain\r\nContent-Lengtx: 1\r\n"
      "Content-Encodinx: gzip\r\nTransfer-Encodinx: chunked\r\n"
      "Content-Length: 3\r\n",
      300);
  EXPECT_EQ(head.location, "");
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(head.retry_after_s(), -1);
  EXPECT_EQ(head.type, ContentType::none);
  EXPECT_EQ(head.length, 3U);
  EXPECT_EQ(head.coding, ContentCoding::identity);
  EXPECT_FALSE(head.chunked);
  // A date is not the other field of four letters either.
  const ResponseHead busy = head_with(
      "Retry-After: Wed, 21 Oct 2015 07:28:09 GMT\r\nEtag: Wed, 21 Oct 2015 07:28:00 GMT\r\n", 503);
  EXPECT_EQ(busy.retry_after_s(), -1);
}

TEST(Http1Response, a_connection_is_kept_as_its_version_and_its_fields_say) {
  const auto kept = [](const std::string& version, const std::string& fields) {
    return parse_whole("HTTP/" + version + " 200 OK\r\n" + fields + "\r\n").head.keep_alive;
  };
  const std::string length = "Content-Length: 1\r\n";
  EXPECT_TRUE(kept("1.1", length));
  EXPECT_FALSE(kept("1.0", length));
  EXPECT_TRUE(kept("1.0", length + "Connection:Keep-Alive\r\n"));
  EXPECT_FALSE(kept("1.1", length + "Connection: x, Close ,y\r\n"));
  EXPECT_TRUE(kept("1.1", length + "Connection: closed\r\n"));
  EXPECT_TRUE(kept("1.1", "Transfer-Encoding: chunked\r\n"));
  EXPECT_FALSE(kept("1.1", "Connection: keep-alive\r\n"));  // its end is the body's end
}

TEST(Http1Response, a_field_has_a_name_right_before_its_colon) {
  for (const std::string field : {": x", "X : x", "x", "X"}) {
    const Seen seen = parse_whole(kOk + field + "\r\n\r\n");
    EXPECT_EQ(seen.error, "a header line without a field name") << field;
  }
  EXPECT_EQ(parse_whole(kOk + "X:\r\nContent-Length: 0\r\n\r\n").state, State::complete);
}

TEST(Http1Response, a_line_is_folded_where_the_next_begins_with_a_blank) {
  EXPECT_EQ(head_with("Content-Length:\n 7\n").length, 7U);
  EXPECT_EQ(head_with("Content-Length:\r\n\t\r\n  7\r\n").length, 7U);
  EXPECT_EQ(head_with("X: y\r\n z\r\nContent-Length: 5\r\n").length, 5U);
  // The status line is no field, and the body is no part of the head.
  EXPECT_EQ(parse_whole(kOk + " no name\r\n\r\n").state, State::failed);
  EXPECT_EQ(parse_whole(kOk + "Content-Length: 3\r\n\r\n a\n").body, " a\n");
  EXPECT_EQ(parse_whole("HTTP/1.1 200 OK\nContent-Length: 3\n\n\ta\n").body, "\ta\n");
}

TEST(Http1Response, one_length_may_be_said_often_and_two_not) {
  EXPECT_EQ(head_with("Content-Length: 2, 2\r\nContent-Length: 2\r\n").length, 2U);
  EXPECT_EQ(head_with("Content-Length: 18446744073709551615\r\n").length, ~std::uint64_t{0});
  for (const std::string value : {"2, 3", "2\r\nContent-Length: 0", "2,", "", "-1", "+1", "2x",
                                  "x2", "0x2", "18446744073709551616", "2 2"}) {
    const Seen seen = parse_whole(kOk + "Content-Length: " + value + "\r\n\r\n");
    EXPECT_EQ(seen.error, "a Content-Length that is not a number, or two that differ") << value;
  }
}

TEST(Http1Response, the_framing_is_the_first_that_holds_of_four) {
  for (const int status : {204, 304}) {
    const Seen seen = parse_whole(format(
        "HTTP/1.1 {} X\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", status));
    EXPECT_EQ(seen.state, State::complete);
    EXPECT_EQ(seen.body, "");
    EXPECT_EQ(seen.left, 3U);
  }
  const Seen chunked = parse_whole(
      kOk + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.body, "ab");
  EXPECT_EQ(chunked.state, State::complete);
  EXPECT_EQ(parse_whole(kOk + "Content-Length: 0\r\n\r\nx").state, State::complete);
  EXPECT_EQ(parse_whole(kOk + "Content-Length: 2\r\n\r\nx").state, State::body);
  EXPECT_EQ(parse_whole("HTTP/1.1 205 X\r\n\r\nx").body, "x");
}

TEST(Http1Response, a_chunk_is_as_long_as_its_line_says) {
  const std::string open = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string size : {"a", "A", " a ", "000a", "a;x=y", "a ;x;y"}) {
    const Seen seen = parse_whole(open + size + "\r\n0123456789\r\n0\r\n\r\nx");
    EXPECT_EQ(seen.body, "0123456789") << size;
    EXPECT_EQ(seen.state, State::complete);
    EXPECT_EQ(seen.left, 1U);
  }
  for (const std::string size : {"", ";x", "0xa", "-1", "a a", "10000000000000000", "g"}) {
    const Seen seen = parse_whole(open + size + "\r\n0123456789\r\n0\r\n\r\n");
    EXPECT_EQ(seen.error, "a chunk size that is not a hexadecimal number") << size;
  }
  EXPECT_EQ(parse_whole(open + "2\r\nabc\r\n").error, "a chunk is longer than its size says");
  EXPECT_EQ(parse_whole(open + "2\nab\n0\nX: y\n\n").state, State::complete);
}

// Each of `texts` gives the same result whole, in two pieces cut anywhere, and byte by byte. The
// pieces lie in one buffer: the next piece follows each.
TEST(Http1Response, a_cut_anywhere_changes_nothing) {
  const std::string length = "Content-Length: 2\r\n";
  const std::string chunked = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  const std::vector<std::string> texts{
      kOk + length + "\r\n{}x",
      "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}x",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\n{}x",
      "HTTP/1.1 200 OK\nContent-Length: 2\r\n\n{}x",
      kOk + "X:\r\n y\r\n" + length + "\r\n  ",
      "HTTP/1.1 103 E\r\nLink: x\r\n\r\n" + kOk + length + "\r\n{}",
      "HTTP/1.1 200\n\nto the end\n",
      chunked + "2;x\r\nab\r\n00\r\nX: y\r\n\r\nz",
      chunked + "2\nab\n1\nc\n0\n\nz",
      chunked + "2\r\nabc\r\n",
      chunked + "x\r\n",
      kOk + "Content-Length: x\r\n\r\nabc",
      std::string("HTTP/1.1 200 OK\r\n no name\r\n\r\nabc"),
      std::string("HTTP/2 200\r\n\r\n"),
      "HTTP/1.1 101 X\r\n\r\nabc" + kOk};
  for (const std::string& text : texts) {
    for (const bool close : {false, true}) {
      Seen whole = parse_whole(text, close);
      for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        ResponseParser parser;
        Seen seen;
        const std::string_view all = text;
        std::string_view bytes;
        for (const std::string_view piece : {all.substr(0, cut), all.substr(cut)}) {
          if (parser.state() == State::failed || parser.state() == State::complete) break;
          bytes = piece;
          parser.feed(
              bytes, [&](const ResponseHead& head) { seen.head = head, ++seen.heads; },
              [&](std::string_view part) { seen.body += part; });
          if (parser.state() == State::head || parser.state() == State::body) {
            EXPECT_TRUE(bytes.empty());
          }
        }
        if (close) parser.end_of_input();
        seen.state = parser.state();
        seen.error = parser.error();
        seen.malformed = parser.malformed();
        seen.left = whole.left;  // a text in two views has no single rest
        EXPECT_EQ(seen, whole) << "cut at " << cut << ": " << text;
      }
      EXPECT_EQ(parse(text, close, [] { return std::size_t{1}; }), whole) << text;
    }
  }
}

TEST(Http1Response, a_head_may_be_64_kib_long_and_no_byte_more) {
  const auto head_of_size = [](std::size_t size) {
    const std::string open = kOk + "Content-Length: 0\r\nX: ";
    return open + std::string(size - open.size() - 4, 'x') + "\r\n\r\n";
  };
  const std::size_t most = ResponseParser::kHeadBytesMax;
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{777}, std::size_t{65'536},
                                  std::size_t{65'537}, std::size_t{65'533}}) {
    const auto next = [&] { return piece; };
    EXPECT_EQ(parse(head_of_size(most) + "y", false, next).state, State::complete) << piece;
    EXPECT_EQ(parse(head_of_size(most) + "y", false, next).left, 1U);
    EXPECT_EQ(parse(head_of_size(most + 1), false, next).error, "the response head is too long");
    // A head that is too long is refused before its end comes.
    const std::string endless = kOk + "X: " + std::string(most - kOk.size() - 3, 'x');
    EXPECT_EQ(parse(endless, false, next).state, State::head) << piece;
    EXPECT_EQ(parse(endless + "x", false, next).error, "the response head is too long") << piece;
  }
}

TEST(Http1Response, trailers_and_interim_heads_count_to_the_byte) {
  const std::string open = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string interim = "HTTP/1.1 103 Early\r\n\r\n";
  const std::string head = interim + open;
  std::string trailers;
  while (trailers.size() + 1000 < ResponseParser::kHeadBytesMax - head.size()) {
    trailers += "T: " + std::string(95, 'x') + "\r\n";
  }
  const std::size_t left = ResponseParser::kHeadBytesMax - head.size() - trailers.size();
  const std::string last = "T: " + std::string(left - 5, 'x');
  EXPECT_EQ(parse_whole(head + "0\r\n" + trailers + last + "\r\n\r\n").state, State::complete);
  EXPECT_EQ(parse_whole(head + "0\r\n" + trailers + last + "x\r\n\r\n").error,
            "the response head is too long");
}

TEST(Http1Response, a_chunks_line_may_be_4_kib_long_and_no_byte_more) {
  const std::string open = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string line = "1;" + std::string(4094, 'x');
  for (const std::string eol : {"\n", "\r\n"}) {
    for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1}, std::size_t{1000}}) {
      const auto next = [&] { return piece; };
      const std::string rest = eol + "a" + eol + "0" + eol + eol;
      EXPECT_EQ(parse(open + line + rest, false, next).state, State::complete);
      EXPECT_EQ(parse(open + line + "x" + rest, false, next).error, "a chunk's line is too long");
      EXPECT_EQ(parse(open + line + "\r", false, next).state, State::body);
      EXPECT_EQ(parse(open + line + "xx", false, next).error, "a chunk's line is too long");
    }
  }
}

TEST(Http1Response, a_line_that_the_budget_does_not_allow_is_told_apart) {
  MemoryBudget budget(4096);
  const std::string open = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  {
    ResponseParser parser(&budget);
    std::string_view bytes = open;
    const auto no_head = [](const ResponseHead&) {};
    const auto no_body = [](std::string_view) {};
    parser.feed(bytes, no_head, no_body);
    const std::string line = "1;" + std::string(4000, 'x');
    for (const std::string& piece : {line.substr(0, 2000), line.substr(2000) + "\r\na\r\n"}) {
      bytes = piece;
      parser.feed(bytes, no_head, no_body);
    }
    EXPECT_EQ(parser.state(), State::failed);
    EXPECT_TRUE(parser.no_room());
    EXPECT_TRUE(parser.malformed());
    parser.reset();
    EXPECT_FALSE(parser.no_room());
    EXPECT_FALSE(parser.malformed());
    EXPECT_EQ(parser.error(), "");
  }
  EXPECT_EQ(budget.in_use(), 0U);
}

TEST(Http1Response, an_end_says_where_it_came) {
  const std::string early = "HTTP/1.1 103 Early\r\n\r\n";
  const std::string chunked = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "the connection was closed before a reply"},
      {early, "the connection was closed before a reply"},
      {"H", "the connection was closed inside the response head"},
      {kOk, "the connection was closed inside the response head"},
      {early + "HTTP/1", "the connection was closed inside the response head"},
      {kOk + "Content-Length: 1\r\n\r\n", "the connection was closed inside the body"},
      {chunked, "the connection was closed inside the body"},
      {chunked + "0\r\n", "the connection was closed inside the body"},
  };
  for (const auto& [text, error] : cases) {
    const Seen seen = parse_whole(text, true);
    EXPECT_EQ(seen.state, State::failed) << text;
    EXPECT_EQ(seen.error, error) << text;
    EXPECT_FALSE(seen.malformed);
  }
  const Seen foreign = parse_whole("SSH", true);
  EXPECT_EQ(foreign.error, "the reply does not begin with an HTTP/1.x status line");
  EXPECT_TRUE(foreign.malformed);
  // An end after a failure or a whole reply changes nothing.
  EXPECT_EQ(parse_whole("+", true).error, parse_whole("+").error);
  EXPECT_EQ(parse_whole(kOk + "Content-Length: 0\r\n\r\n", true).state, State::complete);
}

// The next reply on a connection is read like the first one on another, after any reply.
TEST(Http1Response, nothing_of_a_reply_is_left_for_the_next) {
  const std::string chunked = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string next = "HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\n{}";
  std::string long_head = kOk + "X: " + std::string(60'000, 'x') + "\r\nContent-Length: 0\r\n\r\n";
  for (const std::string& before :
       {kOk.substr(0, 11), kOk + "Content-Length: 9\r\n\r\nabc", chunked + "9\r\nabc",
        chunked + "9", chunked + "0\r\n", kOk + "\r\nabc", std::string("SSH-"), long_head,
        kOk + "Content-Encoding: br\r\nContent-Type: text/a\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.0 302 X\r\nLocation: /a\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n" + kOk}) {
    ResponseParser parser;
    EXPECT_FALSE(parser.started());
    parse_with(parser, before, false, [&] { return before.size(); });
    EXPECT_TRUE(parser.started());
    parser.reset();
    EXPECT_FALSE(parser.started());
    EXPECT_EQ(parser.state(), State::head);
    EXPECT_EQ(parser.error(), "");
    EXPECT_FALSE(parser.malformed());
    const Seen seen = parse_with(parser, next, false, [] { return std::size_t{7}; });
    EXPECT_EQ(seen, parse_whole(next)) << before.substr(0, 60);
    EXPECT_EQ(seen.state, State::complete);
    parser.reset();
    const Seen again = parse_with(parser, long_head, false, [] { return std::size_t{700}; });
    EXPECT_EQ(again.state, State::complete) << again.error;
  }
}

}  // namespace
}  // namespace assay::net
