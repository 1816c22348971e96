#include "plan/endpoint_url.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::plan {
namespace {

constexpr std::string_view kForms =
    "write http://host:port, https://host or http+unix:///path/of.sock:/";

bool is_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

struct Parts {
  std::string_view scheme{};
  std::string_view authority{};
  std::string_view rest{};
};

Parts parts_of(std::string_view url) {
  const std::size_t mark = url.find("://");
  if (mark == std::string_view::npos) return {{}, {}, url};
  const std::string_view after = url.substr(mark + 3);
  const std::size_t end = std::min(after.find_first_of("/?#"), after.size());
  return {url.substr(0, mark), after.substr(0, end), after.substr(end)};
}

// Returns the host and the port's digits, "" if it has none.
std::pair<std::string_view, std::string_view> host_port(std::string_view authority) {
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return {authority, {}};
  return {authority.substr(0, colon), authority.substr(colon + 1)};
}

std::string wrong_authority(std::string_view authority) {
  if (authority.find('@') != std::string_view::npos) {
    return "holds a user name or password; give a key with --api-key-env NAME instead";
  }
  const auto [host, port] = host_port(authority);
  if (host.empty()) return format("names no host; {}", kForms);
  if (host.front() == '[' && host.back() != ']') return "an IPv6 address must close with ']'";
  if (host.front() != '[' && port.find(':') != std::string_view::npos) {
    return "an IPv6 address must stand in brackets: http://[::1]:8000";
  }
  const bool has_colon = host.size() < authority.size();
  const auto number = parse_uint(port);
  if (has_colon && (!number || *number == 0 || *number > 65535)) {
    return format("\"{}\" is not a port; a port is a number from 1 to 65535", port);
  }
  return {};
}

}  // namespace

std::string wrong_with_url(std::string_view url) {
  if (url.empty()) return format("is empty; {}", kForms);
  if (constexpr std::string_view kProgram = "program:"; url.starts_with(kProgram)) {
    if (!trim(url.substr(kProgram.size())).empty()) return {};
    return "names no program; write 'program:python3 my_endpoint.py'";
  }
  if (!is_text(url)) return "holds a blank or a control character";
  const Parts parts = parts_of(url);
  const std::string scheme = lower(parts.scheme);
  if (scheme == "http+unix") {
    if (!parts.authority.empty() || parts.rest.size() > 1) return {};
    return format("names no socket; {}", kForms);
  }
  if (scheme != "http" && scheme != "https") {
    const bool bare = parts.scheme.empty() && url.find('@') == std::string_view::npos;
    return bare ? format("\"{0}\" has no scheme; did you mean http://{0}?", url)
                : format("\"{}\" is not a scheme that we speak; {}", parts.scheme, kForms);
  }
  if (parts.rest.find('#') != std::string_view::npos) return "holds a fragment ('#')";
  return wrong_authority(parts.authority);
}

std::string host_and_port(std::string_view url) {
  const Parts parts = parts_of(url);
  const auto [host, port] = host_port(parts.authority);
  const bool tls = lower(parts.scheme) == "https";
  return format("{}:{}", lower(host), port.empty() ? (tls ? "443" : "80") : port);
}

bool is_header_name(std::string_view name) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kSigns.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  });
}

}  // namespace assay::plan
