#include "net/http1_response.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/text.h"
#include "net/content_headers.h"
#include "net/foreign_protocol.h"

namespace assay::net {
namespace {

constexpr std::size_t kChunkLineMax = 4096;
constexpr std::string_view kOpening = "HTTP/1.";

// Whether the bytes so far may begin a status line.
bool may_open(std::string_view bytes) {
  const std::size_t size = std::min(bytes.size(), kOpening.size());
  return bytes.substr(0, size) == kOpening.substr(0, size);
}

// No status line begins here, and the bytes suffice to name the protocol.
bool is_foreign(std::string_view bytes) {
  return !may_open(bytes) && bytes.size() >= bytes_to_name(bytes[0]);
}

// Where the head ends (one past its blank line), or npos. Accepts CRLF and LF line ends, mixed.
std::size_t end_of_head(std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = text.find('\n', at)) != std::string_view::npos;) {
    ++at;
    if (at < text.size() && text[at] == '\n') return at + 1;
    if (at + 1 < text.size() && text[at] == '\r' && text[at + 1] == '\n') return at + 2;
  }
  return std::string_view::npos;
}

bool is_fold(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == ' ' || text[at] == '\t');
}

// A field folded over several lines, on one line (RFC 9112, 5.2).
std::string unfolded(std::string_view lines) {
  std::string line(lines);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  return line;
}

