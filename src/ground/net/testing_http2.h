// HTTP/2 frames as a server writes them, valid or broken, for tests and fuzzers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::net {

enum class Http2FrameType : std::uint8_t {
  data = 0,
  headers = 1,
  priority = 2,
  rst_stream = 3,
  settings = 4,
  push_promise = 5,
  ping = 6,
  goaway = 7,
  window_update = 8,
  continuation = 9,
};
inline constexpr std::uint8_t kEndStream = 1;
inline constexpr std::uint8_t kEndHeaders = 4;

inline std::string big_endian(std::uint32_t value, int bytes = 4) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}

inline std::string frame(Http2FrameType type, std::uint8_t flags, std::uint32_t stream,
                         std::string_view payload) {
  std::string out = big_endian(static_cast<std::uint32_t>(payload.size()), 3);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  out += big_endian(stream);
  out += payload;
  return out;
}

// A setting: its number in the RFC's table and its value.
inline std::string setting(std::uint16_t id, std::uint32_t value) {
  return big_endian(id, 2) + big_endian(value);
}
inline constexpr std::uint16_t kPush = 2;
inline constexpr std::uint16_t kConcurrentStreams = 3;
inline constexpr std::uint16_t kInitialWindow = 4;
inline constexpr std::uint16_t kFrameSize = 5;
inline constexpr std::uint16_t kHeadSize = 6;
// A connection's window before the first WINDOW_UPDATE.
inline constexpr std::uint32_t kFirstWindow = 65'535;

inline std::string settings(std::string_view list = {}) {
  return frame(Http2FrameType::settings, 0, 0, list);
}
inline std::string goaway(std::uint32_t last_stream, std::uint32_t error,
                          std::string_view words = {}) {
  return frame(Http2FrameType::goaway, 0, 0,
               big_endian(last_stream) + big_endian(error) + std::string(words));
}
inline std::string reset(std::uint32_t stream, std::uint32_t error) {
  return frame(Http2FrameType::rst_stream, 0, stream, big_endian(error));
}

// HPACK without the dynamic table and without Huffman: a literal field with a new name.
inline std::string literal(std::string_view name, std::string_view value) {
  const auto text = [](std::string_view words) {
    std::string out;
    std::size_t left = words.size();
    if (left < 127) {
      out += static_cast<char>(left);
    } else {
      out += static_cast<char>(127);
      for (left -= 127; left >= 128; left /= 128) out += static_cast<char>(left % 128 + 128);
      out += static_cast<char>(left);
    }
    return out += words;
  };
  return '\0' + text(name) + text(value);
}
inline const std::string kStatus200 = "\x88";

inline std::string head(std::uint32_t stream, std::string_view fields = kStatus200,
                        std::uint8_t flags = kEndHeaders) {
  return frame(Http2FrameType::headers, flags, stream, fields);
}
inline std::string data(std::uint32_t stream, std::string_view bytes, std::uint8_t flags = 0) {
  return frame(Http2FrameType::data, flags, stream, bytes);
}

}  // namespace assay::net
