// The endpoint as its clients see it, over a loopback socket.
#include "endpoint/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/text.h"
#include "endpoint/test_client.h"
#include "endpoint/truth_log.h"

namespace assay::endpoint {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kChat = "/v1/chat/completions";
constexpr std::string_view kPlain = R"({"messages":[{"role":"user","content":"hi"}],"seed":1})";
constexpr std::string_view kStream =
    R"({"messages":[{"role":"user","content":"hi"}],"seed":1,"stream":true})";
constexpr std::string_view kStreamUsage =
    R"({"messages":[{"role":"user","content":"hi"}],"seed":1,"stream":true,)"
    R"("stream_options":{"include_usage":true}})";

std::string scratch(std::string_view name) {
  return format("{}/assay_{}_{}", std::filesystem::temp_directory_path().string(), ::getpid(),
                name);
}

EndpointOptions options_of(std::int64_t osl = 8) {
  EndpointOptions options;
  options.port = 0;
  options.osl = dataset::LengthSpec::fixed(osl);
  options.seed = 42;
  return options;
}

std::unique_ptr<Endpoint> serve(const EndpointOptions& options) {
  auto endpoint = Endpoint::open(options);
  EXPECT_TRUE(endpoint) << endpoint.error().message;
  (*endpoint)->start();
  return std::move(*endpoint);
}

TEST(Endpoint, a_chat_streams_and_says_the_same_plain) {
  const auto endpoint = serve(options_of());
  TestClient client(endpoint->url());
  const Exchange stream = client.ask(kChat, kStreamUsage);
  EXPECT_EQ(stream.status, 200);
  EXPECT_THAT(stream.head(), HasSubstr("text/event-stream"));
  ASSERT_EQ(stream.events.size(), 11u);  // 8 tokens, finish, usage, [DONE]
  EXPECT_EQ(stream.events.back(), "[DONE]");
  EXPECT_EQ(stream.event(0)["choices"][0]["delta"]["role"].as_string(), "assistant");
  EXPECT_TRUE(stream.event(0)["choices"][0]["finish_reason"].is_null());
  EXPECT_NE(stream.event(0).find("usage"), nullptr);
  EXPECT_EQ(stream.event(8)["choices"][0]["finish_reason"].as_string(), "stop");
  EXPECT_EQ(stream.event(9)["choices"].size(), 0u);
  EXPECT_EQ(stream.event(9)["usage"]["completion_tokens"].as_int(), 8);
  EXPECT_EQ(stream.event(9)["usage"]["prompt_tokens"].as_int(), 8);  // 1 + 4 + 3

  const Json plain = client.ask(kChat, kPlain).json();
  EXPECT_EQ(plain["object"].as_string(), "chat.completion");
  EXPECT_EQ(plain["choices"][0]["message"]["content"].as_string(), stream.said());
  EXPECT_FALSE(stream.said().empty());
  EXPECT_EQ(plain["usage"]["total_tokens"].as_int(), 16);

  const Exchange without = client.ask(kChat, kStream);
  EXPECT_EQ(without.events.size(), 10u);
  EXPECT_EQ(without.event(0).find("usage"), nullptr);
}

TEST(Endpoint, completions_and_generate) {
  const auto endpoint = serve(options_of());
  TestClient client(endpoint->url());
  const Exchange stream =
      client.ask("/v1/completions", R"({"prompt":[1,2,3],"stream":true,"seed":1,"max_tokens":5})");
  ASSERT_EQ(stream.events.size(), 7u);
  EXPECT_EQ(stream.event(5)["choices"][0]["finish_reason"].as_string(), "length");
  const Json plain =
      client.ask("/v1/completions", R"({"prompt":"x","seed":1,"max_tokens":5})").json();
  EXPECT_EQ(plain["choices"][0]["text"].as_string(), stream.said());

  const Exchange generate = client.ask(
      "/generate", R"({"text":"abc","stream":true,"sampling_params":{"max_new_tokens":3}})");
  ASSERT_EQ(generate.events.size(), 4u);
  std::string before;
  for (std::size_t i = 0; i < 3; ++i) {
    const Json event = generate.event(i);
    EXPECT_THAT(std::string(event["text"].as_string()), testing::StartsWith(before));
    EXPECT_GT(event["text"].as_string().size(), before.size());
    before = event["text"].as_string();
    EXPECT_EQ(event["output_ids"].size(), 1u);
    EXPECT_EQ(event["meta_info"]["completion_tokens"].as_int(), static_cast<int>(i) + 1);
    EXPECT_EQ(event["meta_info"]["finish_reason"].is_null(), i < 2);
  }
  EXPECT_EQ(generate.event(2)["meta_info"]["finish_reason"]["type"].as_string(), "length");
}

TEST(Endpoint, reasoning_comes_first_in_a_field_of_its_own) {
  EndpointOptions options = options_of();
  options.tokens_per_event = 3;  // the boundary is inside an event
  const auto endpoint = serve(options);
  TestClient client(endpoint->url());
  const Exchange stream =
      client.ask(kChat, R"({"messages":[{"role":"user","content":"hi"}],"seed":1,"stream":true,)"
                        R"("reasoning_effort":"high","stream_options":{"include_usage":true}})");
  ASSERT_EQ(stream.events.size(), 7u);  // 3 + 1 | 2 + 2, finish, usage, [DONE]
  const Json usage = stream.event(5)["usage"];
  EXPECT_EQ(usage["completion_tokens_details"]["reasoning_tokens"].as_int(), 4);
  const Json plain = client
                         .ask(kChat, R"({"messages":[{"role":"user","content":"hi"}],"seed":1,)"
                                     R"("reasoning_effort":"high"})")
                         .json();
  const Json& message = plain["choices"][0]["message"];
  EXPECT_EQ(message["reasoning_content"].as_string(), stream.said("reasoning_content"));
  EXPECT_EQ(message["content"].as_string(), stream.said());
}

constexpr std::string_view kWithTool =
    R"({"messages":[{"role":"user","content":"hi"}],"stream":STREAM,"tools":[{"type":"function",)"
    R"("function":{"name":"weather","parameters":{"type":"object","properties":)"
    R"({"city":{"type":"string"}},"required":["city"]}}}]})";

TEST(Endpoint, tools_are_called_in_fragments) {
  const auto endpoint = serve(options_of());
  TestClient client(endpoint->url());
  std::string body(kWithTool);
  const Exchange stream = client.ask(kChat, body.replace(body.find("STREAM"), 6, "true"));
  const Json first = stream.event(0)["choices"][0]["delta"]["tool_calls"][0];
  EXPECT_EQ(first["function"]["name"].as_string(), "weather");
  std::string arguments;
  for (std::size_t i = 0; i + 2 < stream.events.size(); ++i) {
    const Json call = stream.event(i)["choices"][0]["delta"]["tool_calls"][0];
    arguments += call["function"]["arguments"].as_string();
  }
  EXPECT_EQ(arguments, R"({"city":"lorem ipsum"})");
  EXPECT_EQ(stream.event(stream.events.size() - 2)["choices"][0]["finish_reason"].as_string(),
            "tool_calls");
  body = kWithTool;
  const Json plain = client.ask(kChat, body.replace(body.find("STREAM"), 6, "false")).json();
  EXPECT_EQ(plain["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_string(),
            arguments);
  EXPECT_TRUE(plain["choices"][0]["message"]["content"].is_null());
}

TEST(Endpoint, what_is_not_there_is_told_in_openais_words) {
  EndpointOptions options = options_of();
  options.api_key = "secret";
  options.any_model = false;
  const auto endpoint = serve(options);
  TestClient client(endpoint->url());
  constexpr std::string_view kKey = "Authorization: Bearer secret\r\n";
  EXPECT_EQ(client.ask(kChat, kPlain).json()["error"]["code"].as_string(), "invalid_api_key");
  EXPECT_EQ(client.ask(kChat, kPlain, "Authorization: Bearer wrong\r\n").status, 401);
  EXPECT_EQ(client.ask(kChat, kPlain, kKey).status, 200);
  EXPECT_EQ(client.get("/health").status, 200);
  const Exchange model =
      client.ask(kChat, R"({"model":"other","messages":[{"role":"user","content":"x"}]})", kKey);
  EXPECT_EQ(model.status, 404);
  EXPECT_EQ(model.json()["error"]["code"].as_string(), "model_not_found");
  EXPECT_EQ(client.get("/nowhere").status, 404);
  EXPECT_EQ(client.get(kChat, kKey).status, 405);
  EXPECT_EQ(client.ask("/metrics", "").status, 405);
  EXPECT_EQ(client.ask(kChat, "{", kKey).status, 400);
  EXPECT_EQ(client.get("/v1/models", kKey).json()["data"][0]["id"].as_string(), "assay");
  EXPECT_EQ(client.get("/v1/models/assay", kKey).status, 200);
  EXPECT_EQ(client.get("/v1/models/other", kKey).status, 404);
  EXPECT_EQ(client.ask("/tokenize", R"({"prompt":"12345"})", kKey).json()["count"].as_int(), 2);
  endpoint->stop();
  EXPECT_EQ(endpoint->summary().served, 1u);
  EXPECT_EQ(endpoint->summary().rejected, 2u);
}

TEST(Endpoint, the_truth_log_says_what_was_sent_and_never_early) {
  const std::string path = scratch("truth.log");
  EndpointOptions options = options_of();
  options.truth_log = path;
  options.ttft = sim::Delay::fixed(15_ms);
  options.itl = sim::Delay::fixed(2_ms);
  const auto endpoint = serve(options);
  TestClient client(endpoint->url());
  const Exchange exchange = client.ask(kChat, kStreamUsage, "X-Request-Id: abc-1\r\n");
  EXPECT_THAT(exchange.head(), HasSubstr("X-Request-Id: abc-1"));
  client.ask(kChat, kPlain);
  client.ask(kChat, "{}");
  endpoint->stop();
  const auto truth = read_truth_log(path);
  ASSERT_TRUE(truth) << truth.error().message;
  ASSERT_EQ(truth->replies.size(), 3u);
  EXPECT_FALSE(truth->cut);
  const TruthReply& reply = truth->replies[truth->by_id.at("abc-1")];
  EXPECT_TRUE(reply.request.streamed);
  EXPECT_EQ(reply.request.output_tokens, 8u);
  EXPECT_EQ(reply.request.prompt_tokens, 8u);
  ASSERT_EQ(reply.events.size(), exchange.events.size());
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(reply.events[i].category, Category::text);
    EXPECT_EQ(reply.events[i].tokens, 1u);
    const Instant due = reply.request.arrived + 15_ms + 2_ms * static_cast<std::int64_t>(i);
    EXPECT_GE(reply.events[i].at, due);
  }
  EXPECT_EQ(reply.events[8].category, Category::finish);
  EXPECT_EQ(reply.events[9].category, Category::usage);
  EXPECT_EQ(reply.events[10].category, Category::marker);
  EXPECT_EQ(reply.end.outcome, TruthOutcome::served);
  EXPECT_EQ(reply.end.tokens, 8u);
  EXPECT_EQ(reply.end.events, 11u);
  EXPECT_EQ(truth->replies[1].end.tokens, 8u);
  EXPECT_FALSE(truth->replies[1].request.streamed);
  EXPECT_EQ(truth->replies[2].end.outcome, TruthOutcome::rejected);
  EXPECT_EQ(truth->replies[2].end.http_status, 400);
  std::filesystem::remove(path);
}

TEST(Endpoint, a_truth_log_that_was_cut_is_read_as_far_as_it_goes) {
  const std::string path = scratch("cut.log");
  EndpointOptions options = options_of();
  options.truth_log = path;
  for (int i = 0; i < 2; ++i) {
    const auto endpoint = serve(options);
    TestClient client(endpoint->url());
    client.ask(kChat, kStream);
    endpoint->stop();
  }
  const auto whole = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, whole - 1);
  const auto truth = read_truth_log(path);
  ASSERT_TRUE(truth);
  EXPECT_TRUE(truth->cut);
  std::filesystem::resize_file(path, 10);
  EXPECT_FALSE(read_truth_log(path));
  std::filesystem::remove(path);
}

