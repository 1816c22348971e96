// The words of a probe about drawn endpoints: any mix of faults that a finding names, at any pace.
#include <gtest/gtest.h>

#include "base/testing_drawn.h"
#include "base/testing_golden.h"
#include "protocol/testing_probe.h"

namespace assay::protocol {
namespace {

class DrawnProbe : Drawn {
 public:
  using Drawn::Drawn;

  ProbeQuestion question() {
    ProbeQuestion out = probe_question();
    if (one_in(3)) out.model = "m";
    if (one_in(4)) out.api_key = "k-0123456789";
    out.insecure = one_in(4);
    return out;
  }

  ProbeAnswers answers() {
    ProbeAnswers out = sane();
    if (one_in(6)) out.api = Api::sglang;
    if (one_in(3)) out.tls_version = "TLSv1.3";
    out.connect_time = 1_us * static_cast<std::int64_t>(1 + rng_.below(100'000));
    out.tokens_max = one_in(4) ? 3 : 32;
    out.models_asked = !one_in(6);
    if (one_in(3)) out.models = pick<std::vector<std::string>>({{}, {"x"}, {"x", "m"}});
    out.models_status = pick<int>({0, 200, 503});
    out.streamed = one_in(8) ? refusal() : stream();
    out.plain_asked = !one_in(4);
    out.plain_on_same_connection = !one_in(4);
    out.plain = one_in(8) ? refusal() : plain();
    out.usage_refused = one_in(6);
    if (out.usage_refused) out.usage_refusal = "HTTP 400: no stream_options";
    if (one_in(4)) {
      for (const Api api : {Api::openai, Api::sglang, Api::ollama_chat}) {
        out.kinds.push_back({api, pick<int>({0, 200, 401, 404, 422})});
      }
    }
    return out;
  }

 private:
  Recording stream() {
    const auto server = pick<std::string>({"", "Server: uvicorn\r\n"});
    const auto version = pick<std::string>({"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"});
    std::string head = version + " 200 OK\r\n" + server;
    if (!one_in(6)) head += "Content-Type: text/event-stream\r\n";
    if (one_in(20)) head += "Content-Encoding: gzip\r\n";
    const bool chunked = !head.starts_with("HTTP/1.0") && !one_in(8);
    if (chunked) head += "Transfer-Encoding: chunked\r\n";
    if (one_in(8)) head += "Connection: close\r\n";
    std::vector<std::string> events;
    const auto event = [&](std::string_view data) { events.push_back(format("data: {}", data)); };
    if (one_in(3)) event(probe_delta(R"("role":"assistant")"));
    if (one_in(6)) event(R"({"type":"ping"})");
    const std::uint64_t words = one_in(10) ? 0 : 1 + rng_.below(9);
    const bool counts_each = one_in(6);
    for (std::uint64_t i = 0; i < words; ++i) {
      const std::string name = one_in(5) ? "reasoning_content" : "content";
      const std::string word = pick<std::string>({"one ", "two", "\xE2\x82", "\xAC", "\\n"});
      std::string data = probe_delta(format(R"("{}":"{}")", name, word));
      if (counts_each) {
        data.insert(data.size() - 1, format(R"(,"usage":{{"completion_tokens":{}}})", i + 1));
      }
      event(data);
      if (one_in(12)) events.emplace_back(": keep-alive");
    }
    if (one_in(10)) event("{\"choices\":[{");
    if (one_in(10)) event(R"({"error":{"message":"engine \u001b died"}})");
    if (!one_in(6)) event(probe_delta("", R"("stop")"));
    const std::uint64_t said = one_in(2) ? words : rng_.below(40);
    if (!one_in(5)) {
      event(
          format(R"({{"choices":[],"usage":{{"prompt_tokens":9,"completion_tokens":{}}}}})", said));
    }
    if (!one_in(6)) event("[DONE]");
    if (one_in(10)) event(R"({"choices":[]})");
    const std::string end = one_in(8) ? "\r\n\r\n" : "\n\n";
    std::vector<std::string> reads{head + "\r\n"};
    const bool gathers = one_in(4);
    const bool broken = one_in(8);
    for (std::size_t i = 0; i < events.size() && !(broken && i > 3); ++i) {
      const std::string bytes = events[i] + end;
      const bool joined = reads.size() > 1 && (gathers ? !one_in(4) : one_in(10));
      if (!joined) reads.emplace_back();
      reads.back() += chunked ? probe_chunk(bytes) : bytes;
    }
    if (chunked && !broken) (one_in(3) ? reads.emplace_back() : reads.back()) += "0\r\n\r\n";
    return paced(std::move(reads), chunked && !broken);
  }

  Recording paced(std::vector<std::string> reads, bool whole) {
    Recording out = recorded(std::move(reads));
    const Duration usual = pick<Duration>({1_ms, 6_ms, 30_ms});
    Instant at = out.sent + pick<Duration>({3_ms, 99_ms, 101_ms, 3_s});
    for (RecordedRead& read : out.reads) {
      read.at = at;
      at = at + (one_in(8) ? pick<Duration>({0_ms, 26_ms, 201_ms, 2_s}) : usual);
    }
    using Ending = Recording::Ending;
    out.ending = whole ? pick<Ending>({Ending::open, Ending::closed})
                       : pick<Ending>({Ending::closed, Ending::reset, Ending::timed_out});
    out.ended = at;
    return out;
  }

  Recording refusal() {
    if (one_in(3)) {
      using Ending = Recording::Ending;
      return recorded({}, pick<Ending>({Ending::closed, Ending::reset, Ending::timed_out}));
    }
    return recorded({pick<std::string>(
        {probe_plain(R"({"error":{"message":"no key"}})", "application/json", "401 No"),
         probe_plain(R"({"detail":"Not Found"})", "application/json", "404 No"),
         "HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
         "HTTP/1.1 302 Found\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n",
         "SSH-2.0-OpenSSH_9.2\r\n\r\n"})});
  }

  Recording plain() {
    const std::string body = pick<std::string>(
        {plain_body(), plain_body(), plain_body("null"),
         plain_body(R"({"prompt_tokens":5,"completion_tokens":99})"),
         R"({"choices":[{"message":{"content":""}}]})", R"({"error":"busy"})", "<html>no</html>"});
    std::string reply = probe_plain(body, pick<std::string>({"application/json", "text/plain"}));
    if (one_in(10)) reply.resize(reply.size() - 1);
    return paced({reply}, true);
  }
};

TEST(ProbeTable, what_is_said_of_drawn_endpoints_is_what_was_read) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    DrawnProbe drawn(seed);
    const ProbeQuestion question = drawn.question();
    const ProbeReport report = find(question, drawn.answers());
    table += format("{}: {}", seed, to_text(report));
    if (seed > 8) continue;
    const Json json = to_json(report);
    table += format("{}\n{}\n", json["streamed"].dump(), json["plain"].dump());
  }
  expect_golden("protocol/probe.txt", table);
}

}  // namespace
}  // namespace assay::protocol
