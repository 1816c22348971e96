#include "net/http_reply.h"

#include <iterator>

#include "base/format.h"

namespace assay::net {

std::string_view status_text(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

void append_head(std::string& out, const ReplyHead& head) {
  auto end = std::back_inserter(out);
  format_to(end, "HTTP/1.{} {} {}\r\n", head.minor_version, head.status, status_text(head.status));
  if (!head.content_type.empty()) format_to(end, "Content-Type: {}\r\n", head.content_type);
  switch (head.framing) {
    case BodyFraming::length:
      format_to(end, "Content-Length: {}\r\n", head.length);
      break;
    case BodyFraming::chunked:
      out += "Transfer-Encoding: chunked\r\n";
      break;
    case BodyFraming::until_end:
      break;
  }
  const bool kept = head.keep_alive && head.framing != BodyFraming::until_end;
  if (!kept) {
    out += "Connection: close\r\n";
  } else if (head.minor_version == 0) {
    out += "Connection: keep-alive\r\n";
  }
  for (const HttpHeader& header : head.headers) {
    format_to(end, "{}: {}\r\n", header.name, header.value);
  }
  out += "\r\n";
}

}  // namespace assay::net
