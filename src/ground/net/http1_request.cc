#include "net/http1_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace assay::net {
namespace {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~"))
    table[static_cast<std::size_t>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kToken = make_token_table();

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return kToken[static_cast<unsigned char>(c)]; });
}

bool is_value_byte(char c) {
  const auto u = static_cast<unsigned char>(c);
  return u == '\t' || (u >= 0x20 && u != 0x7f);
}

char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

HeadResult refuse(RequestError error) { return {ReadStatus::bad, error, 0}; }

// "GET /path HTTP/1.1"
RequestError parse_request_line(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (first == second) return RequestError::bad_request;
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, second - first - 1);
  const std::string_view version = line.substr(second + 1);
  if (!is_token(head.method) || head.target.empty()) return RequestError::bad_request;
  const bool printable = std::all_of(head.target.begin(), head.target.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u > 0x20 && u < 0x7f;  // ASCII without blanks, as in RFC 3986
  });
  const bool form = head.target.front() == '/' || head.target == "*" ||
                    head.target.starts_with("http://") || head.target.starts_with("https://");
  if (!printable || !form) return RequestError::bad_request;
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    head.minor_version = version.back() - '0';
    return RequestError::none;
  }
  return version.starts_with("HTTP/") && version.size() == 8 ? RequestError::bad_version
                                                             : RequestError::bad_request;
}

// True when the comma-separated list has the word, in any case.
bool list_has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (equals_ignoring_case(trim_blanks(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;  // 18 digits fit in 63 bits
  std::uint64_t out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return out;
}

// uri-host [":" port], or nothing (RFC 9110, 7.2); the service decides about the name.
bool is_host(std::string_view value) {
  static constexpr std::string_view kMarks = "-._~%!$&'()*+,;=:[]";
  return std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= '0' && c <= '9') || (lower_ascii(c) >= 'a' && lower_ascii(c) <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

// Refuses a request that two readers may assign to two different hosts (RFC 9112, 3.2).
bool one_host(const RequestHead& head) {
  std::size_t hosts = 0;
  for (const HttpHeader& header : head.headers) {
    if (!equals_ignoring_case(header.name, "host")) continue;
    if (++hosts > 1 || !is_host(header.value)) return false;
  }
  return hosts == 1 || head.minor_version == 0;
}

// What the headers mean for the body and the connection.
RequestError read_framing(RequestHead& head) {
  bool has_length = false;
  bool close = false;
  bool keep = false;
  for (const HttpHeader& header : head.headers) {
    if (equals_ignoring_case(header.name, "content-length")) {
      const auto length = parse_length(header.value);
      if (!length || has_length) return RequestError::bad_request;
      head.content_length = *length;
      has_length = true;
    } else if (equals_ignoring_case(header.name, "transfer-encoding")) {
      if (head.chunked) return RequestError::bad_request;
      if (!equals_ignoring_case(header.value, "chunked")) return RequestError::not_implemented;
      head.chunked = true;
    } else if (equals_ignoring_case(header.name, "connection")) {
      close = close || list_has(header.value, "close");
      keep = keep || list_has(header.value, "keep-alive");
    } else if (equals_ignoring_case(header.name, "expect")) {
      head.expects_continue = equals_ignoring_case(header.value, "100-continue");
    }
  }
  if (head.chunked && (has_length || head.minor_version == 0)) return RequestError::bad_request;
  head.keep_alive = !close && (head.minor_version == 1 || keep);
  return RequestError::none;
}

RequestError parse_header_lines(std::string_view lines, RequestHead& head) {
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return RequestError::bad_request;
    const HttpHeader header{line.substr(0, colon), trim_blanks(line.substr(colon + 1))};
    if (!is_token(header.name)) return RequestError::bad_request;
    if (!std::all_of(header.value.begin(), header.value.end(), is_value_byte)) {
      return RequestError::bad_request;
    }
    head.headers.push_back(header);
  }
  return RequestError::none;
}

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return lower_ascii(x) == lower_ascii(y);
         });
}

std::string_view RequestHead::find(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (equals_ignoring_case(header.name, name)) return header.value;
  }
  return {};
}

