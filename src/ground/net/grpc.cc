#include "net/grpc.h"

#include <array>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::net {
namespace {

constexpr std::array<std::string_view, 17> kNames{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// What is no code stays as it is.
std::string status_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool coded = text[i] == '%' && i + 2 < text.size();
    const int high = coded ? hex_value(text[i + 1]) : -1;
    const int low = coded ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

std::string grpc_framed(std::string_view message) {
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(message.size() >> shift & 0xff);
  }
  return out.append(message);
}

std::optional<GrpcMessage> grpc_message_of(std::string_view body) {
  if (body.size() < kGrpcPrefixBytes) return std::nullopt;
  std::uint64_t size = 0;
  for (const char c : body.substr(1, 4)) size = size << 8 | static_cast<unsigned char>(c);
  const std::string_view bytes = body.substr(kGrpcPrefixBytes);
  if (bytes.size() != size || static_cast<unsigned char>(body[0]) > 1) return std::nullopt;
  return GrpcMessage{.compressed = body[0] == 1, .bytes = bytes};
}

std::string grpc_status_name(std::int32_t status) {
  if (status < 0 || status >= static_cast<std::int32_t>(kNames.size())) {
    return format("status {}", status);
  }
  return std::string(kNames[static_cast<std::size_t>(status)]);
}

std::int32_t grpc_status_of(int http_status) {
  switch (http_status) {
    case 400:
      return 3;
    case 401:
      return 16;
    case 403:
      return 7;
    case 404:
      return 5;
    case 413:
    case 429:
      return 8;
    case 501:
      return kGrpcUnimplemented;
    case 502:
    case 503:
      return 14;
    case 504:
      return kGrpcDeadlineExceeded;
    default:
      return http_status >= 500 ? 13 : 2;
  }
}

std::string grpc_encoded(std::string_view words) {
  std::string out;
  for (const char c : words) {
    const bool plain = c >= ' ' && c <= '~' && c != '%';
    out += plain ? std::string(1, c) : format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string grpc_words(std::int32_t status, std::string_view message) {
  const std::string words = printable(status_decoded(message));
  return format("gRPC {} ({}){}{}", grpc_status_name(status), status, words.empty() ? "" : ": ",
                words);
}

}  // namespace assay::net
