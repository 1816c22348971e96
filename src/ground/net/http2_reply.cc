#include "net/http2_reply.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <vector>

#include "base/text.h"

namespace assay::net {
namespace {

constexpr std::array<std::string_view, 5> kOfConnection{
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};

// The lines of a head or of trailers as fields. `names` holds their names in lower case, where they
// stay.
std::vector<HttpHeader> fields_of(std::string_view lines, std::deque<std::string>& names) {
  std::vector<HttpHeader> out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    names.push_back(lower(line.substr(0, colon)));
    out.push_back({names.back(), trim(line.substr(colon + 1))});
  }
  return out;
}

}  // namespace

void Http2Reply::feed(std::string_view bytes, Http2Server& server) {
  while (!bytes.empty() && state_ != State::complete) {
    if (state_ == State::length || state_ == State::until_close || state_ == State::data) {
      take_body(bytes, server);
    } else if (take_line(bytes)) {
      const std::string_view line = trim(std::string_view(text_).substr(line_at_));
      if (state_ == State::head && line.empty()) {
        take_head(server);
      } else if (state_ == State::trailers && line.empty()) {
        end(server);
      } else if (state_ == State::head || state_ == State::trailers) {
        line_at_ = text_.size();
      } else {
        take_chunk_line(server);
      }
    }
  }
}

// Appends up to the end of the line; false when the line is not complete.
bool Http2Reply::take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t used = end == std::string_view::npos ? bytes.size() : end + 1;
  text_ += bytes.substr(0, used);
  bytes.remove_prefix(used);
  return end != std::string_view::npos;
}

void Http2Reply::take_head(Http2Server& server) {
  const std::string head = std::exchange(text_, {});
  line_at_ = 0;
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  const std::string_view line = std::string_view(head).substr(0, head.find('\n'));
  const std::string_view said = line.substr(std::min(kVersion.size(), line.size()));
  const auto number = parse_uint(said.substr(0, said.find(' ')));
  if (!head.starts_with("HTTP/1.") || !number || *number < 100 || *number > 999) {
    return fail(server);
  }
  const int status = static_cast<int>(*number);
  std::deque<std::string> names;
  std::vector<HttpHeader> fields = fields_of(std::string_view(head).substr(line.size() + 1), names);
  bool chunked = false;
  bool has_length = false;
  for (const HttpHeader& field : fields) {
    chunked = chunked || field.name == "transfer-encoding";
    if (field.name != "content-length") continue;
    const auto length = parse_uint(field.value);
    if (!length) continue;
    has_length = true;
    left_ = *length;
  }
  std::erase_if(fields, [](const HttpHeader& field) {
    return std::ranges::find(kOfConnection, field.name) != kOfConnection.end();
  });
  if (status < 200) {
    if (status != 100 && status != 101) server.head(stream_, status, fields, false);
    return;
  }
  const bool none =
      bodiless_ || status == 204 || status == 304 || (!chunked && has_length && left_ == 0);
  if (none && !bodiless_) {  // its end is in the frame
    std::erase_if(fields, [](const HttpHeader& field) { return field.name == "content-length"; });
  }
  server.head(stream_, status, fields, none);
  state_ = none         ? State::complete
           : chunked    ? State::size
           : has_length ? State::length
                        : State::until_close;
}

void Http2Reply::take_body(std::string_view& bytes, Http2Server& server) {
  const bool counted = state_ != State::until_close;
  const std::size_t n = counted
                            ? static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()))
                            : bytes.size();
  server.body(stream_, bytes.substr(0, n));
  bytes.remove_prefix(n);
  if (!counted) return;
  left_ -= n;
  if (left_ > 0) return;
  if (state_ == State::length) return end(server);
  state_ = State::data_end;
}

// The line before a chunk's data, or the rest of the line behind them.
void Http2Reply::take_chunk_line(Http2Server& server) {
  const std::string line = std::exchange(text_, {});
  if (state_ == State::data_end) {
    state_ = State::size;
    return;
  }
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), left_, 16);
  if (error != std::errc{} || end == line.data()) return fail(server);
  state_ = left_ > 0 ? State::data : State::trailers;
}

void Http2Reply::end(Http2Server& server) {
  std::deque<std::string> names;
  server.end(stream_, fields_of(text_, names));
  state_ = State::complete;
}

void Http2Reply::close(Http2Server& server) {
  if (state_ == State::complete) return;
  if (state_ == State::until_close) {
    server.end(stream_, {});
  } else {
    server.reset(stream_);
  }
  state_ = State::complete;
}

void Http2Reply::fail(Http2Server& server) {
  server.reset(stream_);
  state_ = State::complete;
}

}  // namespace assay::net
