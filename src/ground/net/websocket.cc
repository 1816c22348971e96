#include "net/websocket.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/secret.h"
#include "base/text.h"

namespace assay::net {
namespace {

constexpr std::uint8_t kFinalBit = 0x80;
constexpr std::uint8_t kReservedBits = 0x70;
constexpr std::uint8_t kMaskBit = 0x80;
constexpr std::size_t kShortMax = 125;
constexpr std::size_t kLength16 = 126;
constexpr std::size_t kLength64 = 127;
constexpr std::size_t kMaskBytes = 4;
constexpr std::size_t kMasksAhead = 64 * kMaskBytes;

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

// The codes that may stand in a close frame (RFC 6455, 7.4, and the registry behind it).
bool may_be_sent(std::uint16_t code) {
  if (code >= 3000) return code <= 4999;
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
}

void unmask(char* bytes, std::size_t size, const std::array<char, kMaskBytes>& mask,
            std::size_t at) {
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(bytes[i] ^ mask[(at + i) % kMaskBytes]);
  }
}

}  // namespace

bool WebSocketReader::fail(std::uint16_t code, std::string_view why) {
  code_ = code;
  error_ = why;
  return false;
}

bool WebSocketReader::feed(std::string_view bytes, WebSocketEvents& events) {
  if (!error_.empty()) return false;
  while (!closed_) {
    if (!in_payload_) {
      if (!take_head(bytes)) return error_.empty();
      if (!begin_frame()) return false;
    }
    if (bytes.empty() && left_ > 0) return true;
    if (!take_payload(bytes, events)) return false;
  }
  return true;
}

// The size of the head, as far as its bytes say.
std::size_t WebSocketReader::head_size() const {
  if (head_bytes_ < 2) return 2;
  const std::size_t length = head_[1] & 0x7f;
  const std::size_t more = length == kLength16 ? 2 : length == kLength64 ? 8 : 0;
  return 2 + more + ((head_[1] & kMaskBit) != 0 ? kMaskBytes : 0);
}

// False when the head is not whole yet.
bool WebSocketReader::take_head(std::string_view& bytes) {
  while (head_bytes_ < head_size()) {
    if (bytes.empty()) return false;
    const std::size_t count = std::min(bytes.size(), head_size() - head_bytes_);
    std::copy_n(bytes.begin(), count, head_.begin() + static_cast<std::ptrdiff_t>(head_bytes_));
    head_bytes_ += count;
    bytes.remove_prefix(count);
  }
  return true;
}

void WebSocketReader::read_length() {
  left_ = head_[1] & 0x7f;
  std::size_t at = 2;
  if (left_ >= kLength16) {
    const std::size_t size = left_ == kLength16 ? 2 : 8;
    left_ = 0;
    for (; at < 2 + size; ++at) left_ = left_ << 8 | head_[at];
  }
  masked_ = (head_[1] & kMaskBit) != 0;
  for (std::size_t i = 0; i < kMaskBytes; ++i) mask_[i] = static_cast<char>(head_[at + i]);
}

bool WebSocketReader::begin_frame() {
  const std::size_t said = head_[1] & 0x7f;
  read_length();
  final_ = (head_[0] & kFinalBit) != 0;
  opcode_ = head_[0] & 0x0f;
  head_bytes_ = 0;
  mask_at_ = 0;
  in_payload_ = true;
  if ((head_[0] & kReservedBits) != 0) {
    return fail(kCloseProtocolError, "a frame has a reserved bit, of an extension not agreed on");
  }
  if (!is_known(opcode_)) {
    return fail(kCloseProtocolError, format("a frame has the unknown opcode {}", opcode_));
  }
  if (masked_ != (side_ == WebSocketSide::server)) {
    return fail(kCloseProtocolError, masked_ ? "a frame of the server is masked"
                                             : "a frame of the client is not masked");
  }
  const bool long_form = (said == kLength16 && left_ <= kShortMax) ||
                         (said == kLength64 && (left_ >> 16 == 0 || left_ >> 63 != 0));
  if (long_form) return fail(kCloseProtocolError, "a frame's length is not in its shortest form");
  if (is_control()) {
    control_.clear();
    if (!final_) return fail(kCloseProtocolError, "a control frame is in fragments");
    if (left_ > kControlPayloadMax) {
      return fail(kCloseProtocolError, "a control frame is longer than 125 bytes");
    }
    return true;
  }
  if ((opcode_ == 0) != (message_opcode_ != 0)) {
    return fail(kCloseProtocolError, opcode_ == 0
                                         ? "a fragment continues no message"
                                         : "a message began before the one in fragments ended");
  }
  if (left_ > message_max_ - message_.size()) {
    return fail(kCloseTooBig, format("a message is longer than {} bytes", message_max_));
  }
  return true;
}

// Takes what is there of the payload; at its end the frame has its effect.
bool WebSocketReader::take_payload(std::string_view& bytes, WebSocketEvents& events) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  const std::string_view piece = bytes.substr(0, count);
  bytes.remove_prefix(count);
  left_ -= count;
  in_payload_ = left_ > 0;
  const bool in_place = !in_payload_ && final_ && !masked_ && message_opcode_ == 0 &&
                        message_.empty() && !is_control();
  if (in_place) return give(piece, bytes.size(), events);
  if (!gather(piece)) return false;
  mask_at_ += count;
  if (in_payload_) return true;
  return is_control() ? end_control_frame(events) : end_data_frame(bytes.size(), events);
}

