#include "net/http1_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "net/testing_requests.h"

namespace assay::net {
namespace {

std::string get_with(std::string_view fields) {
  return read_whole(format("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", fields));
}

// All bytes except NUL that `taken` refuses.
template <typename Taken>
std::string refused_bytes(Taken&& taken) {
  std::string out;
  for (int c = 1; c < 256; ++c) {
    if (!taken(static_cast<char>(c))) out += static_cast<char>(c);
  }
  return out;
}

std::string all_bytes_without(std::string_view left_out) {
  return refused_bytes([&](char c) { return left_out.find(c) != std::string_view::npos; });
}

constexpr std::string_view kLettersAndDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// RFC 9110, 5.6.2 and 5.5; RFC 3986, 2: which bytes are allowed where.
TEST(RequestReader, each_part_takes_the_bytes_that_may_stand_in_it_and_no_other) {
  const auto ends = [](const std::string& text) { return text.ends_with("end"); };
  const std::string token = std::string(kLettersAndDigits) + "!#$%&'*+-.^_`|~";
  EXPECT_EQ(refused_bytes([&](char c) {
              return ends(read_whole(format("G{}T / HTTP/1.1\r\nHost: h\r\n\r\n", c)));
            }),
            all_bytes_without(token));
  EXPECT_EQ(refused_bytes([&](char c) { return ends(get_with(format("N{}: v\r\n", c))); }),
            all_bytes_without(token + ":"));  // a value that begins with one
  EXPECT_EQ(refused_bytes([&](char c) { return ends(get_with(format("N: v{}w\r\n", c))); }),
            "\x01\x02\x03\x04\x05\x06\x07\x08\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17"
            "\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f");
  std::string printable;
  for (char c = '!'; c <= '~'; ++c) printable += c;
  EXPECT_EQ(refused_bytes([&](char c) {
              return ends(read_whole(format("GET /a{}b HTTP/1.1\r\nHost: h\r\n\r\n", c)));
            }),
            all_bytes_without(printable));
  EXPECT_EQ(refused_bytes([&](char c) {
              return ends(read_whole(format("GET / HTTP/1.1\r\nHost: a{}b\r\n\r\n", c)));
            }),
            all_bytes_without(std::string(kLettersAndDigits) + "-._~%!$&'()*+,;=:[]"));
}

// A peer that speaks another protocol gets its answer without a wait.
TEST(RequestReader, what_cannot_become_a_request_is_refused_at_its_first_byte) {
  EXPECT_EQ(read_whole("\x16"), "bad 400");
  EXPECT_EQ(read_whole("\r\n\x16"), "bad 400");
  EXPECT_EQ(read_whole("\r"), "cut");
  EXPECT_EQ(read_whole("G"), "cut");
  EXPECT_EQ(read_whole("\r\n"), "cut");
}

TEST(RequestReader, a_request_line_is_a_method_a_target_and_a_version) {
  for (const char* target : {"/", "*", "http://h", "https://h/x"}) {
    EXPECT_EQ(read_whole(format("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", target)),
              format("GET {} 1.1 Host=h keep=true body=\nend", target));
  }
  for (const auto& [line, status] : {std::pair{"GET", 400},
                                     {"GET /", 400},
                                     {"GET  HTTP/1.1", 400},
                                     {"GET ** HTTP/1.1", 400},
                                     {"GET ftp://h HTTP/1.1", 400},
                                     {"GET / HTTP/2", 400},
                                     {"GET / HTTP/1.2", 505},
                                     {"GET / HTTP/1.11", 400},
                                     {"GET / http/1.1", 400},
                                     {"GET / XTTP/1.1", 400}}) {
    EXPECT_EQ(read_whole(format("{}\r\nHost: h\r\n\r\n", line)), format("bad {}", status)) << line;
  }
}

TEST(RequestReader, a_header_is_found_by_its_name_in_any_case) {
  RequestHead head;
  std::size_t searched = 0;
  ASSERT_EQ(
      parse_request_head("GET / HTTP/1.1\r\nHost: h\r\nA: \t 1 \t\r\na: 2\r\nAb:3\r\nE:\r\n\r\n",
                         1000, searched, head)
          .status,
      ReadStatus::ready);
  EXPECT_EQ(head.find("a"), "1");  // the first
  EXPECT_EQ(head.find("AB"), "3");
  EXPECT_EQ(head.find("e"), "");
  EXPECT_EQ(head.find("b"), "");
  EXPECT_TRUE(equals_ignoring_case("aZ-09", "Az-09"));
  EXPECT_FALSE(equals_ignoring_case("ab", "abc"));
  EXPECT_FALSE(equals_ignoring_case("@[", "`{"));
}

TEST(RequestReader, a_list_has_each_of_its_words) {
  for (const auto& [fields, keep] : {std::pair{"Connection: close\r\n", false},
                                     {"Connection: a,close,b\r\n", false},
                                     {"Connection: ,\tclose ,\r\n", false},
                                     {"Connection: closed, clos, e\r\n", true},
                                     {"Connection: close\r\nConnection: keep-alive\r\n", false},
                                     {"Connection: keep-alive\r\nConnection: close\r\n", false},
                                     {"Connection:\r\n", true}}) {
    EXPECT_THAT(get_with(fields), testing::HasSubstr(format("keep={} ", keep))) << fields;
  }
  for (const auto& [fields, keep] : {std::pair{"Connection: a, keep-alive\r\n", true},
                                     {"Connection: keep-alive\r\nConnection: a\r\n", true},
                                     {"Connection: keep-alive, close\r\n", false},
                                     {"Connection: a\r\n", false}}) {
    EXPECT_THAT(read_whole(format("GET / HTTP/1.0\r\n{}\r\n", fields)),
                testing::HasSubstr(format("keep={} ", keep)))
        << fields;
  }
}

TEST(RequestReader, a_length_has_eighteen_digits_at_most) {
  RequestHead head;
  const auto length_of = [&](std::string_view digits) {
    std::size_t searched = 0;
    const auto result = parse_request_head(
        format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", digits), 1000, searched,
        head);
    return result.status == ReadStatus::ready ? head.content_length : ~std::uint64_t{0};
  };
  EXPECT_EQ(length_of("0"), 0U);
  EXPECT_EQ(length_of("1234567890"), 1234567890U);
  EXPECT_EQ(length_of("999999999999999999"), 999999999999999999U);
  for (const char* digits : {"1000000000000000000", "1/", "1:", "-1", "1 1"}) {
    EXPECT_EQ(length_of(digits), ~std::uint64_t{0}) << digits;
  }
  EXPECT_EQ(get_with("Content-Length: 0\r\nContent-Length: 0\r\n"), "bad 400");
  EXPECT_EQ(get_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "bad 400");
}

TEST(RequestReader, a_head_and_a_body_may_be_as_long_as_the_limit_and_no_byte_more) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n";
  const std::string body = "0123456789";
  const std::string chunks =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n4\r\n0123\r\n6\r\n456789\r\n0\r\n\r\n";
  const auto with = [](std::size_t head_bytes_max, std::size_t body_bytes_max) {
    return RequestLimits{.head_bytes_max = head_bytes_max, .body_bytes_max = body_bytes_max};
  };
  std::vector<std::vector<std::size_t>> ways{{}, {1}, {head.size() - 1}, {head.size()}, {30, 40}};
  for (const auto& cuts : ways) {
    EXPECT_THAT(read_all(head + body, cuts, with(head.size(), 10)), testing::EndsWith("end"));
    EXPECT_EQ(read_all(head + body, cuts, with(head.size() - 1, 10)), "bad 431");
    EXPECT_EQ(read_all(head + body, cuts, with(head.size(), 9)), "bad 413");
    EXPECT_THAT(read_all(chunks, cuts, with(100, 10)), testing::EndsWith("=0123456789\nend"));
    EXPECT_EQ(read_all(chunks, cuts, with(100, 9)), "bad 413");
    // A head that is too long is refused before its end.
    EXPECT_EQ(read_all(head.substr(0, head.size() - 3), cuts, with(head.size() - 4, 10)),
              "bad 431");
    EXPECT_EQ(read_all(head.substr(0, head.size() - 3), cuts, with(head.size() - 3, 10)), "cut");
  }
}

// The end of a cut head is found, and searched once.
TEST(RequestReader, an_end_is_found_where_an_earlier_look_stopped) {
  const std::string text = "GET / HTTP/1.0\r\n\r\n";
  RequestHead head;
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    std::size_t searched = 0;
    ASSERT_EQ(parse_request_head(text.substr(0, cut), 100, searched, head).status,
              ReadStatus::need_more);
    EXPECT_EQ(searched, cut);
    EXPECT_EQ(parse_request_head(text, 100, searched, head).size, text.size()) << cut;
  }
}

