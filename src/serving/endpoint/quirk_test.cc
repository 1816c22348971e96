// One case for each quirk: it changes the bytes as described, and the rest stays correct.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <functional>

#include "endpoint/endpoint.h"
#include "endpoint/test_client.h"
#include "endpoint/truth_log.h"

namespace assay::endpoint {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kQuirkChat = "/v1/chat/completions";

struct Case {
  std::vector<Quirk> quirks{};
  std::function<void(const Exchange& stream, const Exchange& plain, TestClient& client)> check{};
  std::string headers{};
  bool usage = true;
  std::int64_t osl = 6;
};

std::string request(bool stream, bool usage) {
  return format(R"({{"messages":[{{"role":"user","content":"hi"}}],"seed":3,"stream":{}{}}})",
                stream, stream && usage ? R"(,"stream_options":{"include_usage":true})" : "");
}

void run(const Case& test) {
  EndpointOptions options;
  options.port = 0;
  options.osl = dataset::LengthSpec::fixed(test.osl);
  options.stall = 30_ms;
  std::string names;
  for (const Quirk quirk : test.quirks) {
    options.quirks.add(quirk);
    names += std::string(to_string(quirk)) + " ";
  }
  SCOPED_TRACE(names);
  auto endpoint = Endpoint::open(options);
  ASSERT_TRUE(endpoint);
  (*endpoint)->start();
  TestClient plain_client((*endpoint)->url());
  const Exchange plain = plain_client.ask(kQuirkChat, request(false, false), test.headers);
  TestClient client((*endpoint)->url());
  const Exchange stream = client.ask(kQuirkChat, request(true, test.usage), test.headers);
  test.check(stream, plain, client);
}

// Checks that a stream's text is complete and equals the plain reply's.
void expect_whole(const Exchange& stream, const Exchange& plain) {
  EXPECT_EQ(stream.ending, Ending::complete);
  EXPECT_EQ(stream.status, 200);
  EXPECT_FALSE(stream.said().empty());
  EXPECT_EQ(plain.json()["choices"][0]["message"]["content"].as_string(), stream.said());
}

std::size_t index_of_usage(const Exchange& stream) {
  for (std::size_t i = 0; i < stream.events.size(); ++i) {
    if (stream.events[i].find("\"total_tokens\"") != std::string::npos) return i;
  }
  return stream.events.size();
}

TEST(Quirks, of_what_events_say) {
  run({{Quirk::role_first}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(s.event(0)["choices"][0]["delta"].dump(),
                   R"({"role":"assistant","content":""})");
         EXPECT_EQ(s.event(1)["choices"][0]["delta"].find("role"), nullptr);
         EXPECT_EQ(s.events.size(), 10u);
       }});
  run({{Quirk::empty_first}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(s.event(0)["choices"][0]["delta"].dump(), "{}");
       }});
  run({{Quirk::finish_with_last}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(s.event(5)["choices"][0]["finish_reason"].as_string(), "stop");
         EXPECT_NE(s.event(5)["choices"][0]["delta"].find("content"), nullptr);
         EXPECT_EQ(s.events.size(), 8u);
       }});
  run({{Quirk::always_usage},
       [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(index_of_usage(s), 7u);
         EXPECT_EQ(s.event(7)["choices"].size(), 0u);
       },
       "",
       false});
  run({{Quirk::usage_with_finish}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(index_of_usage(s), 6u);
         EXPECT_EQ(s.event(6)["choices"][0]["finish_reason"].as_string(), "stop");
         EXPECT_EQ(s.events.size(), 8u);
       }});
  run({{Quirk::usage_every_event}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         for (std::size_t i = 0; i < 6; ++i) {
           EXPECT_EQ(s.event(i)["usage"]["completion_tokens"].as_uint(), i + 1);
         }
       }});
  run({{Quirk::no_usage}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(index_of_usage(s), s.events.size());
       }});
  run({{Quirk::no_done}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_NE(s.events.back(), "[DONE]");
       }});
  run({{Quirk::late_done}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(s.events.back(), "[DONE]");
       }});
}

TEST(Quirks, of_reasoning) {
  EndpointOptions options;
  options.port = 0;
  options.reasoning = 0.5;
  options.quirks.add(Quirk::reasoning_field);
  auto endpoint = Endpoint::open(options);
  ASSERT_TRUE(endpoint);
  (*endpoint)->start();
  TestClient client((*endpoint)->url());
  const Exchange stream = client.ask(kQuirkChat, request(true, false));
  EXPECT_FALSE(stream.said("reasoning").empty());
  EXPECT_TRUE(stream.said("reasoning_content").empty());
}

