#include "dataset/csv.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

constexpr std::size_t kFieldsMax = 1 << 16;

}  // namespace

Error CsvReader::wrong(std::uint64_t line, std::uint64_t column, std::string_view what) const {
  return invalid(format("{}:{}: {}", line, column, what));
}

Result<void> CsvReader::take_run() {
  const bool quoted = state_ == State::quoted;
  if (state_ == State::closed) return {};
  const std::array<char, 4> ends_field{delimiter_, '"', '\r', '\n'};
  const std::size_t stop =
      quoted ? piece_.find('"')
             : piece_.find_first_of(std::string_view(ends_field.data(), ends_field.size()));
  const std::string_view run = piece_.substr(0, stop);
  if (run.empty()) return {};
  row_bytes_ += run.size();
  if (row_bytes_ > kRowBytesMax) {
    return wrong(row_line_, 1, format("this row is longer than {} bytes", kRowBytesMax));
  }
  field_ += run;
  if (quoted) {
    const auto ends = std::count(run.begin(), run.end(), '\n');
    line_ += static_cast<std::uint64_t>(ends);
    column_ = ends == 0 ? column_ + run.size() : run.size() - run.rfind('\n') - 1;
  } else {
    state_ = State::plain;
    column_ += run.size();
  }
  piece_.remove_prefix(run.size());
  return {};
}

Result<void> CsvReader::end_field() {
  if (!valid_utf8(field_)) {
    return wrong(line_, column_, format("field {} is not valid UTF-8", row_.size() + 1));
  }
  if (row_.size() == kFieldsMax) {
    return wrong(row_line_, 1, format("this row has more than {} fields", kFieldsMax));
  }
  row_.push_back(std::exchange(field_, {}));
  state_ = State::start;
  return {};
}

Result<void> CsvReader::feed(char c, bool& row_done) {
  ++column_;
  if (std::exchange(last_was_return_, false) && c != '\n') {
    return wrong(line_, column_ - 1, "a carriage return that does not end a line");
  }
  if (state_ == State::quoted) {
    state_ = State::closed;  // c is a quote: anything else went with the run
  } else if (c == '"') {
    if (state_ == State::plain) {
      return wrong(line_, column_,
                   "a quote inside a field that does not begin with one; put the whole field in "
                   "quotes and double the quote");
    }
    if (state_ == State::closed) {
      field_ += '"';  // "" inside quotes
    } else {
      quote_line_ = line_;
      quote_column_ = column_;
    }
    state_ = State::quoted;
  } else if (c == delimiter_) {
    TRY(end_field());
  } else if (c == '\n') {
    TRY(end_field());
    row_done = true;
    ++line_;
    column_ = 0;
  } else if (c == '\r') {
    last_was_return_ = true;
  } else {
    return wrong(line_, column_, "text after a closing quote");
  }
  return {};
}

Result<std::optional<std::vector<std::string>>> CsvReader::next() {
  row_.clear();
  row_line_ = line_;
  row_bytes_ = 0;
  for (;;) {
    if (piece_.empty()) {
      ASSIGN_OR_RETURN(piece_, chunks_.next());
    }
    if (piece_.empty()) break;
    if (!last_was_return_) TRY(take_run());
    if (piece_.empty()) continue;
    const char c = piece_.front();
    piece_.remove_prefix(1);
    const bool blank = row_.empty() && state_ == State::start;
    bool row_done = false;
    TRY(feed(c, row_done));
    if (row_done && !blank) return std::optional(std::exchange(row_, {}));
    if (row_done) {
      row_.clear();
      row_line_ = line_;
    }
  }
  if (state_ == State::quoted) {
    return wrong(quote_line_, quote_column_, "this quote is never closed");
  }
  last_was_return_ = false;  // a file may end with a bare return
  if (row_.empty() && state_ == State::start) return std::optional<std::vector<std::string>>();
  TRY(end_field());
  return std::optional(std::exchange(row_, {}));
}

}  // namespace assay::dataset