bool WebSocketReader::gather(std::string_view piece) {
  if (is_control()) {
    const std::size_t at = control_.size();
    control_ += piece;
    if (masked_) unmask(control_.data() + at, piece.size(), mask_, mask_at_);
    return true;
  }
  if (!masked_) {
    no_room_ = !message_.append(piece);
  } else {
    std::array<char, 4096> room{};
    for (std::size_t at = 0; at < piece.size() && !no_room_; at += room.size()) {
      const std::string_view part = piece.substr(at, room.size());
      std::copy(part.begin(), part.end(), room.begin());
      unmask(room.data(), part.size(), mask_, mask_at_ + at);
      no_room_ = !message_.append({room.data(), part.size()});
    }
  }
  return !no_room_ || fail(kCloseTooBig, "there is no memory for a message");
}

bool WebSocketReader::end_data_frame(std::size_t behind, WebSocketEvents& events) {
  if (!final_) {
    if (opcode_ != 0) message_opcode_ = opcode_;
    return true;
  }
  if (message_opcode_ != 0) opcode_ = message_opcode_;
  message_opcode_ = 0;
  const bool sound = give(message_.view(), behind, events);
  message_.release();
  return sound;
}

bool WebSocketReader::give(std::string_view message, std::size_t behind, WebSocketEvents& events) {
  const bool text = opcode_ == static_cast<std::uint8_t>(FrameType::text);
  if (text && !valid_utf8(message)) return fail(kCloseBadText, "a text message is not UTF-8");
  events.on_message(text, message, behind);
  return true;
}

bool WebSocketReader::end_control_frame(WebSocketEvents& events) {
  switch (static_cast<FrameType>(opcode_)) {
    case FrameType::ping:
      events.on_ping(control_);
      return true;
    case FrameType::pong:
      events.on_pong(control_);
      return true;
    default:
      return end_close(events);
  }
}

bool WebSocketReader::end_close(WebSocketEvents& events) {
  if (control_.size() == 1) return fail(kCloseProtocolError, "a close frame has half a code");
  std::uint16_t code = kCloseNoCode;
  std::string_view reason;
  if (control_.size() >= 2) {
    code = static_cast<std::uint16_t>(static_cast<unsigned char>(control_[0]) << 8 |
                                      static_cast<unsigned char>(control_[1]));
    reason = std::string_view(control_).substr(2);
    if (!may_be_sent(code)) {
      return fail(kCloseProtocolError, format("a close frame has the code {}", code));
    }
    if (!valid_utf8(reason)) return fail(kCloseBadText, "a close frame's reason is not UTF-8");
  }
  closed_ = true;
  events.on_close(code, reason);
  return true;
}

std::size_t put_server_frame_head(char* out, FrameType type, std::size_t size, bool final) {
  out[0] = static_cast<char>(static_cast<std::uint8_t>(type) | (final ? kFinalBit : 0));
  if (size <= kShortMax) {
    out[1] = static_cast<char>(size);
    return 2;
  }
  const std::size_t bytes = size >> 16 == 0 ? 2 : 8;
  out[1] = static_cast<char>(bytes == 2 ? kLength16 : kLength64);
  for (std::size_t i = 0; i < bytes; ++i) {
    out[2 + i] = static_cast<char>(std::uint64_t{size} >> (8 * (bytes - 1 - i)));
  }
  return 2 + bytes;
}

void WebSocketWriter::next_mask() {
  if (masks_.empty()) masks_ = random_bytes(kMasksAhead);
  std::copy_n(masks_.end() - kMaskBytes, kMaskBytes, mask_.begin());
  masks_.resize(masks_.size() - kMaskBytes);
}

void WebSocketWriter::head(std::string& out, FrameType type, std::size_t size, bool final) {
  std::array<char, kServerFrameHeadMax> bytes{};
  const std::size_t count = put_server_frame_head(bytes.data(), type, size, final);
  if (side_ == WebSocketSide::client) {
    bytes[1] = static_cast<char>(static_cast<unsigned char>(bytes[1]) | kMaskBit);
  }
  out.append(bytes.data(), count);
  if (side_ == WebSocketSide::server) return;
  next_mask();
  out.append(mask_.data(), mask_.size());
}

// `from`: bytes of the same frame's payload that stand before these.
void WebSocketWriter::payload(std::string& out, std::string_view bytes, std::size_t from) {
  const std::size_t at = out.size();
  out += bytes;
  if (side_ == WebSocketSide::client) unmask(out.data() + at, bytes.size(), mask_, from);
}

void WebSocketWriter::frame(std::string& out, FrameType type, std::string_view bytes, bool final) {
  CHECK(static_cast<std::uint8_t>(type) < 8 || bytes.size() <= kControlPayloadMax);
  head(out, type, bytes.size(), final);
  payload(out, bytes, 0);
}

void WebSocketWriter::text(std::string& out, std::string_view first, std::string_view second) {
  head(out, FrameType::text, first.size() + second.size(), true);
  payload(out, first, 0);
  payload(out, second, first.size());
}

void WebSocketWriter::close(std::string& out, std::uint16_t code, std::string_view reason) {
  if (code == kCloseNoCode) return frame(out, FrameType::close, {});
  reason = reason.substr(0, kControlPayloadMax - 2);
  while (!valid_utf8(reason)) reason.remove_suffix(1);
  std::string payload;
  payload += static_cast<char>(code >> 8);
  payload += static_cast<char>(code & 0xff);
  payload += reason;
  frame(out, FrameType::close, payload);
}

}  // namespace assay::net
