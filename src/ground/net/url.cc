#include "net/url.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::net {
namespace {

constexpr std::size_t kUrlBytesMax = 8192;
// sockaddr_un::sun_path holds 108 bytes with its closing zero.
constexpr std::size_t kUnixPathBytesMax = 107;

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    if (digits.size() < 2 || hex_value(digits[0]) < 0 || hex_value(digits[1]) < 0) {
      return invalid("'%' must be followed by two hex digits");
    }
    const int byte = hex_value(digits[0]) * 16 + hex_value(digits[1]);
    if (byte < 0x21 || byte == 0x7f) return invalid("an encoded blank or control byte");
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

// Offset of "://" behind a scheme (RFC 3986, 3.1), or npos.
std::size_t end_of_scheme(std::string_view text) {
  const std::size_t mark = text.find("://");
  const std::string_view scheme = text.substr(0, mark);
  const bool plain = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.';
  });
  return plain ? mark : std::string_view::npos;
}

// Text that is safe to show: the part before an '@' may be a password, even with a missing or an
// extra slash.
std::string shown(std::string_view text) {
  const std::size_t first = std::min(text.find_first_of(":/@"), text.size());
  const bool scheme = first < text.size() && text[first] != '@';
  const std::size_t from = scheme ? text.find_first_not_of(":/", first) : 0;
  const std::size_t at = text.substr(0, text.find_first_of("/?#", from)).rfind('@');
  std::string out(text);
  if (at != std::string_view::npos) out.replace(from, at - from, "…");
  if (out.size() > 200) out = out.substr(0, 200) + "…";
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return out;
}

Result<void> check_bytes(std::string_view text) {
  if (text.size() > kUrlBytesMax) return invalid(format("longer than {} bytes", kUrlBytesMax));
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ') return invalid("holds a blank; write it as %20");
    if (byte < 0x20 || byte == 0x7f) return invalid("holds a control byte");
    if (byte >= 0x80) {
      return invalid("holds a byte outside ASCII; write a path as %XX and a host name as xn--…");
    }
  }
  if (text.find('#') != std::string_view::npos) {
    return invalid("has a fragment (#…), which is never sent to a server; leave it out");
  }
  return {};
}

Result<std::uint16_t> parse_port(std::string_view text) {
  const auto number = parse_uint(text);
  if (!number || *number < 1 || *number > 65535) {
    return invalid(format("port '{}': must be a number from 1 to 65535", text));
  }
  return static_cast<std::uint16_t>(*number);
}

Result<void> parse_ipv6(std::string_view literal, Url& url) {
  const std::size_t zone = literal.find('%');
  const std::string address(literal.substr(0, zone));
  in6_addr parsed{};
  if (inet_pton(AF_INET6, address.c_str(), &parsed) != 1) {
    return invalid(format("'[{}]' is not an IPv6 address", literal));
  }
  url.host = lower(address);
  url.ipv6_literal = true;
  if (zone == std::string_view::npos) return {};
  // RFC 6874: the zone follows %25; many people write a bare '%'.
  std::string_view name = literal.substr(zone + 1);
  if (name.starts_with("25") && name.size() > 2) name.remove_prefix(2);
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!plain) return invalid(format("'[{}]': the zone must be an interface's name", literal));
  url.host += '%';
  url.host += name;
  return {};
}

Result<void> parse_host(std::string_view text, Url& url) {
  for (const char c : text) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == '.' || c == '_';
    if (!fine) return invalid(format("host '{}': '{}' cannot stand in a host name", text, c));
  }
  if (text.empty()) return invalid("names no host");
  if (text.size() > 253) return invalid("the host name is longer than 253 bytes");
  url.host = lower(text);
  return {};
}