TEST(Quirks, of_server_sent_events) {
  const auto whole = [](const Exchange& s, const Exchange& p, TestClient&) { expect_whole(s, p); };
  const auto holds = [&whole](std::string_view text) {
    return [text, whole](const Exchange& s, const Exchange& p, TestClient& c) {
      whole(s, p, c);
      EXPECT_THAT(s.body, HasSubstr(std::string(text)));
    };
  };
  run({{Quirk::crlf}, holds("}\r\n\r\ndata: {")});
  run({{Quirk::comments}, holds("\n\n: keep-alive\n\ndata: {")});
  run({{Quirk::pings}, holds("\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n")});
  run({{Quirk::sse_fields}, holds("id: 2\nevent: message\nretry: 3000\ndata: {")});
  run({{Quirk::no_space}, holds("\n\ndata:{\"id\"")});
  run({{Quirk::spaced_json}, holds("data: {\"id\": \"chatcmpl-")});
  run({{Quirk::multi_data}, holds("data: {\ndata: \"id\":\"chatcmpl-")});
  run({{Quirk::crlf, Quirk::comments, Quirk::multi_data, Quirk::sse_fields, Quirk::split_event},
       holds("\r\ndata: \"id\":")});
}

TEST(Quirks, of_segments) {
  // Whether a read ended inside an event.
  const auto cut_inside = [](const Exchange& s) {
    std::size_t at = 0;
    for (const std::size_t bytes : s.reads) {
      at += bytes;
      if (at < s.raw.size() && s.raw.compare(at - 2, 2, "\r\n") != 0) return true;
    }
    return false;
  };
  // Whether a read ended inside a character.
  const auto cut_character = [](const Exchange& s) {
    std::size_t at = 0;
    for (const std::size_t bytes : s.reads) {
      at += bytes;
      if (at < s.raw.size() && (static_cast<unsigned char>(s.raw[at]) & 0xc0) == 0x80) return true;
    }
    return false;
  };
  run({{Quirk::split_event},
       [&cut_inside](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_TRUE(cut_inside(s));
       },
       "",
       true,
       100});
  run({{Quirk::split_utf8},
       [&cut_character](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_TRUE(cut_character(s));
       },
       "",
       true,
       100});
  run({{Quirk::ragged_chunks}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_THAT(s.raw, HasSubstr("7;name=\"va;lue\"\r\ndata: {\r\n"));
         EXPECT_THAT(s.raw, HasSubstr("0;last\r\nX-Trailer: yes\r\n\r\n"));
       }});
}

TEST(Quirks, joined_events_leave_two_by_two) {
  const std::string path =
      format("{}/assay_{}_joined.log", std::filesystem::temp_directory_path().string(), ::getpid());
  EndpointOptions options;
  options.port = 0;
  options.osl = dataset::LengthSpec::fixed(6);
  options.itl = sim::Delay::fixed(1_ms);
  options.truth_log = path;
  options.quirks.add(Quirk::joined_events);
  auto endpoint = Endpoint::open(options);
  ASSERT_TRUE(endpoint);
  (*endpoint)->start();
  TestClient client((*endpoint)->url());
  EXPECT_EQ(client.ask(kQuirkChat, request(true, false)).events.size(), 8u);
  (*endpoint)->stop();
  const auto truth = read_truth_log(path);
  ASSERT_TRUE(truth);
  const auto& events = truth->replies.at(0).events;
  for (std::size_t i = 0; i + 1 < 6; i += 2) {
    EXPECT_EQ(events[i].at, events[i + 1].at);
    EXPECT_TRUE(i == 0 || events[i].at > events[i - 1].at);
  }
  std::filesystem::remove(path);
}

std::string gunzip(std::string_view bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  inflateEnd(&stream);
  return out;
}

