// WebSocket (RFC 6455): frames in and out, for both sides. Incremental: the messages do not depend
// on how the bytes are cut (property test and fuzzer).
//
// A whole message that came in one frame, unmasked and in one piece, is passed as a view into that
// piece, without a copy. Others are gathered within a memory budget. In both cases
// kWebSocketPadding bytes behind the message may be read, if the caller keeps as many readable
// behind each piece that it feeds. No extension is offered, so a reserved bit is an error.
//
// One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory_budget.h"

namespace assay::net {

inline constexpr std::size_t kWebSocketPadding = BudgetedText::kPadding;
inline constexpr std::size_t kWebSocketMessageMax = std::size_t{64} << 20;
inline constexpr std::size_t kControlPayloadMax = 125;

enum class WebSocketSide : std::uint8_t { client, server };

// The codes of a close that we send or ask for (RFC 6455, 7.4.1).
inline constexpr std::uint16_t kCloseNormal = 1000;
inline constexpr std::uint16_t kCloseGoingAway = 1001;
inline constexpr std::uint16_t kCloseProtocolError = 1002;
inline constexpr std::uint16_t kCloseNoCode = 1005;  // never sent: a close without a code
inline constexpr std::uint16_t kCloseBadText = 1007;
inline constexpr std::uint16_t kCloseTooBig = 1009;

// What a reader finds, in the order of the wire. Control frames inside a fragmented message come
// before it. The views end when the call returns.
class WebSocketEvents {
 public:
  // `behind`: bytes of the same feed() that follow the message's last frame.
  virtual void on_message(bool text, std::string_view data, std::size_t behind) = 0;
  virtual void on_ping(std::string_view payload) = 0;
  virtual void on_pong(std::string_view payload) = 0;
  // The peer's last frame. `code`: kCloseNoCode where it gave none.
  virtual void on_close(std::uint16_t code, std::string_view reason) = 0;

 protected:
  ~WebSocketEvents() = default;
};

class WebSocketReader {
 public:
  // `side`: ours; it decides which frames must be masked. `budget`: for gathered messages; null: no
  // limit but `message_max`, the longest message.
  explicit WebSocketReader(WebSocketSide side, MemoryBudget* budget = nullptr,
                           std::size_t message_max = kWebSocketMessageMax)
      : side_(side), message_max_(message_max), message_(budget) {}

  // False when the peer broke the protocol or a limit; nothing more is read then. Bytes behind a
  // close are ignored.
  bool feed(std::string_view bytes, WebSocketEvents& events);

  // What was wrong, for a person; "" if nothing was. And the code for our close.
  std::string_view error() const { return error_; }
  std::uint16_t close_code() const { return code_; }
  bool no_room() const { return no_room_; }  // only the memory budget was in the way
  bool closed() const { return closed_; }    // the peer's close came

 private:
  static constexpr std::size_t kHeadMax = 14;

  std::size_t head_size() const;
  bool take_head(std::string_view& bytes);
  bool begin_frame();
  void read_length();
  bool take_payload(std::string_view& bytes, WebSocketEvents& events);
  bool gather(std::string_view piece);
  bool end_data_frame(std::size_t behind, WebSocketEvents& events);
  bool end_control_frame(WebSocketEvents& events);
  bool end_close(WebSocketEvents& events);
  bool give(std::string_view message, std::size_t behind, WebSocketEvents& events);
  bool fail(std::uint16_t code, std::string_view why);
  bool is_control() const { return (opcode_ & 8) != 0; }

  WebSocketSide side_;
  std::size_t message_max_;
  std::array<unsigned char, kHeadMax> head_{};
  std::size_t head_bytes_ = 0;
  bool in_payload_ = false;
  bool final_ = false;
  std::uint8_t opcode_ = 0;
  std::uint64_t left_ = 0;      // of the frame's payload
  std::array<char, 4> mask_{};  // of the frame, if it is masked
  std::size_t mask_at_ = 0;     // payload bytes of the frame so far
  bool masked_ = false;
  std::uint8_t message_opcode_ = 0;  // of the message in fragments; 0: none is open
  BudgetedText message_;
  std::string control_{};
  std::string error_{};
  std::uint16_t code_ = 0;
  bool no_room_ = false;
  bool closed_ = false;
};

enum class FrameType : std::uint8_t {
  more = 0,  // of a message in fragments
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

// Writes frames for one side. A client masks each frame with fresh bytes of the system's random
// source, so that no page of a server can choose what stands on the wire.
class WebSocketWriter {
 public:
  explicit WebSocketWriter(WebSocketSide side) : side_(side) {}

  // Appends a frame; `final`: the message ends with it. REQUIRES: a control frame's payload is at
  // most kControlPayloadMax.
  void frame(std::string& out, FrameType type, std::string_view payload, bool final = true);
  // Appends a text message whose payload is `first` and `second`, one behind the other.
  void text(std::string& out, std::string_view first, std::string_view second = {});
  // A reason that is too long is cut. kCloseNoCode: without a code.
  void close(std::string& out, std::uint16_t code, std::string_view reason = {});

 private:
  void head(std::string& out, FrameType type, std::size_t size, bool final);
  void payload(std::string& out, std::string_view bytes, std::size_t from);
  void next_mask();

  WebSocketSide side_;
  std::array<char, 4> mask_{};
  std::string masks_{};  // random bytes for the next frames
};

// The head of a server's frame: it is not masked. Returns its size.
inline constexpr std::size_t kServerFrameHeadMax = 10;
std::size_t put_server_frame_head(char* out, FrameType type, std::size_t size, bool final);

}  // namespace assay::net