std::string decoded(std::string_view chunks) {
  ChunkedDecoder decoder;
  std::string out;
  const std::size_t used = decoder.feed(chunks, out);
  EXPECT_LE(used, chunks.size());
  if (decoder.failed()) return "failed";
  if (!decoder.finished()) return out + "…";
  return out + "|" + std::string(chunks.substr(used));
}

TEST(ChunkedDecoder, a_size_has_as_many_digits_as_fit_in_sixty_bits) {
  EXPECT_EQ(decoded("0000000000000000002\r\nab\r\n0\r\n\r\nrest"), "ab|rest");
  EXPECT_EQ(decoded("fffffffffffffff\r\nab"), "ab…");
  EXPECT_EQ(decoded("1000000000000000\r\nab"), "failed");
  EXPECT_EQ(decoded("aF\r\n" + std::string(0xaf, 'x') + "\r\n0\r\n\r\n"),
            std::string(0xaf, 'x') + "|");
}

TEST(ChunkedDecoder, each_byte_that_cannot_stand_where_it_stands_is_refused) {
  for (const char* text : {"\r", ";", "g", "1x", "1\n", "1\rx", "1;\x01", "1\r\naX", "1\r\na\n",
                           "1\r\na\rX", "1\r\na\r\n\r", "0\r\n:", "0\r\n X", "0\r\n\n", "0\r\nA B",
                           "0\r\nA\r", "0\r\nA:\x01", "0\r\nA:b\rX", "0\r\n\rX"}) {
    EXPECT_EQ(decoded(text), "failed") << text;
  }
  for (const char* text :
       {"", "1", "1;", "1;\t~", "1\r", "1\r\n", "0", "0\r\n", "0\r\nA", "0\r\nAb:", "0\r\nA:b",
        "0\r\nA: b\r", "0\r\nA:\r\n", "0\r\nA:b\r\n\r"}) {
    EXPECT_EQ(decoded(text), "…") << text;
  }
  EXPECT_EQ(decoded("1\r\na\r\n0\r\nA:b\r\nC: d\r\n\r\nrest"), "a|rest");
}