TEST(Quirks, of_compression) {
  const auto compressed = [](const Exchange& s, const Exchange& p, TestClient&) {
    EXPECT_THAT(s.head(), HasSubstr("Content-Encoding: gzip"));
    EXPECT_THAT(gunzip(s.body), HasSubstr("data: [DONE]\n\n"));
    EXPECT_THAT(p.head(), HasSubstr("Content-Encoding: gzip"));
    EXPECT_TRUE(Json::parse(gunzip(p.body)));
  };
  run({{Quirk::gzip}, compressed, "Accept-Encoding: br, gzip\r\n"});
  run({{Quirk::gzip_forced}, compressed});
  run({{Quirk::gzip, Quirk::ragged_chunks}, compressed, "Accept-Encoding: gzip\r\n"});
  run({{Quirk::gzip, Quirk::chunked_plain}, compressed, "Accept-Encoding: gzip\r\n"});
  run({{Quirk::gzip}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_THAT(s.head(), Not(HasSubstr("gzip")));
       }});
}

TEST(Quirks, of_the_response) {
  run({{Quirk::wrong_content_type}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_THAT(s.head(), HasSubstr("Content-Type: application/json"));
       }});
  run({{Quirk::chunked_plain}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_THAT(p.head(), HasSubstr("Transfer-Encoding: chunked"));
         EXPECT_THAT(p.head(), Not(HasSubstr("Content-Length")));
       }});
  run({{Quirk::close_delimited}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         for (const Exchange* exchange : {&s, &p}) {
           EXPECT_THAT(exchange->head(), Not(HasSubstr("chunked")));
           EXPECT_THAT(exchange->head(), Not(HasSubstr("Content-Length")));
           EXPECT_THAT(exchange->head(), HasSubstr("Connection: close"));
         }
       }});
  run({{Quirk::http10}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_THAT(s.raw, testing::StartsWith("HTTP/1.0 200 OK"));
         EXPECT_THAT(p.head(), HasSubstr("Content-Length"));
       }});
  run({{Quirk::interim}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_THAT(s.raw, testing::StartsWith("HTTP/1.1 103 Early Hints"));
       }});
  run({{Quirk::slow_headers},
       [](const Exchange& s, const Exchange& p, TestClient&) { expect_whole(s, p); }});
  run({{Quirk::stall},
       [](const Exchange& s, const Exchange& p, TestClient&) { expect_whole(s, p); }});
  run({{Quirk::silent_close}, [](const Exchange& s, const Exchange& p, TestClient& client) {
         expect_whole(s, p);
         EXPECT_THAT(s.head(), Not(HasSubstr("Connection: close")));
         EXPECT_TRUE(client.ended());
       }});
}

// Prompt tokens that the engine has processed; a reply from the cache adds none.
std::string engine_work(TestClient& client) {
  const std::string page = client.get("/metrics").body;
  const std::size_t at = page.find("\nvllm:prefix_cache_queries_total");
  return at == std::string::npos ? "none" : page.substr(at + 1, page.find('\n', at + 1) - at);
}

TEST(Quirks, unguarded_replies_are_ordinary_until_the_server_is_busy) {
  run({{Quirk::unguarded}, [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(s.said().find("canary"), std::string::npos);
       }});
}

TEST(Quirks, of_a_cache) {
  run({{Quirk::cached_replies}, [](const Exchange& s, const Exchange& p, TestClient& client) {
         expect_whole(s, p);
         const std::string before = engine_work(client);
         ASSERT_NE(before, "none");
         const Exchange again = client.ask(kQuirkChat, request(true, true));
         EXPECT_EQ(again.said(), s.said());
         EXPECT_EQ(engine_work(client), before);
         client.ask(kQuirkChat, request(true, false));
         EXPECT_NE(engine_work(client), before) << "another body is not a hit";
       }});
  run({{}, [](const Exchange&, const Exchange&, TestClient& client) {
         const std::string before = engine_work(client);
         client.ask(kQuirkChat, request(true, true));
         EXPECT_NE(engine_work(client), before) << "without the quirk nothing is kept";
       }});
}

