// What one event of a stream costs from the read on, one event a read, as it comes in chunks of
// HTTP/1.1 and as messages of a WebSocket: framing, decoding, the exchange and a sink.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "domain/quiet_sink.h"
#include "net/websocket.h"
#include "net/websocket_handshake.h"
#include "protocol/transport.h"

namespace assay::protocol {
namespace {

constexpr int kEvents = 4096;

struct Count final : QuietSink {
  std::uint64_t events = 0;
  Outcome outcome = Outcome::reset;
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override { ++events; }
  void on_done(const Event& event, std::string_view) override { outcome = event.outcome; }
};

struct Reads {
  std::string head{};
  std::vector<std::string> events{};
};

std::string chunk(std::string_view data) {
  const std::string event = format("data: {}\n\n", data);
  return format("{:x}\r\n{}\r\n", event.size(), event);
}
std::string message(std::string_view data) {
  std::string out;
  net::WebSocketWriter(net::WebSocketSide::server).text(out, data);
  return out;
}

Reads reads_of(Api api) {
  Reads out;
  out.head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < kEvents; ++i) {
    switch (api) {
      case Api::realtime:
        out.events.push_back(message(
            format(R"({{"type":"response.output_text.delta","event_id":"event_CdQ0a1b2c3_{}",)"
                   R"("response_id":"resp_CdQ0a1b2c3d4e5f607","item_id":"item_CdQ0a1b2c3d4e5f607",)"
                   R"("output_index":0,"content_index":0,"delta":" brown"}})",
                   i)));
        break;
      case Api::openai_responses:
        out.events.push_back(
            chunk(format(R"({{"type":"response.output_text.delta","sequence_number":{},)"
                         R"("item_id":"msg_CdQ0a1b2c3d4e5f607","output_index":0,)"
                         R"("content_index":0,"delta":" brown","logprobs":[]}})",
                         i)));
        break;
      default:
        out.events.push_back(chunk(
            R"({"id":"chatcmpl-0a1b2c3d4e5f60718293a4b5c6d7e8f9","object":"chat.completion.chunk",)"
            R"("created":1763650000,"model":"m","choices":[{"index":0,"delta":{"content":" brown"},)"
            R"("logprobs":null,"finish_reason":null}]})"));
    }
  }
  if (api == Api::realtime) {
    out.events.push_back(message(R"({"type":"response.done","response":{"status":"completed"}})"));
  } else if (api == Api::openai_responses) {
    out.events.push_back(
        chunk(R"({"type":"response.completed","response":{"status":"completed","output":[]}})") +
        "0\r\n\r\n");
  } else {
    out.events.push_back(chunk("[DONE]") + "0\r\n\r\n");
  }
  for (std::string& event : out.events) event.reserve(event.size() + kDecodePadding);
  return out;
}

// The 101 for the handshake that the transport has to send.
std::string opening(Transport& transport) {
  std::string sent;
  for (std::string_view bytes = transport.output(); !bytes.empty(); bytes = transport.output()) {
    sent += bytes;
  }
  net::RequestHead head;
  std::size_t searched = 0;
  CHECK(net::parse_request_head(sent, 4096, searched, head).status == net::ReadStatus::ready);
  std::string out;
  CHECK(net::answer_websocket(head, out) == net::Upgrade::accepted);
  return out;
}

void BM_events(benchmark::State& bench, Api api) {
  const Plan plan{.phases = {PhasePlan{.order = SampleOrder::sequential(1)}}};
  std::vector<PlannedDataset> datasets(1);
  datasets[0].dataset.samples.push_back(Sample{.prompt = "hello"});
  Endpoints endpoints{.urls = {"http://127.0.0.1:1"}, .api = api};
  auto bodies = PreparedBodies::make(plan, datasets, endpoints);
  CHECK(bodies);
  Lane lane;
  TransportShared shared(1, nullptr);
  shared.requests =
      PreparedRequests(std::make_shared<const PreparedBodies>(std::move(*bodies)), plan);
  Count count;
  shared.sink = &count;
  const Reads reads = reads_of(api);
  Slot slot(nullptr);
  Instant now = Instant{} + 1000_s;
  for (auto _ : bench) {
    const auto transport = api == Api::realtime ? make_socket_transport(lane, shared)
                                                : make_http1_transport(lane, shared);
    const auto feed = [&](const std::string& bytes) {
      now = now + 1_us;
      transport->feed(bytes, 0, {.arrival = now, .read = now});
    };
    if (api == Api::realtime) feed(opening(*transport));
    const Query query{};
    slot.exchange.begin(query, now, 0, shared.requests.asked(query));
    lane.active.push_back(&slot);
    Pieces request;
    transport->begin(slot, now, false, &request);
    if (api != Api::realtime) feed(reads.head);
    for (const std::string& event : reads.events) feed(event);
    CHECK(count.outcome == Outcome::ok && shared.ended.size() == 1);
    lane.active.clear();
    lane.going_out.clear();
    shared.ended.clear();
    shared.framing_deadlines.clear();
  }
  bench.counters["events_per_s"] = benchmark::Counter(
      static_cast<double>(bench.iterations()) * kEvents, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(BM_events, sse_of_chat, Api::openai);
BENCHMARK_CAPTURE(BM_events, sse_of_responses, Api::openai_responses);
BENCHMARK_CAPTURE(BM_events, messages_of_realtime, Api::realtime);

}  // namespace
}  // namespace assay::protocol