std::string_view RequestHead::path() const {
  std::string_view path = target.substr(0, target.find('?'));
  // The absolute form, as clients write it to proxies: http://host/path.
  if (path.front() != '/' && path != "*") {
    const std::size_t host = path.find("//") + 2;
    const std::size_t slash = path.find('/', host);
    path = slash == std::string_view::npos ? "/" : path.substr(slash);
  }
  return path;
}

HeadResult parse_request_head(std::string_view bytes, std::size_t bytes_max, std::size_t& searched,
                              RequestHead& head) {
  // Empty lines before a request are skipped, as RFC 9112 2.2 asks.
  std::size_t start = 0;
  while (bytes.substr(start).starts_with("\r\n")) start += 2;
  // Refuse at once bytes that cannot become a request: the peer would wait for an answer.
  if (bytes.size() > start && bytes[start] != '\r' &&
      !kToken[static_cast<unsigned char>(bytes[start])]) {
    return refuse(RequestError::bad_request);
  }
  const std::size_t from = std::max(start, std::max<std::size_t>(searched, 3) - 3);
  const std::size_t end = bytes.find("\r\n\r\n", from);
  const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 4;
  if (size > bytes_max) return refuse(RequestError::head_too_large);
  if (end == std::string_view::npos) {
    searched = bytes.size();
    return {};
  }
  head.headers.clear();
  head.chunked = false;
  head.expects_continue = false;
  head.content_length = 0;
  const std::string_view text = bytes.substr(start, end + 2 - start);
  const std::size_t line_end = text.find("\r\n");
  RequestError error = parse_request_line(text.substr(0, line_end), head);
  if (error == RequestError::none) error = parse_header_lines(text.substr(line_end + 2), head);
  if (error == RequestError::none && !one_host(head)) error = RequestError::bad_request;
  if (error == RequestError::none) error = read_framing(head);
  if (error != RequestError::none) return refuse(error);
  return {ReadStatus::ready, RequestError::none, size};
}

ChunkedDecoder::State ChunkedDecoder::line_byte(char c, State more, State line_end) {
  constexpr std::uint16_t kLineBytesMax = 16 << 10;
  if (c == '\r') return line_end;
  if (!is_value_byte(c) || ++line_bytes_ > kLineBytesMax) return State::bad;
  return more;
}

ChunkedDecoder::State ChunkedDecoder::step(char c) {
  switch (state_) {
    case State::size_first:
    case State::size:
      if (const int digit = hex_value(c); digit >= 0) {
        if (left_ >> 56 != 0) return State::bad;  // another digit would not fit in 60 bits
        left_ = left_ << 4 | static_cast<std::uint64_t>(digit);
        return State::size;
      }
      if (state_ == State::size_first) return State::bad;
      return c == ';' ? State::extension : c == '\r' ? State::size_lf : State::bad;
    case State::extension:
      return line_byte(c, State::extension, State::size_lf);
    case State::size_lf:
      if (c != '\n') return State::bad;
      line_bytes_ = 0;
      return left_ == 0 ? State::trailer_start : State::data;
    case State::data_cr:
      return c == '\r' ? State::data_lf : State::bad;
    case State::data_lf:
      return c == '\n' ? State::size_first : State::bad;
    case State::trailer_start:
      if (c == '\r') return State::end_lf;
      return kToken[static_cast<unsigned char>(c)] ? State::trailer_name : State::bad;
    case State::trailer_name:
      if (c == ':') return State::trailer_value;
      return kToken[static_cast<unsigned char>(c)] ? line_byte(c, State::trailer_name, State::bad)
                                                   : State::bad;
    case State::trailer_value:
      return line_byte(c, State::trailer_value, State::trailer_lf);
    case State::trailer_lf:
      return c == '\n' ? State::trailer_start : State::bad;
    case State::end_lf:
      return c == '\n' ? State::done : State::bad;
    case State::data:
    case State::done:
    case State::bad:
      break;
  }
  CHECK(false && "no byte is taken in this state");
}

std::size_t ChunkedDecoder::feed(std::string_view bytes, std::string& out) {
  std::size_t used = 0;
  while (used < bytes.size() && !finished() && !failed()) {
    if (state_ != State::data) {
      state_ = step(bytes[used++]);
      continue;
    }
    const std::size_t take = static_cast<std::size_t>(
        std::min<std::uint64_t>(left_, static_cast<std::uint64_t>(bytes.size() - used)));
    out.append(bytes.substr(used, take));
    used += take;
    left_ -= take;
    if (left_ == 0) state_ = State::data_cr;
  }
  return used;
}

