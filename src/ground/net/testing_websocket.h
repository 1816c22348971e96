// For the tests and the fuzzer of WebSocket: what a reader finds as a story, and a slow twin that
// reads all frames at once, by the words of RFC 6455.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "net/websocket.h"

namespace assay::net {

struct Story : WebSocketEvents {
  std::string text{};

  void on_message(bool is_text, std::string_view data, std::size_t) override {
    text += format("{} {}\n", is_text ? "text" : "binary", data);
  }
  void on_ping(std::string_view payload) override { text += format("ping {}\n", payload); }
  void on_pong(std::string_view payload) override { text += format("pong {}\n", payload); }
  void on_close(std::uint16_t code, std::string_view reason) override {
    text += format("close {} {}\n", code, reason);
  }
};

inline std::string read_in_steps(WebSocketSide side, std::string_view bytes, std::size_t step,
                                 std::size_t message_max) {
  WebSocketReader reader(side, nullptr, message_max);
  Story story;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    // A copy of its own size, with the padding that callers owe.
    std::string piece(bytes.substr(at, step));
    const std::size_t size = piece.size();
    piece.append(kWebSocketPadding, '\xff');
    if (!reader.feed(std::string_view(piece).substr(0, size), story)) break;
  }
  if (!reader.error().empty()) story.text += format("failed {}\n", reader.close_code());
  return story.text;
}

// One frame of the twin.
struct TwinFrame {
  bool final = false;
  unsigned reserved = 0;
  unsigned opcode = 0;
  bool masked = false;
  std::uint64_t size = 0;
  bool shortest = true;
  std::string mask{};
  bool whole_head = false;
  std::string payload{};  // as far as it came, unmasked
};

inline TwinFrame twin_frame(std::string_view bytes, std::size_t& at) {
  TwinFrame f;
  const auto take = [&](std::size_t n) {
    const std::string_view out = bytes.substr(at, n);
    at += out.size();
    return out;
  };
  const auto number = [](std::string_view digits) {
    std::uint64_t out = 0;
    for (const char c : digits) out = out * 256 + static_cast<unsigned char>(c);
    return out;
  };
  const std::string_view two = take(2);
  if (two.size() < 2) return f;
  const auto b0 = static_cast<unsigned char>(two[0]);
  const auto b1 = static_cast<unsigned char>(two[1]);
  f.final = b0 / 128 == 1;
  f.reserved = b0 / 16 % 8;
  f.opcode = b0 % 16;
  f.masked = b1 / 128 == 1;
  f.size = b1 % 128;
  if (f.size >= 126) {
    const bool wide = f.size == 127;
    const std::string_view digits = take(wide ? 8 : 2);
    if (digits.size() < (wide ? 8u : 2u)) return f;
    f.size = number(digits);
    f.shortest = wide ? f.size > 65'535 && f.size < (std::uint64_t{1} << 63) : f.size > 125;
  }
  if (f.masked) {
    f.mask = take(4);
    if (f.mask.size() < 4) return f;
  }
  f.whole_head = true;
  f.payload = take(static_cast<std::size_t>(std::min<std::uint64_t>(f.size, bytes.size())));
  for (std::size_t i = 0; f.masked && i < f.payload.size(); ++i) {
    f.payload[i] = static_cast<char>(f.payload[i] ^ f.mask[i % 4]);
  }
  return f;
}

// The code of the failure that the frame's head is; 0: none. `open`: a message is in fragments.
inline int twin_fault(const TwinFrame& f, bool server, bool open, std::uint64_t left) {
  const bool control = f.opcode >= 8;
  const bool known = f.opcode <= 2 || (f.opcode >= 8 && f.opcode <= 10);
  if (f.reserved != 0 || !known || f.masked != server || !f.shortest) return 1002;
  if (control) return f.final && f.size <= 125 ? 0 : 1002;
  if ((f.opcode == 0) != open) return 1002;
  return f.size > left ? 1009 : 0;
}

inline std::string read_by_twin(WebSocketSide side, std::string_view bytes,
                                std::size_t message_max) {
  std::string out;
  std::string message;
  int opcode = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const TwinFrame f = twin_frame(bytes, at);
    if (!f.whole_head) break;
    const int fault =
        twin_fault(f, side == WebSocketSide::server, opcode != 0, message_max - message.size());
    if (fault != 0) return out + format("failed {}\n", fault);
    if (f.payload.size() < f.size) break;
    if (f.opcode == 9) out += format("ping {}\n", f.payload);
    if (f.opcode == 10) out += format("pong {}\n", f.payload);
    if (f.opcode == 8) {
      if (f.payload.empty()) return out + "close 1005 \n";
      if (f.payload.size() == 1) return out + "failed 1002\n";
      const int code =
          static_cast<unsigned char>(f.payload[0]) * 256 + static_cast<unsigned char>(f.payload[1]);
      const bool reserved = code < 1000 || code > 4999 || (code >= 1004 && code <= 1006) ||
                            (code >= 1015 && code <= 2999);
      if (reserved) return out + "failed 1002\n";
      const std::string reason = f.payload.substr(2);
      return out + (valid_utf8(reason) ? format("close {} {}\n", code, reason) : "failed 1007\n");
    }
    if (f.opcode >= 8) continue;
    if (f.opcode != 0) opcode = static_cast<int>(f.opcode);
    message += f.payload;
    if (!f.final) continue;
    if (opcode == 1 && !valid_utf8(message)) return out + "failed 1007\n";
    out += format("{} {}\n", opcode == 1 ? "text" : "binary", message);
    opcode = 0;
    message.clear();
  }
  return out;
}

}  // namespace assay::net
