#include "dataset/json_rows.h"

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

Error too_long(std::uint64_t line) {
  return invalid(format("{}: this row is longer than {} bytes", line, kRowBytesMax));
}

constexpr std::string_view kBlank = " \t\r\n";

}  // namespace

Result<std::optional<std::string_view>> LineReader::next() {
  for (;;) {
    buffer_.clear();
    ++line_;
    bool whole = false;
    while (!whole) {
      if (piece_.empty()) {
        ASSIGN_OR_RETURN(piece_, chunks_.next());
        if (piece_.empty()) break;
      }
      const std::size_t end = piece_.find('\n');
      whole = end != std::string_view::npos;
      const std::string_view part = piece_.substr(0, end);
      if (buffer_.size() + part.size() > kRowBytesMax) return too_long(line_);
      buffer_ += part;
      piece_.remove_prefix(whole ? end + 1 : part.size());
    }
    const std::string_view line = trim(buffer_);
    if (!line.empty()) return std::optional(line);
    if (!whole) return std::optional<std::string_view>();
  }
}

Result<char> ElementReader::peek() {
  for (;;) {
    if (piece_.empty()) {
      ASSIGN_OR_RETURN(piece_, chunks_.next());
      if (piece_.empty()) return '\0';
    }
    const char c = piece_.front();
    if (kBlank.find(c) == std::string_view::npos) return c;
    if (c == '\n') ++line_;
    piece_.remove_prefix(1);
  }
}

Result<bool> ElementReader::is_array() {
  ASSIGN_OR_RETURN(const char first, peek());
  return first == '[';
}

Result<void> ElementReader::begin() {
  ASSIGN_OR_RETURN(const bool array, is_array());
  if (!array) return invalid(format("{}: expected an array of rows: '['", line_));
  piece_.remove_prefix(1);
  begun_ = true;
  ASSIGN_OR_RETURN(const char first, peek());
  if (first == ']') TRY(end());
  return {};
}

Result<void> ElementReader::end() {
  piece_.remove_prefix(1);
  ended_ = true;
  ASSIGN_OR_RETURN(const char after, peek());
  if (after != '\0') return invalid(format("{}: text after the array's end", line_));
  return {};
}

Result<bool> ElementReader::take() {
  std::size_t i = 0;
  for (; i < piece_.size(); ++i) {
    const char c = piece_[i];
    if (c == '\n') ++line_;
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '[' || c == '{') {
      ++depth_;
    } else if (depth_ == 0 && (c == ',' || c == ']')) {
      break;
    } else if (c == ']' || c == '}') {
      if (depth_ == 0) return invalid(format("{}: '{}' where nothing is open", line_, c));
      --depth_;
    }
  }
  const bool whole = i < piece_.size();
  if (buffer_.size() + i > kRowBytesMax) return too_long(element_line_);
  buffer_ += piece_.substr(0, i);
  piece_.remove_prefix(i);
  return whole;
}

Result<std::optional<std::string_view>> ElementReader::next() {
  if (!begun_) TRY(begin());
  if (ended_) return std::optional<std::string_view>();
  buffer_.clear();
  ASSIGN_OR_RETURN(const char first, peek());
  element_line_ = line_;
  if (first == ',' || first == ']') {
    return invalid(format("{}: an element is missing before '{}'", line_, first));
  }
  bool whole = false;
  while (!whole) {
    if (piece_.empty()) {
      ASSIGN_OR_RETURN(piece_, chunks_.next());
      if (piece_.empty()) {
        return invalid(
            format("{}: the array is not closed; is the file cut short? (the last "
                   "element begins here)",
                   element_line_));
      }
    }
    ASSIGN_OR_RETURN(whole, take());
  }
  if (piece_.front() == ']') {
    TRY(end());
  } else {
    piece_.remove_prefix(1);
  }
  return std::optional(trim(buffer_));
}

}  // namespace assay::dataset
