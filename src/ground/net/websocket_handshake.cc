#include "net/websocket_handshake.h"

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "base/display.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/text.h"

namespace assay::net {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kKeyBytes = 16;
constexpr std::string_view kVersion = "13";

// Whether a list of words between commas has `word`, in any case.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (equals_ignoring_case(trim(list.substr(0, end)), word)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// The headers that matter in an answer; a list in several lines is joined.
struct Answer {
  std::string upgrade{};
  std::string connection{};
  std::string accept{};
  std::string extensions{};
  std::string protocol{};
};

void take_header(Answer& answer, std::string_view name, std::string_view value) {
  std::string* const place =
      equals_ignoring_case(name, "upgrade")                    ? &answer.upgrade
      : equals_ignoring_case(name, "connection")               ? &answer.connection
      : equals_ignoring_case(name, "sec-websocket-accept")     ? &answer.accept
      : equals_ignoring_case(name, "sec-websocket-extensions") ? &answer.extensions
      : equals_ignoring_case(name, "sec-websocket-protocol")   ? &answer.protocol
                                                               : nullptr;
  if (place == nullptr) return;
  if (!place->empty()) *place += ',';
  *place += trim(value);
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// "HTTP/1.1 101 Switching Protocols"
std::optional<std::uint16_t> status_of(std::string_view line) {
  if (!line.starts_with("HTTP/1.")) return std::nullopt;
  const std::size_t at = line.find(' ');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(at + 1, 3);
  const auto number = parse_uint(digits);
  if (digits.size() != 3 || !number || *number < 100) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

bool is_key(std::string_view key) {
  const auto bytes = decode_base64(key);
  return bytes && bytes->size() == kKeyBytes;
}

}  // namespace

std::string new_websocket_key() { return encode_base64(random_bytes(kKeyBytes)); }

std::string websocket_accept(std::string_view key) {
  const std::string digits = sha1_hex(std::string(key) + std::string(kGuid));
  std::string digest;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    digest += static_cast<char>(hex_value(digits[i]) * 16 + hex_value(digits[i + 1]));
  }
  return encode_base64(digest);
}

std::string websocket_request_headers(std::string_view key) {
  return format(
      "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: {}\r\n"
      "Sec-WebSocket-Key: {}\r\n\r\n",
      kVersion, key);
}

ClientHandshake::State ClientHandshake::refuse(std::string_view why) {
  error_ = why;
  return state_ = State::refused;
}

ClientHandshake::State ClientHandshake::check(std::string_view head) {
  const std::string_view first = next_line(head);
  const auto status = status_of(first);
  if (!status) return refuse("the answer to the handshake is not HTTP");
  status_ = *status;
  if (status_ != 101) return refuse("");
  Answer answer;
  for (std::string_view line = next_line(head); !line.empty(); line = next_line(head)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return refuse("a header of the 101 has no colon");
    take_header(answer, line.substr(0, colon), line.substr(colon + 1));
  }
  if (!has_word(answer.upgrade, "websocket")) {
    return refuse("the 101 does not say 'Upgrade: websocket'");
  }
  if (!has_word(answer.connection, "upgrade")) {
    return refuse("the 101 does not say 'Connection: Upgrade'");
  }
  if (answer.accept != accept_) {
    return refuse(answer.accept.empty() ? "the 101 has no Sec-WebSocket-Accept"
                                        : "the 101's Sec-WebSocket-Accept does not fit our key");
  }
  if (!answer.extensions.empty()) {
    return refuse(
        format("the 101 has an extension that was not offered: {}", printable(answer.extensions)));
  }
  if (!answer.protocol.empty()) {
    return refuse(
        format("the 101 has a subprotocol that was not offered: {}", printable(answer.protocol)));
  }
  return state_ = State::open;
}

ClientHandshake::State ClientHandshake::feed(std::string_view& bytes) {
  while (state_ == State::reading && !bytes.empty()) {
    // To the next line's end: the head ends with an empty line.
    const std::size_t count = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    head_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    if (head_.size() > kHeadMax) return refuse("the head of the answer is longer than 64 KiB");
    if (!head_.ends_with("\r\n\r\n") && !head_.ends_with("\n\n")) continue;
    // An interim answer other than 101: the real one follows.
    std::string_view rest = head_;
    const auto status = status_of(next_line(rest));
    if (status && *status < 200 && *status != 101) {
      head_.clear();
      continue;
    }
    check(head_);
  }
  if (state_ == State::refused) {
    body_ += bytes.substr(0, kBodyMax - body_.size());
    bytes = {};
  }
  return state_;
}

bool wants_websocket(const RequestHead& head) {
  return has_word(head.find("upgrade"), "websocket");
}

Upgrade answer_websocket(const RequestHead& head, std::string& out) {
  const bool asks = head.method == "GET" && head.minor_version >= 1 &&
                    has_word(head.find("connection"), "upgrade");
  if (!asks || !is_key(trim(head.find("sec-websocket-key")))) return Upgrade::bad_request;
  if (trim(head.find("sec-websocket-version")) != kVersion) return Upgrade::bad_version;
  out += format(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: {}\r\n\r\n",
      websocket_accept(trim(head.find("sec-websocket-key"))));
  return Upgrade::accepted;
}

}  // namespace assay::net
