// Rows of JSON files as text, one at a time: LineReader for JSON lines, ElementReader for the
// elements of one array. Both need memory for one row, whatever the file's size. Json::parse reads
// the row itself. Errors start with "LINE: ". One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dataset/chunks.h"

namespace assay::dataset {

class LineReader {
 public:
  explicit LineReader(Chunks chunks) : chunks_(std::move(chunks)) {}

  // Returns the next line that is not blank, without its end, valid until the next call; nullopt at
  // the end.
  Result<std::optional<std::string_view>> next();
  // The number of the last line, from 1.
  std::uint64_t line() const { return line_; }
  Result<std::string> sha256() { return chunks_.sha256(); }

 private:
  Chunks chunks_;
  std::string_view piece_{};
  std::string buffer_{};
  std::uint64_t line_ = 0;
};

class ElementReader {
 public:
  explicit ElementReader(Chunks chunks) : chunks_(std::move(chunks)) {}

  // Returns true if the file begins with an array. Call it before next(), or not at all.
  Result<bool> is_array();
  // The next element's text, valid until the next call; nullopt at the array's end.
  Result<std::optional<std::string_view>> next();
  // The line on which the last element began, from 1.
  std::uint64_t line() const { return element_line_; }
  Result<std::string> sha256() { return chunks_.sha256(); }

 private:
  // Skips blanks; does not consume the next byte. Returns '\0' at the end.
  Result<char> peek();
  Result<void> begin();
  Result<void> end();
  // Moves bytes of the element out of the piece; returns true when the element is complete.
  Result<bool> take();

  Chunks chunks_;
  std::string_view piece_{};
  std::string buffer_{};
  std::uint64_t line_ = 1;
  std::uint64_t element_line_ = 1;
  std::uint64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace assay::dataset
