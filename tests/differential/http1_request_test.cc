// Compares our reader of HTTP/1.1 requests with llhttp, Node's: llhttp accepts whatever we accept,
// with the same result. The converse is false: llhttp takes some forms that we refuse on purpose,
// such as two equal Content-Length fields, or two Host fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llhttp.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "net/http1_request.h"

namespace assay::net {
namespace {

struct Story {
  std::string text{};  // one line a request
  bool whole = true;   // ended after a request, without an error
};

Story our_story(std::string_view bytes) {
  Story story;
  RequestReader reader;
  RequestHead head;
  while (!bytes.empty()) {
    const RequestReader::Step step = reader.feed(bytes, {}, head);
    if (step.status == ReadStatus::bad) {
      story.whole = false;
      return story;
    }
    bytes.remove_prefix(step.used);
    if (step.status == ReadStatus::need_more) {
      story.whole = reader.idle();
      return story;
    }
    // We accept any method; llhttp has a list.
    if (head.method != "GET" && head.method != "POST" && head.method != "PUT") {
      story.whole = false;
      return story;
    }
    story.text += format("{} {} 1.{}", head.method, head.target, head.minor_version);
    for (const HttpHeader& header : head.headers) {
      story.text += format(" {}={}", header.name, header.value);
    }
    story.text += format(" keep={} body={}\n", head.keep_alive, step.body);
    const bool keeps = head.keep_alive;
    reader.reset();
    if (!keeps) return story;  // the connection ends here, also for llhttp
  }
  return story;
}

// llhttp's callbacks write into one of these.
struct Oracle {
  Story story{};
  std::string target{};
  std::string headers{};
  std::string field{};
  std::string value{};
  std::string body{};

  void header_done() {
    while (value.ends_with(' ') || value.ends_with('\t')) value.pop_back();
    headers += format(" {}={}", field, value);
    field.clear();
    value.clear();
  }
};

Oracle& oracle_of(llhttp_t* parser) { return *static_cast<Oracle*>(parser->data); }

template <std::string Oracle::*Member>
int append(llhttp_t* parser, const char* at, std::size_t size) {
  (oracle_of(parser).*Member).append(at, size);
  return 0;
}

int header_value_complete(llhttp_t* parser) {
  // Fields of a trailer arrive here too, after the body.
  Oracle& oracle = oracle_of(parser);
  if (parser->flags & F_TRAILING) {
    oracle.field.clear();
    oracle.value.clear();
  } else {
    oracle.header_done();
  }
  return 0;
}

int message_complete(llhttp_t* parser) {
  Oracle& oracle = oracle_of(parser);
  const bool keeps = llhttp_should_keep_alive(parser) != 0;
  oracle.story.text +=
      format("{} {} {}.{}{} keep={} body={}\n",
             llhttp_method_name(static_cast<llhttp_method_t>(parser->method)), oracle.target,
             static_cast<int>(parser->http_major), static_cast<int>(parser->http_minor),
             oracle.headers, keeps, oracle.body);
  oracle.target.clear();
  oracle.headers.clear();
  oracle.body.clear();
  return keeps ? 0 : HPE_PAUSED;
}

Story llhttp_story(std::string_view bytes) {
  Oracle oracle;
  llhttp_settings_t settings;
  llhttp_settings_init(&settings);
  settings.on_url = append<&Oracle::target>;
  settings.on_header_field = append<&Oracle::field>;
  settings.on_header_value = append<&Oracle::value>;
  settings.on_header_value_complete = header_value_complete;
  settings.on_body = append<&Oracle::body>;
  settings.on_message_complete = message_complete;
  llhttp_t parser;
  llhttp_init(&parser, HTTP_REQUEST, &settings);
  parser.data = &oracle;
  llhttp_execute(&parser, bytes.data(), bytes.size());
  return oracle.story;
}

const std::string& pick(const std::vector<std::string>& from, Rng& rng) {
  return from[static_cast<std::size_t>(rng.below(from.size()))];
}

// Several requests; one in three has a piece in the wrong place.
std::string random_connection(Rng& rng) {
  const std::vector<std::string> lines = {"GET / HTTP/1.1\r\nHost: a\r\n",
                                          "POST /v1/chat?x=%20&y HTTP/1.1\r\nHost: b:80\r\n",
                                          "PUT /x HTTP/1.0\r\n"};
  const std::vector<std::string> fields = {
      "Connection: keep-alive\r\n", "Connection: close, te\r\n", "X:\r\n",
      "Expect: 100-continue\r\n",   "X-Y: \t y z \t\r\n",        "Accept: */*\r\n"};
  const std::vector<std::string> ends = {
      "\r\n", "Content-Length: 4\r\n\r\nabcd", "content-length:0\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\n4\r\nwxyz\r\n0\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n"};
  const std::vector<std::string> strays = {
      "\n",          "\r",   " ",        ":", "\x01", "\x80", "\r\n", "Content-Length: 4\r\n",
      "Host: c\r\n", "abcd", "0\r\n\r\n"};
  std::string text;
  const std::uint64_t count = 1 + rng.below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    text += pick(lines, rng);
    for (std::uint64_t k = rng.below(4); k > 0; --k) text += pick(fields, rng);
    text += pick(ends, rng);
  }
  if (rng.below(3) == 0) text.insert(rng.below(text.size() + 1), pick(strays, rng));
  return text;
}

TEST(RequestReader, agrees_with_llhttp_on_all_that_it_accepts) {
  int accepted = 0;
  for (std::uint64_t seed = 0; seed < 200'000; ++seed) {
    Rng rng(seed);
    const std::string bytes = random_connection(rng);
    // "close" and "keep-alive" in one request: by RFC 9112 9.3 close wins here, but not in llhttp.
    const bool both =
        bytes.find("close") != std::string::npos && bytes.find("keep-alive") != std::string::npos;
    if (both) continue;
    const Story ours = our_story(bytes);
    const Story theirs = llhttp_story(bytes);
    // If we refuse a request or wait for its rest, the earlier requests must still agree.
    if (!ours.whole) {
      ASSERT_THAT(theirs.text, testing::StartsWith(ours.text)) << "seed " << seed << ":\n" << bytes;
      continue;
    }
    ASSERT_EQ(ours.text, theirs.text) << "seed " << seed << ":\n" << bytes;
    accepted += ours.text.empty() ? 0 : 1;
  }
  EXPECT_GT(accepted, 100'000);
}

}  // namespace
}  // namespace assay::net
