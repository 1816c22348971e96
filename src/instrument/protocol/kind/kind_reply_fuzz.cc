// The reply of any kind of API; the first byte chooses the kind, the second the cuts. The rest is a
// stream's body: however the bytes are cut, the same events come. Each line of it is also read as
// one event, by the learned template and by the whole grammar, and as a whole reply: both agree,
// and what simdjson accepts as an object is accepted.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "protocol/artefacts.h"
#include "protocol/kind/kind.h"
#include "protocol/recording.h"
#include "protocol/reply_twin.h"

namespace assay::protocol {
namespace {

void read_lines(Api api, std::string_view rest) {
  ReplyDecoder fast;
  ReplyDecoder slow;
  StreamState fast_state;
  StreamState slow_state;
  fast_state.api = slow_state.api = api;
  DecodedEvent fast_event;
  DecodedEvent slow_event;
  for (int events = 0; !rest.empty() && events < 64; ++events) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    std::string padded(line);
    padded.append(kDecodePadding, '\\');
    const std::string_view text(padded.data(), line.size());
    fast.decode(text, fast_state, fast_event);
    slow.decode_slowly(text, slow_state, slow_event);
    CHECK(fast_event.malformed == slow_event.malformed);
    CHECK(own(fast_event) == own(slow_event));
    CHECK(fast_event.ends == slow_event.ends);
    for (std::size_t i = 0; i < fast_event.fragment_count; ++i) {
      CHECK(!fast_event.fragments[i].text.empty());
    }
    if (slow_event.malformed && line.size() < 256 && !is_grpc(api)) {
      const auto json = Json::parse(line);
      CHECK(!json || !json->is_object());
    }
    if (const auto made = artefacts_of(api, line)) {
      for (const Artefact& one : *made) CHECK(has_artefacts(api) && !one.bytes.empty());
    }
    if (kind_of(api).job) CHECK(read_job(line).id.size() <= line.size());
    fast.decode_reply(api, text, fast_event);
    CHECK(!fast_event.ends && fast_event.malformed == slow_event.malformed);
  }
}

ReplyFacts read_cut(Api api, std::string_view body, std::size_t step) {
  const std::string head = kind_of(api).lines
                               ? "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
                               : "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  Recording recording{.ending = Recording::Ending::closed};
  recording.reads.push_back({.bytes = head});
  for (std::size_t at = 0; at < body.size(); at += step) {
    recording.reads.push_back({.bytes = std::string(body.substr(at, step))});
  }
  return read_recording(recording, api, true);
}

}  // namespace
}  // namespace assay::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto api = static_cast<assay::Api>(data[0] % (assay::kApis.size() - 1));
  const std::size_t step = 1 + data[1] % 16;
  // Whether a body is a stream of events is decided by its first bytes: they come in one piece.
  const std::string body =
      "data: {}\n\n" + std::string(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string_view rest = std::string_view(body).substr(10);
  assay::protocol::read_lines(api, rest);
  const std::string_view stream =
      assay::protocol::kind_of(api).lines ? rest : std::string_view(body);
  const auto whole =
      assay::protocol::read_cut(api, stream, std::max<std::size_t>(1, stream.size()));
  const auto cut = assay::protocol::read_cut(api, stream, step);
  CHECK(whole.events.size() == cut.events.size());
  CHECK(whole.text == cut.text && whole.reasoning == cut.reasoning);
  CHECK(whole.tool_calls == cut.tool_calls && whole.error == cut.error);
  CHECK(whole.finish == cut.finish && whole.usage == cut.usage);
  CHECK(whole.malformed == cut.malformed);
  return 0;
}
