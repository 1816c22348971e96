// Replies of HTTP/1.1 as bytes, for a server's service. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/http1_request.h"

namespace assay::net {

// "Not Found"; "Unknown" for a status that has no name here.
std::string_view status_text(int status);

enum class BodyFraming : std::uint8_t {
  length,     // Content-Length
  chunked,    // Transfer-Encoding: chunked
  until_end,  // neither: the end of the connection ends the body
};

struct ReplyHead {
  int status = 200;
  std::string_view content_type{};  // "" leaves the field out
  BodyFraming framing = BodyFraming::length;
  std::uint64_t length = 0;
  bool keep_alive = true;
  int minor_version = 1;
  std::span<const HttpHeader> headers{};  // extra
};

// Appends the head, its blank line included.
void append_head(std::string& out, const ReplyHead& head);

}  // namespace assay::net
