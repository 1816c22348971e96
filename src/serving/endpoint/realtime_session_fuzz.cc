// Any lines as events of a realtime client, and any bytes behind them as frames: each line is
// answered with valid events, or makes a turn whose body the endpoint reads; the session ends where
// a frame breaks the protocol. The first byte chooses how many lines are sent as events.
#include "endpoint/realtime_session.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"

namespace assay::endpoint {
namespace {

// Checks what the session answers.
struct Answers : net::WebSocketEvents {
  std::size_t errors = 0;
  void on_message(bool text, std::string_view data, std::size_t) override {
    const auto event = Json::parse(data);
    CHECK(text && event && (*event)["type"].is_string());
    errors += (*event)["type"].as_string() == "error" ? 1 : 0;
  }
  void on_ping(std::string_view) override { CHECK(false); }
  void on_pong(std::string_view) override {}
  void on_close(std::uint16_t code, std::string_view) override { CHECK(code >= 1000); }
};

// A turn that waits is read as the endpoint reads it, and ended.
void end_turn(RealtimeSession& session) {
  static AskReader reader(false, nullptr);
  Ask ask;
  const std::string_view body = session.turn_body();
  CHECK(Json::parse(body));
  const auto read = reader.read(Route::realtime, body, ask);
  if (const auto* const error = std::get_if<ApiError>(&read)) {
    CHECK(error->status >= 400 && error->status < 500 && !error->message.empty());
  } else {
    session.complete(ask);
    CHECK(ask.speech.sample_rate >= 8'000);
  }
  session.begin_turn();
  CHECK(!session.asked());
  session.end_turn();
}

}  // namespace
}  // namespace assay::endpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace assay;
  using namespace assay::endpoint;
  if (size < 1) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  RealtimeSession session(7, "m");
  Answers answers;
  net::WebSocketWriter writer(net::WebSocketSide::client);
  net::WebSocketReader reader(net::WebSocketSide::client);
  const auto hear = [&](std::string_view bytes) {
    session.feed(bytes);
    CHECK(reader.feed(session.take_output(), answers));
    if (session.asked()) end_turn(session);
  };
  for (int lines = data[0] % 32; lines > 0 && !rest.empty(); --lines) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t errors = answers.errors;
    std::string frame;
    writer.frame(frame, net::FrameType::text, line);
    hear(frame);
    const auto event = Json::parse(line);
    // What is no event is refused; bytes that are no text end the session.
    CHECK((event && event->is_object()) || session.closing() || answers.errors > errors);
  }
  hear(rest);
  return 0;
}
