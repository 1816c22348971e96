#include "net/foreign_protocol.h"

namespace assay::net {
namespace {

// A TLS record: alert or handshake, of a version 3.x.
bool is_tls(std::string_view bytes) {
  return bytes.size() >= 2 && (bytes[0] == 0x15 || bytes[0] == 0x16) && bytes[1] == 0x03;
}

// An HTTP/2 server begins with SETTINGS: three bytes of length, type 4, flags 0, stream 0.
bool is_http2(std::string_view bytes) {
  constexpr std::string_view kBehindLength{"\x04\0\0\0\0\0", 6};
  return bytes.size() >= 9 && bytes[0] == 0 && bytes.substr(3, 6) == kBehindLength;
}

}  // namespace

std::size_t bytes_to_name(char first_byte) {
  switch (first_byte) {
    case 0x15:
    case 0x16:
      return 2;
    case 'S':
      return 4;
    case 0:
      return 9;
    default:
      return 1;
  }
}

std::string_view foreign_protocol(std::string_view first_bytes, Spoken ours) {
  if (is_tls(first_bytes)) return "this port speaks TLS: https:// in place of http://";
  if (ours == Spoken::http1 && is_http2(first_bytes)) {
    return "this port speaks HTTP/2 alone: --http 2";
  }
  if (ours == Spoken::http2 && first_bytes.starts_with("HTTP/")) {
    return "the server answers in HTTP/1, not in HTTP/2: --http 1.1";
  }
  if (first_bytes.starts_with("SSH-")) return "this port speaks SSH";
  return {};
}

}  // namespace assay::net