// Calls visit on each element of a comma-separated list.
template <typename Visit>
void for_each_element(std::string_view list, Visit&& visit) {
  for (;;) {
    const std::size_t comma = list.find(',');
    visit(trim_space(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

void ResponseParser::reset() {
  state_ = State::head;  // the next head decides the framing
  head_ = {};
  head_bytes_ = 0;
  carry_.release();
  error_.clear();
  malformed_ = false;
  no_room_ = false;
}

bool ResponseParser::fail(std::string_view why) {
  state_ = State::failed;
  error_ = why;
  malformed_ = true;
  return false;
}

bool ResponseParser::fail_opening(std::string_view bytes) {
  const std::string_view other = foreign_protocol(bytes, Spoken::http1);
  return fail(other.empty() ? "the reply does not begin with an HTTP/1.x status line" : other);
}

bool ResponseParser::carry(std::string_view bytes) {
  if (carry_.append(bytes)) return true;
  no_room_ = true;
  return fail("the response head is over the memory budget");
}

// Limits the sum of heads and trailers: each may be short, and their number endless.
bool ResponseParser::count_head(std::size_t bytes) {
  head_bytes_ += bytes;
  return head_bytes_ <= kHeadBytesMax || fail("the response head is too long");
}

bool ResponseParser::read_head(std::string_view& bytes) {
  for (;;) {
    const std::size_t before = carry_.size();
    std::string_view text = bytes;
    std::size_t end = std::string_view::npos;
    if (before == 0) end = end_of_head(bytes, 0);
    if (end == std::string_view::npos) {
      // Takes one byte more than allowed, which shows that a head is too long.
      const std::string_view piece = bytes.substr(0, kHeadBytesMax + 1 - before);
      if (!carry(piece)) return false;
      text = carry_.view();
      if (before != 0) end = end_of_head(text, std::max<std::size_t>(before, 3) - 3);
    }
    if (end == std::string_view::npos) {
      bytes.remove_prefix(text.size() - before);
      if (is_foreign(text)) return fail_opening(text);
      return text.size() > kHeadBytesMax && fail("the response head is too long");
    }
    if (!count_head(end) || !parse_head(text.substr(0, end))) return false;
    bytes.remove_prefix(end - before);
    carry_.clear();
    if (head_.status >= 200) break;
    // The bytes that follow are no HTTP, and there may be none.
    if (head_.status == 101) {
      return fail("HTTP 101: the server switched protocols, which the request did not ask for");
    }
    head_ = {};  // an interim response: the final one follows
    if (bytes.empty()) return false;
  }
  begin_body();
  return true;
}

bool ResponseParser::parse_head(std::string_view text) {
  if (!may_open(text)) return fail_opening(text);
  bool first = true;
  while (!text.empty()) {
    std::size_t lf = text.find('\n');
    const std::size_t first_lf = lf;
    while (!first && is_fold(text, lf + 1)) lf = text.find('\n', lf + 1);
    std::string_view line = text.substr(0, lf);
    const std::string whole = lf == first_lf ? std::string() : unfolded(line);
    if (lf != first_lf) line = whole;
    text.remove_prefix(lf + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (first) {
      if (!parse_status_line(line)) return false;
      first = false;
    } else if (!line.empty() && !parse_field(line)) {
      return false;
    }
  }
  return true;
}

bool ResponseParser::parse_status_line(std::string_view line) {
  // HTTP/1.1 200 OK
  constexpr std::size_t kShortest = 12;
  constexpr std::string_view kNoStatus = "the status line has no three-digit status";
  if (line.size() < kShortest || line[8] != ' ' || (line[7] != '0' && line[7] != '1')) {
    return fail_opening(line);
  }
  head_.minor_version = line[7] == '1' ? 1 : 0;
  head_.keep_alive = head_.minor_version == 1;
  std::uint16_t status = 0;
  for (const char digit : line.substr(9, 3)) {
    if (digit < '0' || digit > '9') return fail(kNoStatus);
    status = static_cast<std::uint16_t>(10 * status + (digit - '0'));
  }
  if (status < 100 || (line.size() > kShortest && line[kShortest] != ' ')) return fail(kNoStatus);
  head_.status = status;
  return true;
}

bool ResponseParser::parse_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line[colon - 1] == ' ') {
    return fail("a header line without a field name");
  }
  const std::string_view name = line.substr(0, colon);
  // The length alone separates most fields.
  switch (name.size()) {
    case 4:
      if (head_.status != 200 && equal_fold(name, "date")) {
        head_.retry.take_date(trim_space(line.substr(colon + 1)));
      }
      break;
    case 8:
      if (head_.status / 100 == 3 && equal_fold(name, "location")) {
        head_.location = trim_space(line.substr(colon + 1));
      }
      break;
    case 10:
      if (equal_fold(name, "connection")) {
        for_each_element(line.substr(colon + 1), [&](std::string_view token) {
          if (equal_fold(token, "close")) head_.keep_alive = false;
          if (equal_fold(token, "keep-alive")) head_.keep_alive = true;
        });
      }
      break;
    case 11:
      if (equal_fold(name, "retry-after")) {
        head_.retry.take_retry_after(trim_space(line.substr(colon + 1)));
      }
      break;
    case 12:
      if (equal_fold(name, "content-type")) {
        head_.type = content_type_of(trim_space(line.substr(colon + 1)));
      }
      break;
    case 14:
      if (equal_fold(name, "content-length")) {
        return parse_content_length(trim_space(line.substr(colon + 1)));
      }
      break;
    case 16:
      if (equal_fold(name, "content-encoding")) {
        head_.coding = content_coding_of(trim_space(line.substr(colon + 1)));
      }
      break;
    case 17:
      if (equal_fold(name, "transfer-encoding")) {
        bool known = true;
        for_each_element(line.substr(colon + 1), [&](std::string_view coding) {
          if (equal_fold(coding, "chunked")) {
            head_.chunked = true;
          } else if (!coding.empty() && !equal_fold(coding, "identity")) {
            known = false;
          }
        });
        if (!known) return fail("a transfer coding other than chunked");
      }
      break;
    default:
      break;
  }
  return true;
}

bool ResponseParser::parse_content_length(std::string_view value) {
  bool ok = true;
  for_each_element(value, [&](std::string_view text) {
    const auto length = parse_uint(text);
    if (!length || (head_.has_length && head_.length != *length)) {
      ok = false;
      return;
    }
    head_.has_length = true;
    head_.length = *length;
  });
  return ok ? true : fail("a Content-Length that is not a number, or two that differ");
}

void ResponseParser::begin_body() {
  state_ = State::body;
  if (head_.status == 204 || head_.status == 304) {
    state_ = State::complete;
  } else if (head_.chunked) {  // chunked overrides a length (RFC 9112, 6.3)
    framing_ = Framing::chunk_size;
  } else if (head_.has_length) {
    framing_ = Framing::length;
    left_ = head_.length;
    if (left_ == 0) state_ = State::complete;
  } else {
    framing_ = Framing::until_close;
    head_.keep_alive = false;
  }
}

std::string_view ResponseParser::take_counted(std::string_view& bytes, Framing after) {
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
  const std::string_view piece = bytes.substr(0, size);
  bytes.remove_prefix(size);
  left_ -= size;
  if (left_ == 0) {
    if (framing_ == Framing::length) state_ = State::complete;
    framing_ = after;
  }
  return piece;
}

std::string_view ResponseParser::next_body(std::string_view& bytes) {
  switch (framing_) {
    case Framing::length:
      return take_counted(bytes, Framing::none);
    case Framing::chunk_data:
      return take_counted(bytes, Framing::chunk_end);
    case Framing::until_close: {
      const std::string_view piece = bytes;
      bytes = {};
      return piece;
    }
    case Framing::chunk_size:
    case Framing::chunk_end:
    case Framing::trailers:
      read_framing_line(bytes);
      return {};
    case Framing::none:
      break;
  }
  CHECK(false && "no body is read where none is open");
}

void ResponseParser::read_framing_line(std::string_view& bytes) {
  const std::size_t lf = bytes.find('\n');
  const bool ends = lf != std::string_view::npos;
  std::string_view line = bytes.substr(0, lf);
  bytes.remove_prefix(ends ? lf + 1 : bytes.size());
  if (carry_.size() + line.size() > kChunkLineMax + 1) {  // with its CR
    fail("a chunk's line is too long");
    return;
  }
  if (!ends || !carry_.empty()) {
    if (!carry(line) || !ends) return;
    line = carry_.view();
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  end_framing_line(line);
  carry_.clear();
}

void ResponseParser::end_framing_line(std::string_view line) {
  if (line.size() > kChunkLineMax) {
    fail("a chunk's line is too long");
  } else if (framing_ == Framing::chunk_end) {
    framing_ = Framing::chunk_size;
    if (!line.empty()) fail("a chunk is longer than its size says");
  } else if (framing_ == Framing::trailers) {
    if (line.empty()) {
      state_ = State::complete;
    } else {
      count_head(line.size() + 2);
    }
  } else {
    const std::string_view digits = trim_space(line.substr(0, line.find(';')));
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      fail("a chunk size that is not a hexadecimal number");
    } else {
      framing_ = left_ == 0 ? Framing::trailers : Framing::chunk_data;
    }
  }
}

ResponseParser::State ResponseParser::end_of_input() {
  if (state_ == State::body && framing_ == Framing::until_close) {
    state_ = State::complete;
  } else if (state_ == State::head && !may_open(carry_.view())) {
    fail_opening(carry_.view());
  } else if (state_ == State::body || state_ == State::head) {
    fail(!started()              ? "the connection was closed before a reply"
         : state_ == State::head ? "the connection was closed inside the response head"
                                 : "the connection was closed inside the body");
    malformed_ = false;
  }
  return state_;
}

}  // namespace assay::net
