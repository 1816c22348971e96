// RealtimeSession: one WebSocket of the realtime route: what its client has said, and the answers
// that are no response. The worker makes a response of a turn, and says when it is over.
//
// It speaks OpenAI's events without a detection of turns: a client commits its sound and asks for
// the response. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "endpoint/ask.h"
#include "net/websocket.h"

namespace assay::endpoint {

class RealtimeSession final : private net::WebSocketEvents {
 public:
  // `number` tells its ids from those of other sessions.
  RealtimeSession(std::uint64_t number, std::string_view model);

  // Takes the bytes of a read. Answers are in output(), and a turn that begins with them is asked.
  void feed(std::string_view bytes);
  // What is to be sent; the call removes it.
  std::string take_output();
  bool closing() const { return closing_; }  // the connection ends behind the output

  // A turn waits for its response.
  bool asked() const { return asked_; }
  // Its body, in the form of Responses, with kAskPadding readable bytes behind it, and its id.
  std::string_view turn_body() const { return turn_body_; }
  const std::string& turn_id() const { return turn_id_; }
  // What the body does not say of it.
  void complete(Ask& ask) const;
  // The worker takes the turn, and gives it back when its response is over.
  void begin_turn();
  void end_turn() { busy_ = false; }

  // An error event for the output.
  void error(const ApiError& error);

 private:
  void on_message(bool text, std::string_view data, std::size_t behind) override;
  void on_ping(std::string_view payload) override;
  void on_pong(std::string_view) override {}
  void on_close(std::uint16_t code, std::string_view reason) override;

  void on_event(const Json& event);
  void update(const Json& event);
  void append(const Json& event);
  void commit();
  void add_item(const Json& event);
  void create(const Json& event);
  void say(std::string_view type, Json members);
  void said_item(Json item);
  void close(std::uint16_t code, std::string_view reason);
  std::string next_id(std::string_view prefix);

  std::uint64_t number_;
  std::uint64_t ids_ = 0;
  std::string model_;
  net::WebSocketReader reader_;
  net::WebSocketWriter writer_{net::WebSocketSide::server};
  std::string out_{};
  Json session_{};
  Json items_ = Json::array();
  std::string asked_by_{};         // event_id of the event that is handled
  std::uint64_t heard_bytes_ = 0;  // appended and not yet committed
  std::uint64_t sound_bytes_ = 0;  // committed
  std::string turn_body_{};
  std::string turn_id_{};
  bool spoken_ = true;  // the turn's response is sound
  bool asked_ = false;
  bool busy_ = false;
  bool closing_ = false;
};

}  // namespace assay::endpoint
