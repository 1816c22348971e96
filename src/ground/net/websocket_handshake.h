// WebSocket's opening handshake (RFC 6455, 4): a request that asks for the protocol, and the 101
// that proves with a hash of the request's key that the server speaks it.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http1_request.h"

namespace assay::net {

// A key of 16 bytes of the system's random source, in base64.
std::string new_websocket_key();
// What the server answers to a key.
std::string websocket_accept(std::string_view key);

// The headers that ask for a WebSocket, behind the others of a GET: with the blank line.
std::string websocket_request_headers(std::string_view key);

// The client's half: reads the server's answer.
class ClientHandshake {
 public:
  static constexpr std::size_t kHeadMax = std::size_t{64} << 10;
  static constexpr std::size_t kBodyMax = std::size_t{4} << 10;

  explicit ClientHandshake(std::string_view key) : accept_(websocket_accept(key)) {}

  enum class State : std::uint8_t { reading, open, refused };
  // Takes bytes from the front of `bytes`; behind an open handshake the rest is frames. A refusal
  // is known with its head; what came of its body in the same bytes is kept.
  State feed(std::string_view& bytes);
  State state() const { return state_; }
  std::uint16_t status() const { return status_; }  // of the answer; 0: none yet
  // Why it was refused: what is wrong with the answer; "" where the server answered with another
  // status, whose body is in body().
  std::string_view error() const { return error_; }
  std::string_view body() const { return body_; }

 private:
  State check(std::string_view head);
  State refuse(std::string_view why);

  std::string accept_;
  std::string head_{};
  std::string body_{};
  std::string error_{};
  std::uint16_t status_ = 0;
  State state_ = State::reading;
};

// The server's half: the head of the 101 for a request, in `out`, or why it is none of WebSocket.
// `wants`: the request asks for a WebSocket at all.
bool wants_websocket(const RequestHead& head);
enum class Upgrade : std::uint8_t { accepted, bad_request, bad_version };
Upgrade answer_websocket(const RequestHead& head, std::string& out);

}  // namespace assay::net
