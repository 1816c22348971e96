// Url: the address of an endpoint. It is split once before a run, so that the sending path parses
// no text.
//
//   http://host[:port][/path][?query]      https://…      http://[2001:db8::1]:8000/v1
//   http+unix:///path/of.sock[:/prefix]    http+unix://%2Fpath%2Fof.sock/prefix
//
// The parser refuses what no server should get from us, names the way out and drops nothing in
// silence: a user and password in the URL (keys belong in the environment, and a run folder keeps
// its URLs), a fragment, blanks and control bytes (they could forge a header). Messages never
// repeat a password. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::net {

struct Url {
  std::string scheme{};    // "http", "https" or "http+unix"
  std::string host{};      // lower case; an IPv6 literal without brackets; "localhost" for a socket
  std::uint16_t port = 0;  // 80 or 443 where the URL names none; 0 for a Unix socket
  std::string path{};      // "/" at least; as written, without the query
  std::string query{};     // without '?'; may be empty
  std::string unix_path{};  // the socket's file; "" for TCP
  bool tls = false;
  bool ipv6_literal = false;
};

Result<Url> parse_url(std::string_view text);

// The Host header's value: no port if it is the scheme's own, brackets around IPv6, no zone.
std::string host_header(const Url& url);

// Writes the URL in one spelling: parse_url(to_string(url)) == url.
std::string to_string(const Url& url);

}  // namespace assay::net