RequestReader::Step RequestReader::feed(std::string_view bytes, const RequestLimits& limits,
                                        RequestHead& head) {
  if (head_bytes_ != 0) return take_body(bytes, 0, limits, head);
  const bool cut_before = !kept_.empty();
  const std::size_t before = kept_.size();
  if (cut_before)
    kept_.append(bytes.substr(0, limits.head_bytes_max));  // one more byte would be refused
  const std::string_view text = cut_before ? std::string_view(kept_) : bytes;
  const HeadResult result = parse_request_head(text, limits.head_bytes_max, searched_, head);
  if (result.status == ReadStatus::bad) return {.status = ReadStatus::bad, .error = result.error};
  if (result.status == ReadStatus::need_more) {
    if (!cut_before) kept_.assign(bytes);
    return {.used = bytes.size()};
  }
  head_bytes_ = result.size;
  content_length_ = head.content_length;
  chunked_ = head.chunked;
  expects_continue_ = head.expects_continue;
  const std::size_t used = result.size - before;  // the head's end lies in `bytes`
  if (content_length_ > limits.body_bytes_max) {
    return {.status = ReadStatus::bad, .error = RequestError::body_too_large};
  }
  const bool whole = !chunked_ && bytes.size() - used >= content_length_;
  if (whole && !cut_before) {  // nothing was copied, so no copy is needed
    const auto length = static_cast<std::size_t>(content_length_);
    return {.status = ReadStatus::ready, .used = used + length, .body = bytes.substr(used, length)};
  }
  if (cut_before) {
    kept_.resize(head_bytes_);
  } else {
    kept_.assign(bytes.substr(0, head_bytes_));
  }
  return take_body(bytes, used, limits, head);
}

RequestReader::Step RequestReader::take_body(std::string_view bytes, std::size_t used,
                                             const RequestLimits& limits, RequestHead& head) {
  if (chunked_) return take_chunks(bytes, used, limits, head);
  const auto length = static_cast<std::size_t>(content_length_);
  const std::size_t missing = head_bytes_ + length - kept_.size();
  const std::size_t take = std::min(missing, bytes.size() - used);
  kept_.append(bytes.substr(used, take));
  used += take;
  if (take == missing) return ready_from_kept(used, head);
  return {.used = used, .wants_body = std::exchange(expects_continue_, false)};
}

RequestReader::Step RequestReader::take_chunks(std::string_view bytes, std::size_t used,
                                               const RequestLimits& limits, RequestHead& head) {
  used += chunks_.feed(bytes.substr(used), kept_);
  // Keep this order, so that the verdict does not depend on where the bytes were cut.
  if (kept_.size() - head_bytes_ > limits.body_bytes_max) {
    return {.status = ReadStatus::bad, .error = RequestError::body_too_large};
  }
  if (chunks_.failed()) return {.status = ReadStatus::bad, .error = RequestError::bad_request};
  if (chunks_.finished()) return ready_from_kept(used, head);
  return {.used = used, .wants_body = std::exchange(expects_continue_, false)};
}

// The head's views pointed into bytes that are gone: parse it again where it was kept.
RequestReader::Step RequestReader::ready_from_kept(std::size_t used, RequestHead& head) {
  const std::size_t body_bytes = kept_.size() - head_bytes_;
  kept_.append(kRequestPadding, '\0');
  std::size_t searched = head_bytes_ - 4;
  const HeadResult again = parse_request_head(kept_, head_bytes_, searched, head);
  CHECK(again.status == ReadStatus::ready && again.size == head_bytes_);
  return {.status = ReadStatus::ready,
          .used = used,
          .body = std::string_view(kept_).substr(head_bytes_, body_bytes)};
}

void RequestReader::reset() {
  constexpr std::size_t kKeepBytesMax = 4096;
  if (kept_.capacity() > kKeepBytesMax) {
    std::string().swap(kept_);  // assigning an empty string would keep the memory
  } else {
    kept_.clear();
  }
  searched_ = 0;
  head_bytes_ = 0;  // the next head sets what its body needs
  chunks_ = {};
}

}  // namespace assay::net