Result<void> parse_authority(std::string_view authority, Url& url) {
  if (authority.find('@') != std::string_view::npos) {
    return invalid(
        "has a user or password in it; they would be kept with the results. "
        "Give a key by --api-key-env NAME, or a header by --header");
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return invalid("'[' without ']'");
    TRY(parse_ipv6(authority.substr(1, close - 1), url));
    const std::string_view rest = authority.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return invalid("after ']' only :port may stand");
    if (!rest.empty()) port = rest.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    if (colon != std::string_view::npos &&
        authority.find(':', colon + 1) != std::string_view::npos) {
      return invalid("an IPv6 address needs brackets: http://[::1]:8000");
    }
    TRY(parse_host(authority.substr(0, colon), url));
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
  }
  url.port = url.tls ? 443 : 80;
  // RFC 3986 allows "host:" for the scheme's own port.
  if (!port.empty()) {
    ASSIGN_OR_RETURN(url.port, parse_port(port));
  }
  return {};
}

void split_target(std::string_view rest, Url& url) {
  const std::size_t mark = rest.find('?');
  url.path = std::string(rest.substr(0, mark));
  if (url.path.empty()) url.path = "/";
  if (mark != std::string_view::npos) url.query = std::string(rest.substr(mark + 1));
}

Result<void> parse_unix(std::string_view rest, Url& url) {
  url.host = "localhost";
  if (rest.starts_with('/')) {
    // The file ends at ":/", where the path on the server begins.
    const std::size_t colon = rest.find(":/");
    const std::size_t end = std::min(colon, rest.find('?'));
    url.unix_path = std::string(rest.substr(0, end));
    split_target(colon == end && colon != std::string_view::npos ? rest.substr(colon + 1)
                 : end == std::string_view::npos                 ? std::string_view{}
                                                                 : rest.substr(end),
                 url);
  } else {
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    ASSIGN_OR_RETURN(url.unix_path, percent_decoded(rest.substr(0, end)));
    split_target(rest.substr(end), url);
  }
  if (!url.unix_path.starts_with('/') || url.unix_path.ends_with('/')) {
    return invalid("names no socket file; write http+unix:///run/server.sock:/v1");
  }
  if (url.unix_path.size() > kUnixPathBytesMax) {
    return invalid(
        format("the socket's path is longer than {} bytes, which the kernel does not take",
               kUnixPathBytesMax));
  }
  return {};
}

Result<Url> parse(std::string_view text) {
  TRY(check_bytes(text));
  const std::size_t mark = end_of_scheme(text);
  if (mark == std::string_view::npos) {
    return invalid("has no scheme; write http:// or https:// in front");
  }
  Url url;
  url.scheme = lower(text.substr(0, mark));
  std::string_view rest = text.substr(mark + 3);
  if (url.scheme == "http+unix" || url.scheme == "unix") {
    url.scheme = "http+unix";
    TRY(parse_unix(rest, url));
    return url;
  }
  if (url.scheme != "http" && url.scheme != "https") {
    return invalid(format("scheme '{}' is not spoken; one of: http, https, http+unix", url.scheme));
  }
  url.tls = url.scheme == "https";
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  TRY(parse_authority(rest.substr(0, end), url));
  split_target(rest.substr(end), url);
  return url;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  auto url = parse(text);
  if (!url) return url.error().within(format("URL '{}'", shown(text)));
  return url;
}

std::string host_header(const Url& url) {
  std::string out = url.host.substr(0, url.host.find('%'));
  if (url.ipv6_literal) out = format("[{}]", out);
  if (url.port != 0 && url.port != (url.tls ? 443 : 80)) out += format(":{}", url.port);
  return out;
}

std::string to_string(const Url& url) {
  std::string out = url.scheme + "://";
  if (!url.unix_path.empty()) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    for (const char c : url.unix_path) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == '~';
      if (plain) {
        out += c;
      } else {
        out += '%';
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      }
    }
  } else {
    if (url.ipv6_literal) {
      std::string literal = url.host;
      if (const std::size_t zone = literal.find('%'); zone != std::string::npos) {
        literal.insert(zone + 1, "25");
      }
      out += format("[{}]", literal);
    } else {
      out += url.host;
    }
    if (url.port != (url.tls ? 443 : 80)) out += format(":{}", url.port);
  }
  out += url.path;
  if (!url.query.empty()) out += "?" + url.query;
  return out;
}

}  // namespace assay::net
