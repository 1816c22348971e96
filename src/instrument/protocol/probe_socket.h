// ProbeTurn: one turn of a WebSocket for the probe, which looks at a reply as a stream of
// server-sent events: what a read brings becomes that stream, with the instants of the reads. A
// refused handshake stays the HTTP reply that it is.
//
// One thread.
#pragma once

#include <string>
#include <string_view>

#include "net/websocket.h"
#include "net/websocket_handshake.h"

namespace assay::protocol {

class ProbeTurn final : private net::WebSocketEvents {
 public:
  // `script`: the events to send once the WebSocket is open, a line an event (kind/realtime.cc); ""
  // to see only whether it opens. `beside`, `ends`: of the kind's events.
  using Says = bool (*)(std::string_view event);
  ProbeTurn(std::string script, Says beside, Says ends);

  // The request that opens it, behind `head` (socket_head() in codec.h).
  std::string opening(std::string_view head) const;
  // Turns a read into that stream, in place, and puts what is to be sent into `answer`.
  void take(std::string& bytes, std::string& answer);
  bool open() const { return open_; }

 private:
  void on_message(bool text, std::string_view data, std::size_t behind) override;
  void on_ping(std::string_view payload) override;
  void on_pong(std::string_view) override {}
  void on_close(std::uint16_t code, std::string_view reason) override;
  void tell(std::string_view event);
  void end();

  std::string key_ = net::new_websocket_key();
  net::ClientHandshake handshake_{key_};
  net::WebSocketReader reader_{net::WebSocketSide::client};
  net::WebSocketWriter writer_{net::WebSocketSide::client};
  std::string script_;
  Says beside_;
  Says ends_;
  std::string held_{};  // what came of the handshake's answer
  std::string told_{};
  std::string out_{};
  bool open_ = false;
  bool over_ = false;
};

}  // namespace assay::protocol
