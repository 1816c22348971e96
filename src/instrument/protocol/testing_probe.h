// For the room's own tests: an endpoint's answers to a probe, as recorded.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "protocol/probe.h"

namespace assay::protocol {

inline constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nServer: uvicorn\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    "Transfer-Encoding: chunked\r\n\r\n";

// A recorded reply: each text is one read, 10 ms after the one before; the first comes 50 ms after
// the query.
inline Recording recorded(std::vector<std::string> reads,
                          Recording::Ending ending = Recording::Ending::open) {
  Recording out;
  out.sent = Instant{} + 1_s;
  Instant at = out.sent + 50_ms;
  for (std::string& bytes : reads) {
    out.reads.push_back({at, std::move(bytes)});
    at = at + 10_ms;
  }
  out.ending = ending;
  out.ended = at;
  return out;
}

inline std::string probe_chunk(std::string_view data) {
  return format("{:x}\r\n{}\r\n", data.size(), data);
}
inline std::string sse(std::string_view json) { return probe_chunk(format("data: {}\n\n", json)); }
inline std::string probe_delta(std::string_view members, std::string_view finish = "null") {
  return format(R"({{"choices":[{{"index":0,"delta":{{{}}},"finish_reason":{}}}]}})", members,
                finish);
}
inline const std::string kRole = sse(probe_delta(R"("role":"assistant","content":"")"));
inline const std::string kProbeFinish = sse(probe_delta("", R"("length")"));
inline const std::string kProbeUsage =
    sse(R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}})");
inline const std::string kProbeDone = sse("[DONE]") + "0\r\n\r\n";
inline std::string probe_word(std::string_view text) {
  return sse(probe_delta(format(R"("content":"{}")", text)));
}
inline const std::vector<std::string> kWords = {probe_word("One"), probe_word(" two"),
                                                probe_word(" three"), probe_word(" four")};

// The head, then `parts`, each in a read of its own.
inline std::vector<std::string> probe_stream(std::vector<std::string> parts,
                                             std::string_view head = kStreamHead) {
  parts.insert(parts.begin(), std::string(head));
  return parts;
}
inline std::vector<std::string> whole_stream(std::string_view head = kStreamHead) {
  auto parts = kWords;
  parts.push_back(kProbeFinish);
  parts.push_back(kProbeUsage);
  parts.push_back(kProbeDone);
  return probe_stream(parts, head);
}

inline std::string plain_body(
    std::string_view usage = R"({"prompt_tokens":9,"completion_tokens":4})") {
  return format(R"({{"choices":[{{"message":{{"role":"assistant","content":"Hi"}},)"
                R"("finish_reason":"length"}}],"usage":{}}})",
                usage);
}
inline std::string probe_plain(std::string_view body, std::string_view type = "application/json",
                               std::string_view status = "200 OK") {
  return format("HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}", status, type,
                body.size(), body);
}

inline ProbeAnswers sane() {
  ProbeAnswers out;
  out.model = "m";
  out.models_asked = true;
  out.models_status = 200;
  out.models = {"m"};
  out.connect_time = 85_us;
  out.tokens_max = 32;
  out.streamed = recorded(whole_stream());
  out.plain_asked = true;
  out.plain_on_same_connection = true;
  out.plain = recorded({probe_plain(plain_body())});
  return out;
}

inline ProbeQuestion probe_question() {
  ProbeQuestion out;
  out.url = "http://h:8000";
  return out;
}

// One line each: "bad usage: …".
inline std::string findings(const ProbeAnswers& answers,
                            const ProbeQuestion& asked = probe_question()) {
  std::string out;
  for (const ProbeFinding& finding : find(asked, answers).findings) {
    out += format("{} {}: {}\n", to_string(finding.verdict), finding.topic, finding.text);
  }
  return out;
}

inline std::string with_stream(std::vector<std::string> reads,
                               Recording::Ending ending = Recording::Ending::open) {
  ProbeAnswers answers = sane();
  answers.streamed = recorded(std::move(reads), ending);
  return findings(answers);
}
inline std::string with_plain(std::string reply) {
  ProbeAnswers answers = sane();
  answers.plain = recorded({std::move(reply)});
  return findings(answers);
}

}  // namespace assay::protocol
