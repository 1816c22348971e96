#include "net/http1_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"
#include "net/testing_requests.h"

namespace assay::net {
namespace {

TEST(RequestReader, reads_a_request) {
  EXPECT_EQ(read_whole("POST /v1/x?a=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"),
            "POST /v1/x?a=1 1.1 Host=h Content-Length=5 keep=true body=hello\nend");
}

TEST(RequestReader, reads_pipelined_requests) {
  EXPECT_EQ(read_whole("GET /a HTTP/1.1\r\nHost: h\r\n\r\nPOST /b HTTP/1.1\r\nHost: "
                       "h\r\ncontent-length:2\r\n\r\nhi"
                       "GET /c HTTP/1.0\r\n\r\n"),
            "GET /a 1.1 Host=h keep=true body=\n"
            "POST /b 1.1 Host=h content-length=2 keep=true body=hi\n"
            "GET /c 1.0 keep=false body=\nend");
}

TEST(RequestReader, decodes_chunks_with_extensions_and_trailers) {
  EXPECT_EQ(read_whole("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
                       "5;x=y\r\nhello\r\nA\r\n, world!!!\r\n0\r\nTrailer: t\r\n\r\n"
                       "GET /next HTTP/1.1\r\nHost: h\r\n\r\n"),
            "POST / 1.1 Host=h Transfer-Encoding=Chunked keep=true body=hello, world!!!\n"
            "GET /next 1.1 Host=h keep=true body=\nend");
}

TEST(RequestReader, empty_lines_before_a_request_are_skipped) {
  EXPECT_EQ(read_whole("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
            "GET / 1.1 Host=h keep=true body=\nend");
}

TEST(RequestReader, a_target_has_a_path_in_each_of_its_forms) {
  const auto path = [](std::string_view target) {
    RequestHead head;
    head.target = target;
    return std::string(head.path());
  };
  EXPECT_EQ(path("/a/b?c=/d"), "/a/b");
  EXPECT_EQ(path("http://host:80/a/b?c"), "/a/b");
  EXPECT_EQ(path("https://host"), "/");
  EXPECT_EQ(path("http:///a"), "/a");
  EXPECT_EQ(path("http://host?x"), "/");
  EXPECT_EQ(path("*"), "*");
}

TEST(RequestReader, connection_says_whether_to_keep_it) {
  EXPECT_THAT(read_whole("GET / HTTP/1.1\r\nHost: h\r\nConnection: foo, Close\r\n\r\n"),
              testing::HasSubstr("keep=false"));
  EXPECT_THAT(read_whole("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              testing::HasSubstr("keep=true"));
}

TEST(RequestReader, refuses_what_is_malformed_or_ambiguous) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"GET /\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\n\r\n", 400},
      {"G@T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET /a\tb HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET /caf\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET a/b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"CONNECT host:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"GET / FTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\n: h\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n folded\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nA: b\nc: d\r\n\r\n", 400},
      {std::string("GET / HTTP/1.1\r\nHost: h\r\nA: b\0c\r\n\r\n", 35), 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nhello", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999999\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
       400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
       400},
  };
  for (const auto& [bytes, status] : cases) {
    EXPECT_EQ(read_whole(bytes), format("bad {}", status)) << bytes;
  }
}

// RFC 9112, 3.2: two readers may assign such a request to two different hosts.
TEST(RequestReader, a_request_has_one_host) {
  for (const char* hosts : {"", "Host: a\r\nHost: b\r\n", "Host: a\r\nX: y\r\nhost: a\r\n",
                            "Host: a b\r\n", "Host: a/b\r\n", "Host: u@a\r\n"}) {
    EXPECT_EQ(read_whole(format("GET / HTTP/1.1\r\n{}\r\n", hosts)), "bad 400") << hosts;
  }
  for (const char* host : {"", "a", "a.example:8080", "[::1]:80", "127.0.0.1"}) {
    EXPECT_EQ(read_whole(format("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", host)),
              format("GET / 1.1 Host={} keep=true body=\nend", host));
  }
  EXPECT_EQ(read_whole("GET / HTTP/1.0\r\n\r\n"), "GET / 1.0 keep=false body=\nend");
  EXPECT_EQ(read_whole("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), "bad 400");
}

TEST(RequestReader, limits_are_kept_however_the_bytes_come) {
  const RequestLimits limits{.head_bytes_max = 100, .body_bytes_max = 10};
  const std::string long_head = "GET /" + std::string(200, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n";
  const std::string long_chunks =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n8\r\n12345678\r\n8\r\n12345678\r\n";
  for (const std::size_t cut : {std::size_t{1}, std::size_t{50}, std::size_t{101}}) {
    EXPECT_EQ(read_all(long_head, {cut}, limits), "bad 431");
  }
  EXPECT_EQ(read_all(long_head, {}, limits), "bad 431");
  EXPECT_EQ(read_all(long_chunks, {}, limits), "bad 413");
  EXPECT_EQ(read_all("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n", {}, limits),
            "bad 413");
}

TEST(RequestReader, a_client_that_waits_for_100_continue_is_told_once) {
  RequestReader reader;
  RequestHead head;
  const std::string start =
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  auto step = reader.feed(start, {}, head);
  EXPECT_EQ(step.status, ReadStatus::need_more);
  EXPECT_TRUE(step.wants_body);
  step = reader.feed("ab", {}, head);
  EXPECT_FALSE(step.wants_body);
  step = reader.feed("c", {}, head);
  EXPECT_EQ(step.status, ReadStatus::ready);
  EXPECT_EQ(step.body, "abc");
}

// The bytes of a plausible connection; some have mistakes.
std::string random_connection(Rng& rng) {
  const std::vector<std::string> pieces = {"GET / HTTP/1.1\r\nHost: h\r\n",
                                           "POST /v1/chat HTTP/1.1\r\nHost: h\r\n",
                                           "GET /x HTTP/1.0\r\n",
                                           "Host: a\r\n",
                                           "Content-Length: 4\r\n",
                                           "Content-Length: 0\r\n",
                                           "Transfer-Encoding: chunked\r\n",
                                           "Connection: keep-alive\r\n",
                                           "Connection: close\r\n",
                                           "Expect: 100-continue\r\n",
                                           "X: \t y \r\n",
                                           "\r\n",
                                           "\r\n",
                                           "\r\n",
                                           "abcd",
                                           "4\r\nwxyz\r\n",
                                           "0\r\n\r\n",
                                           "3;e=1\r\nabc\r\n",
                                           "\n",
                                           "\r",
                                           " ",
                                           ":",
                                           "\x7f",
                                           "0\r\nT: v\r\n\r\n"};
  std::string text;
  const std::uint64_t count = 1 + rng.below(14);
  for (std::uint64_t i = 0; i < count; ++i) text += pieces[rng.below(pieces.size())];
  return text;
}

TEST(RequestReader, gives_the_same_however_the_bytes_are_cut) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng(seed);
    const std::string text = random_connection(rng);
    const std::string whole = read_whole(text);
    std::vector<std::size_t> every(text.size() > 0 ? text.size() - 1 : 0);
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = i + 1;
    ASSERT_EQ(read_all(text, every), whole) << "seed " << seed << ", byte by byte: " << text;
    const std::size_t cut = static_cast<std::size_t>(rng.below(text.size() + 1));
    ASSERT_EQ(read_all(text, {cut}), whole)
        << "seed " << seed << ", cut at " << cut << ": " << text;
  }
}

}  // namespace
}  // namespace assay::net