TEST(TruthLog, a_write_of_a_tenth_of_a_millisecond_is_a_hold_where_holds_are_wanted) {
  const std::string path = scratch("holds.log");
  for (const TruthHolds holds : {TruthHolds::left_out, TruthHolds::recorded}) {
    const auto log = TruthLog::create(path, holds);
    ASSERT_TRUE(log);
    {
      TruthRecorder recorder(log->get(), 7);
      recorder.request({.number = 3, .id = "a"});
      recorder.wrote(Instant{1'000}, Instant{100'999});
      recorder.event({.number = 3, .tokens = 1, .at = Instant{1'000}});
      recorder.wrote(Instant{200'000}, Instant{300'000});
      recorder.event({.number = 3, .tokens = 1, .at = Instant{200'000}});
    }
    (*log)->close();
    const auto truth = read_truth_log(path);
    ASSERT_TRUE(truth);
    ASSERT_EQ(truth->replies.size(), 1u);
    EXPECT_EQ(truth->replies[0].events.size(), 2u);
    ASSERT_EQ(truth->holds.size(), holds == TruthHolds::recorded ? 1u : 0u);
    if (holds == TruthHolds::left_out) continue;
    EXPECT_EQ(truth->holds[0].thread, 7);
    EXPECT_EQ(truth->holds[0].from, Instant{200'000});
    EXPECT_EQ(truth->holds[0].until, Instant{300'000});
  }
  std::filesystem::remove(path);
}

TEST(Endpoint, holds_need_a_truth_log) {
  EndpointOptions options = options_of();
  options.truth_holds = true;
  const auto refused = check(options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--truth-log"));
  options.truth_log = scratch("wanted.log");
  EXPECT_TRUE(check(options));
}

TEST(Endpoint, what_exceeds_the_concurrency_waits_in_line) {
  const std::string path = scratch("line.log");
  EndpointOptions options = options_of(4);
  options.truth_log = path;
  options.itl = sim::Delay::fixed(1_ms);
  options.concurrency = 1;
  const auto endpoint = serve(options);
  std::vector<TestClient> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(endpoint->url());
  for (TestClient& client : clients) client.post(kChat, kStream);
  for (TestClient& client : clients) EXPECT_EQ(client.reply().events.size(), 6u);
  endpoint->stop();
  auto truth = read_truth_log(path);
  ASSERT_TRUE(truth);
  auto& replies = truth->replies;
  ASSERT_EQ(replies.size(), 4u);
  for (std::size_t i = 1; i < replies.size(); ++i) {
    EXPECT_GE(replies[i].events.front().at, replies[i - 1].events[3].at);
  }
  std::filesystem::remove(path);
}

TEST(Endpoint, events_leave_together_and_the_end_with_the_last_of_them) {
  const std::string path = scratch("together.log");
  EndpointOptions options = options_of(6);
  options.truth_log = path;
  options.events_per_write = 4;
  const auto endpoint = serve(options);
  TestClient client(endpoint->url());
  const Exchange exchange = client.ask(kChat, kStreamUsage);
  EXPECT_EQ(exchange.ending, Ending::complete);
  EXPECT_EQ(exchange.events.size(), 9u);
  EXPECT_EQ(client.ask(kChat, kPlain).json()["choices"][0]["message"]["content"].as_string(),
            exchange.said());
  endpoint->stop();
  EXPECT_EQ(endpoint->summary().served, 2u);
  const auto truth = read_truth_log(path);
  ASSERT_TRUE(truth);
  const auto& events = truth->replies.at(0).events;
  ASSERT_EQ(events.size(), 9u);
  for (std::size_t i = 1; i < 9; ++i) {
    EXPECT_EQ(events[i].at == events[i - 1].at, i != 4) << i;
  }
  std::filesystem::remove(path);
}

TEST(Endpoint, metrics_count_what_happened) {
  const auto endpoint = serve(options_of());
  TestClient client(endpoint->url());
  client.ask(kChat, kStream);
  client.ask(kChat, kPlain);
  const std::string page = client.get("/metrics").body;
  EXPECT_THAT(page, HasSubstr(R"(vllm:generation_tokens_total{engine="0",model_name="assay"} 16)"));
  EXPECT_THAT(page, HasSubstr(R"(model_name="assay",finished_reason="stop"} 2)"));
  EXPECT_THAT(page, HasSubstr(R"(vllm:num_requests_running{engine="0",model_name="assay"} 0.0)"));
  EXPECT_THAT(page, HasSubstr(R"(_seconds_bucket{engine="0",model_name="assay",le="+Inf"} 2)"));
}

TEST(Endpoint, a_client_that_leaves_frees_its_place) {
  EndpointOptions options = options_of(1'000'000);
  options.itl = sim::Delay::fixed(1_ms);
  options.concurrency = 1;
  const auto endpoint = serve(options);
  TestClient other(endpoint->url());
  {
    TestClient client(endpoint->url());
    client.post(kChat, kStream);
    other.get("/health");
  }
  // Served only when the first request has ended.
  const std::string_view body =
      R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":2,"stream":true})";
  EXPECT_EQ(other.ask(kChat, body).events.size(), 4u);
  endpoint->stop();
  EXPECT_EQ(endpoint->summary().gone, 1u);
  EXPECT_EQ(endpoint->summary().served, 1u);
}

TEST(Endpoint, a_slow_reader_gets_all_of_a_long_stream) {
  const std::string path = scratch("slow.log");
  EndpointOptions options = options_of(100'000);
  options.truth_log = path;
  const auto endpoint = serve(options);
  TestClient client(endpoint->url());
  client.post(kChat, kStream);
  // Reads nothing until all is written: more than the kernel's buffers hold.
  TestClient other(endpoint->url());
  while (other.get("/metrics").body.find("} 100000\n") == std::string::npos) {
  }
  const Exchange exchange = client.reply();
  EXPECT_EQ(exchange.ending, Ending::complete);
  EXPECT_EQ(exchange.events.size(), 100'002u);
  endpoint->stop();
  const auto truth = read_truth_log(path);
  ASSERT_TRUE(truth);
  ASSERT_EQ(truth->replies.size(), 1u);
  const auto& events = truth->replies[0].events;
  ASSERT_EQ(events.size(), 100'002u);
  EXPECT_EQ(truth->replies[0].end.tokens, 100'000u);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(),
                             [](const auto& a, const auto& b) { return a.at < b.at; }));
  std::filesystem::remove(path);
}

TEST(Endpoint, pipelined_requests_and_old_clients) {
  const auto endpoint = serve(options_of(2));
  TestClient client(endpoint->url());
  for (int i = 0; i < 20; ++i) client.post(kChat, i % 2 == 0 ? kStream : kPlain);
  for (int i = 0; i < 20; ++i) {
    const Exchange exchange = client.reply();
    EXPECT_EQ(exchange.ending, Ending::complete);
    EXPECT_EQ(exchange.events.size(), i % 2 == 0 ? 4u : 0u);
  }
  TestClient old(endpoint->url());
  old.send(
      format("POST {} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", kChat, kStream.size(), kStream));
  const Exchange exchange = old.reply();
  EXPECT_THAT(exchange.raw, testing::StartsWith("HTTP/1.0 200"));
  EXPECT_THAT(exchange.raw, Not(HasSubstr("chunked")));
  EXPECT_EQ(exchange.events.size(), 4u);
}

TEST(Endpoint, several_threads_and_a_unix_socket) {
  EndpointOptions options = options_of(3);
  options.threads = 2;
  options.unix_path = scratch("endpoint.sock");
  const auto endpoint = serve(options);
  EXPECT_EQ(endpoint->url(), "http+unix://" + options.unix_path);
  for (int i = 0; i < 20; ++i) {
    TestClient client(endpoint->url());
    EXPECT_EQ(client.ask(kChat, kStream).events.size(), 5u);
  }
  endpoint->stop();
  EXPECT_EQ(endpoint->summary().served, 20u);
  EXPECT_FALSE(std::filesystem::exists(options.unix_path));
}

TEST(Endpoint, threads_share_a_port) {
  EndpointOptions options = options_of(3);
  options.threads = 3;
  const auto endpoint = serve(options);
  for (int i = 0; i < 30; ++i) {
    TestClient client(endpoint->url());
    EXPECT_EQ(client.ask(kChat, kStream).events.size(), 5u);
  }
  endpoint->stop();
  EXPECT_EQ(endpoint->summary().output_tokens, 90u);
}

// What a client can distinguish of many requests, by class.
std::map<std::string, std::uint64_t> observe(Endpoint& endpoint, std::string_view body, int count) {
  std::map<std::string, std::uint64_t> seen;
  for (int i = 0; i < count; ++i) {
    TestClient client(endpoint.url());
    const Exchange exchange = client.ask(kChat, body);
    const bool done = !exchange.events.empty() && exchange.events.back() == "[DONE]";
    if (exchange.status >= 400) {
      ++seen[format("http{}", exchange.status)];
    } else if (exchange.ending == Ending::reset) {
      ++seen["reset"];
    } else if (exchange.ending == Ending::closed) {
      ++seen["truncate"];
    } else if (exchange.body.find("aborted by the server") != std::string::npos) {
      ++seen["error"];
    } else if (exchange.events.empty() ? exchange.body.ends_with('}') : done) {
      ++seen["served"];
    } else {
      ++seen["garbage"];
    }
  }
  return seen;
}

TEST(Endpoint, faults_are_counted_as_the_client_sees_them) {
  for (const std::string_view body : {kStream, kPlain}) {
    const std::string path = scratch("faults.log");
    EndpointOptions options = options_of(6);
    options.truth_log = path;
    ASSERT_TRUE(
        options.faults.add("reset=0.1,truncate=0.1,http500=0.1,http429=0.1,error=0.1,garbage=0.1"));
    const auto endpoint = serve(options);
    auto seen = observe(*endpoint, body, 300);
    endpoint->stop();
    const EndpointSummary sum = endpoint->summary();
    EXPECT_EQ(sum.requests, 300u);
    EXPECT_EQ(sum.requests, sum.served + sum.gone + sum.rejected + sum.faulted);
    EXPECT_EQ(sum.served, seen["served"]);
    for (const auto& [name, injected] : sum.faults) {
      EXPECT_EQ(injected, seen[name]) << name;
      EXPECT_GT(injected, 10u) << name;
    }
    const auto truth = read_truth_log(path);
    ASSERT_TRUE(truth);
    std::map<std::string, std::uint64_t> logged;
    for (const TruthReply& reply : truth->replies) {
      ++logged[reply.end.outcome == TruthOutcome::faulted ? to_string(reply.request.fault)
                                                          : "served"];
    }
    EXPECT_EQ(logged, seen);
    std::filesystem::remove(path);
  }
}

TEST(Endpoint, the_same_seed_gives_the_same_faults_and_lengths) {
  std::vector<std::string> stories;
  for (const std::uint64_t seed : {7u, 7u, 8u}) {
    EndpointOptions options = options_of();
    options.osl = *dataset::parse_length("uniform:1-50");
    options.seed = seed;
    ASSERT_TRUE(options.faults.add("http500=0.3,truncate=0.2"));
    const auto endpoint = serve(options);
    std::string story;
    for (int i = 0; i < 30; ++i) {
      TestClient client(endpoint->url());
      const Exchange exchange =
          client.ask(kChat, R"({"messages":[{"role":"user","content":"hi"}],"stream":true})");
      story += format("{}:{} ", exchange.status, exchange.events.size());
    }
    stories.push_back(story);
  }
  EXPECT_EQ(stories[0], stories[1]);
  EXPECT_NE(stories[0], stories[2]);
}

TEST(Endpoint, a_stall_lasts_until_the_client_leaves) {
  EndpointOptions options = options_of();
  ASSERT_TRUE(options.faults.add("stall=1"));
  const auto endpoint = serve(options);
  {
    TestClient client(endpoint->url());
    client.post(kChat, kStream);
    TestClient other(endpoint->url());
    while (other.get("/metrics").body.find("} 4\n") == std::string::npos) {  // half of its tokens
    }
  }
  TestClient(endpoint->url()).get("/health");
  endpoint->stop();
  // It left before or during the stall; in both cases nothing was served.
  EXPECT_EQ(endpoint->summary().faulted + endpoint->summary().gone, 1u);
  EXPECT_EQ(endpoint->summary().served, 0u);
}

TEST(Endpoint, what_cannot_be_opened_says_why) {
  EndpointOptions options = options_of();
  const auto first = serve(options);
  options.port =
      static_cast<std::uint16_t>(*parse_uint(first->url().substr(first->url().rfind(':') + 1)));
  const auto second = Endpoint::open(options);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen on 127.0.0.1"));
  options.port = 0;
  options.truth_log = "/proc/no/such/log";
  EXPECT_FALSE(Endpoint::open(options));
}

}  // namespace
}  // namespace assay::endpoint