TEST(Quirks, of_what_replies_say_of_their_tokens) {
  const auto said = [](const Exchange& s) {
    return s.event(index_of_usage(s))["usage"]["completion_tokens"].as_uint();
  };
  run({{Quirk::usage_inflated}, [&](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(said(s), 6000u);
         EXPECT_EQ(p.json()["usage"]["completion_tokens"].as_uint(), 6000u);
       }});
  run({{Quirk::usage_zero}, [&](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(said(s), 0u);
       }});
  run({{Quirk::first_burst, Quirk::usage_every_event},
       [](const Exchange& s, const Exchange& p, TestClient&) {
         expect_whole(s, p);
         EXPECT_EQ(s.event(0)["usage"]["completion_tokens"].as_uint(), 8u);
         EXPECT_EQ(s.event(1)["usage"]["completion_tokens"].as_uint(), 9u);
         EXPECT_EQ(s.events.size(), 6u);
       },
       "",
       true,
       10});
  run({{Quirk::first_burst},
       [](const Exchange& s, const Exchange& p, TestClient&) { expect_whole(s, p); },
       "",
       true,
       3});
  run({{Quirk::empty_reply}, [](const Exchange& s, const Exchange& p, TestClient&) {
         EXPECT_EQ(s.said(), "");
         EXPECT_EQ(s.event(0)["choices"][0]["finish_reason"].as_string(), "stop");
         EXPECT_EQ(p.json()["choices"][0]["message"]["content"].as_string(), "");
       }});
  run({{Quirk::not_streamed}, [](const Exchange& s, const Exchange&, TestClient&) {
         EXPECT_TRUE(s.json()["choices"][0]["message"]["content"].is_string());
       }});
  run({{Quirk::goes_on_after_done}, [](const Exchange& s, const Exchange&, TestClient&) {
         ASSERT_EQ(s.events.size(), 10u);
         EXPECT_EQ(s.events[8], "[DONE]");
         EXPECT_THAT(s.events[9], HasSubstr(" late"));
       }});
}

TEST(Quirks, of_failure) {
  run({{Quirk::cut_reset}, [](const Exchange& s, const Exchange& p, TestClient&) {
         EXPECT_EQ(s.ending, Ending::reset);
         EXPECT_EQ(s.events.size(), 3u);
         EXPECT_EQ(p.ending, Ending::reset);
       }});
  run({{Quirk::cut_close}, [](const Exchange& s, const Exchange& p, TestClient&) {
         EXPECT_EQ(s.ending, Ending::closed);
         EXPECT_EQ(s.events.size(), 3u);
         EXPECT_EQ(p.ending, Ending::closed);
       }});
  run({{Quirk::error_in_stream}, [](const Exchange& s, const Exchange& p, TestClient&) {
         EXPECT_EQ(s.ending, Ending::complete);
         ASSERT_EQ(s.events.size(), 5u);
         EXPECT_TRUE(s.event(3)["error"].is_object());
         EXPECT_EQ(s.events.back(), "[DONE]");
         EXPECT_TRUE(p.json()["error"].is_object());
       }});
  run({{Quirk::http429}, [](const Exchange& s, const Exchange&, TestClient&) {
         EXPECT_EQ(s.status, 429);
         EXPECT_THAT(s.head(), HasSubstr("Retry-After: 1"));
         EXPECT_EQ(s.json()["error"]["code"].as_string(), "rate_limit_exceeded");
       }});
  run({{Quirk::http500}, [](const Exchange& s, const Exchange& p, TestClient&) {
         EXPECT_EQ(s.status, 500);
         EXPECT_EQ(p.status, 500);
         EXPECT_EQ(s.json()["error"]["type"].as_string(), "server_error");
       }});
}

// Quirks are independent: a stream with any three harmless ones stays whole.
TEST(Quirks, together) {
  const std::vector<Quirk> harmless = {Quirk::role_first,
                                       Quirk::empty_first,
                                       Quirk::finish_with_last,
                                       Quirk::always_usage,
                                       Quirk::usage_with_finish,
                                       Quirk::usage_every_event,
                                       Quirk::no_usage,
                                       Quirk::no_done,
                                       Quirk::crlf,
                                       Quirk::comments,
                                       Quirk::pings,
                                       Quirk::sse_fields,
                                       Quirk::no_space,
                                       Quirk::spaced_json,
                                       Quirk::multi_data,
                                       Quirk::split_event,
                                       Quirk::split_utf8,
                                       Quirk::joined_events,
                                       Quirk::ragged_chunks,
                                       Quirk::chunked_plain,
                                       Quirk::close_delimited,
                                       Quirk::http10,
                                       Quirk::interim,
                                       Quirk::silent_close,
                                       Quirk::wrong_content_type};
  Rng rng(9);
  for (int i = 0; i < 60; ++i) {
    std::vector<Quirk> some;
    for (int k = 0; k < 3; ++k) some.push_back(harmless[rng.below(harmless.size())]);
    run({some, [](const Exchange& s, const Exchange& p, TestClient&) { expect_whole(s, p); }});
  }
}

}  // namespace
}  // namespace assay::endpoint