TEST(ChunkedDecoder, extensions_and_trailers_are_bounded) {
  const std::string most(16'384, 'x');
  EXPECT_EQ(decoded("1;" + most + "\r\na\r\n1;" + most + "\r\nb\r\n0\r\n\r\n"), "ab|");
  EXPECT_EQ(decoded("1;" + most + "x"), "failed");
  EXPECT_EQ(decoded("0;" + most + "\r\nT:" + most + "\r\n\r\n"), "|");
  EXPECT_EQ(decoded("0\r\nT:" + most + "x"), "failed");
  EXPECT_EQ(decoded("0\r\nT" + most), "…");
  EXPECT_EQ(decoded("0\r\nT" + most + "x"), "failed");
  EXPECT_EQ(decoded("0\r\nT:" + most + "\r\nU:x"), "failed");  // all of them together
}

// The reader stores a cut request, with zeros behind it, over any older bytes.
TEST(RequestReader, behind_a_cut_body_stands_the_padding) {
  RequestReader reader;
  RequestHead head;
  for (const std::size_t size : {std::size_t{2000}, std::size_t{10}}) {
    const std::string body(size, 'x');
    EXPECT_EQ(reader
                  .feed(format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\nx", size),
                        {}, head)
                  .status,
              ReadStatus::need_more);
    const auto step = reader.feed(body.substr(1) + "GET", {}, head);
    ASSERT_EQ(step.status, ReadStatus::ready);
    EXPECT_EQ(step.used, size - 1);
    EXPECT_EQ(step.body, body);
    EXPECT_EQ(head.find("host"), "h");
    EXPECT_EQ(std::string_view(step.body.data() + size, kRequestPadding),
              std::string(kRequestPadding, '\0'));
    reader.reset();
    EXPECT_TRUE(reader.idle());
  }
}

TEST(RequestReader, a_request_in_one_piece_is_read_where_it_lies) {
  const std::string text = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nabGET";
  RequestReader reader;
  RequestHead head;
  const auto step = reader.feed(text, {}, head);
  EXPECT_EQ(step.status, ReadStatus::ready);
  EXPECT_EQ(step.used, text.size() - 3);
  EXPECT_EQ(step.body.data(), text.data() + text.size() - 5);
  EXPECT_EQ(head.method.data(), text.data());
  EXPECT_TRUE(reader.idle());
  EXPECT_LT(reader.memory_bytes(), 64U);  // nothing was copied
}

TEST(RequestReader, the_memory_of_a_large_request_is_given_back) {
  RequestReader reader;
  RequestHead head;
  for (const std::size_t size : {std::size_t{1000}, std::size_t{100'000}}) {
    const std::string body(size, 'x');
    reader.feed(format("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", size + 1), {},
                head);
    reader.feed(body, {}, head);
    EXPECT_GE(reader.memory_bytes(), size);
    reader.reset();
    EXPECT_EQ(reader.memory_bytes() >= 1000, size == 1000);
    EXPECT_LE(reader.memory_bytes(), 4096U);
  }
}

// Each of these leaves a state that would harm the next request.
TEST(RequestReader, nothing_of_a_request_is_left_for_the_next) {
  const std::string chunked =
      "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  const std::string length = "POST /l HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
  const std::string plain = "GET /p HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string waits =
      "POST /w HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc";
  const std::vector<std::string> all{chunked, length, plain, waits};
  for (const std::string& one : all) {
    for (const std::string& two : all) {
      const std::string both = read_whole(one) + read_whole(two);
      const std::string text = one + two;
      for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        std::string story = read_all(text, {cut});
        EXPECT_EQ(story, read_whole(one).substr(0, read_whole(one).size() - 3) + read_whole(two))
            << cut;
      }
    }
  }
  RequestReader reader;
  RequestHead head;
  EXPECT_TRUE(reader.feed(waits.substr(0, waits.size() - 3), {}, head).wants_body);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_EQ(reader.feed("abc", {}, head).status, ReadStatus::ready);
  reader.reset();
  EXPECT_FALSE(reader.feed(length.substr(0, length.size() - 1), {}, head).wants_body);
  EXPECT_FALSE(head.expects_continue);
  reader = {};
  // The reader is reset before the body came.
  EXPECT_TRUE(reader.feed(waits.substr(0, waits.size() - 3), {}, head).wants_body);
  reader.reset();
  EXPECT_FALSE(reader.feed(chunked.substr(0, chunked.size() - 9), {}, head).wants_body);
  reader.reset();
  EXPECT_EQ(reader.feed(length, {}, head).body, "abc");
  EXPECT_EQ(head.content_length, 3U);
  reader.reset();
  EXPECT_EQ(reader.feed(plain, {}, head).status, ReadStatus::ready);
  EXPECT_EQ(head.content_length, 0U);
  // A chunked body that Expect announces is asked for once too.
  const std::string waits_chunked =
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nTransfer-Encoding: chunked\r\n\r\n";
  reader.reset();
  EXPECT_TRUE(reader.feed(waits_chunked, {}, head).wants_body);
  EXPECT_FALSE(reader.feed("1", {}, head).wants_body);
  reader.reset();
  EXPECT_FALSE(
      reader.feed("POST / HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 1\r\n\r\n", {}, head)
          .wants_body);
}

}  // namespace
}  // namespace assay::net
