// Any bytes as an endpoint's answers to the probe's two queries: the results are a letter and JSON
// of valid text. The first bytes give the cuts of the reads and the endings of the replies.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

Recording recording(std::string_view bytes, std::size_t step, unsigned ending) {
  Recording out;
  out.sent = Instant{} + 1_s;
  Instant at = out.sent;
  for (std::size_t i = 0; i < bytes.size(); i += step) {
    at = at + 10_ms;
    out.reads.push_back({at, std::string(bytes.substr(i, step))});
  }
  out.ending = static_cast<Recording::Ending>(ending % 4);
  out.ended = at;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  // The stream's answer; after a zero byte, that of the plain query.
  const std::size_t zero = std::min(bytes.find('\0'), bytes.size());
  ProbeAnswers answers{.model = "m", .tokens_max = 32, .models_status = 200, .models = {"m"}};
  answers.api = static_cast<Api>(data[1] % 3);
  answers.streamed = recording(bytes.substr(0, zero), 1U + data[0] % 64U, data[2] % 4U);
  if (zero < bytes.size()) {
    answers.plain_asked = true;
    answers.plain = recording(bytes.substr(zero + 1), 1U + data[0], data[2] / 4U);
  }
  const ProbeReport report =
      find({.url = "http://h:1/v1/chat/completions", .api = answers.api}, answers);
  for (const ProbeFinding& finding : report.findings) CHECK(!finding.text.empty());
  CHECK(valid_utf8(to_text(report)));
  CHECK(Json::parse(to_json(report).dump()));
  return 0;
}

}  // namespace assay::protocol
