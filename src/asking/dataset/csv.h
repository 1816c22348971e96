// CsvReader: rows of RFC 4180, one at a time. Commas (or tabs) separate fields, CRLF or LF
// separates rows. A field in double quotes may hold commas, line ends and "" for a quote. Blank
// lines are skipped.
//
// Strict if a guess could shift columns: a quote inside an unquoted field, text after a closing
// quote, a missing closing quote and bytes that are not UTF-8 are errors with their line and
// column. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/chunks.h"

namespace assay::dataset {

class CsvReader {
 public:
  explicit CsvReader(Chunks chunks, char delimiter = ',')
      : chunks_(std::move(chunks)), delimiter_(delimiter) {}

  // Returns the next row, nullopt at the end. Errors start with "LINE:COLUMN: ".
  Result<std::optional<std::vector<std::string>>> next();
  // The line on which the last row began, from 1.
  std::uint64_t line() const { return row_line_; }
  Result<std::string> sha256() { return chunks_.sha256(); }

 private:
  enum class State { start, plain, quoted, closed };

  // Appends the bytes up to the next one that can change the state.
  Result<void> take_run();
  Result<void> end_field();
  Result<void> feed(char c, bool& row_done);
  Error wrong(std::uint64_t line, std::uint64_t column, std::string_view what) const;

  Chunks chunks_;
  char delimiter_;
  std::string_view piece_{};
  State state_ = State::start;
  std::vector<std::string> row_{};
  std::string field_{};
  std::size_t row_bytes_ = 0;
  std::uint64_t row_line_ = 1;
  std::uint64_t line_ = 1;
  std::uint64_t column_ = 0;  // of the byte just taken, in bytes, from 1
  std::uint64_t quote_line_ = 0;
  std::uint64_t quote_column_ = 0;
  bool last_was_return_ = false;
};

}  // namespace assay::dataset
