// LineParser: a body of lines (NDJSON: one JSON text a line), incremental and in place.
//
// Feed it the body in any pieces; the lines do not depend on the cuts (property test and fuzzer). A
// line ends in LF or CRLF; empty lines are skipped; a byte order mark at the start is skipped.
// finish() gives a last line without a line end.
//
// A line that lies in one piece is passed as a view into that piece, without a copy. Others are
// gathered within a memory budget. In both cases BudgetedText::kPadding bytes after the line may be
// read, if the caller keeps as many readable after each piece it feeds.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/memory_budget.h"

namespace assay::net {

class LineParser {
 public:
  // Limit for one line: a server that never ends it must not fill our memory.
  static constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;

  // `budget`: limits the memory of gathered lines; null: no limit but kLineBytesMax.
  explicit LineParser(MemoryBudget* budget = nullptr) : line_(budget) {}

  // For a new body; keeps some of the buffer's memory.
  void reset() {
    line_.release();
    at_start_ = true;
    no_room_ = false;
  }

  // Calls on_line(std::string_view line, std::size_t consumed) for each line that is not empty;
  // `consumed` counts the bytes of this piece up to the line's end. False when a line exceeds
  // kLineBytesMax, or the budget: then no_room() is true. Do not feed the rest after that.
  template <typename OnLine>
  bool feed(std::string_view piece, OnLine&& on_line) {
    std::size_t at = 0;
    while (at < piece.size()) {
      const std::size_t end = piece.find('\n', at);
      const std::string_view part =
          piece.substr(at, end == std::string_view::npos ? end : end - at);
      if (end == std::string_view::npos || !line_.empty()) {
        if (!keep(part)) return false;
      }
      if (end == std::string_view::npos) return true;
      at = end + 1;
      give(line_.empty() ? part : line_.view(), at, on_line);
      line_.clear();
    }
    return true;
  }

  // The body is over.
  template <typename OnLine>
  void finish(OnLine&& on_line) {
    if (!line_.empty()) give(line_.view(), 0, on_line);
    reset();
  }

  bool no_room() const { return no_room_; }

 private:
  bool keep(std::string_view part) {
    no_room_ = !line_.append(part);
    return !no_room_ && line_.size() <= kLineBytesMax;
  }

  template <typename OnLine>
  void give(std::string_view line, std::size_t consumed, OnLine&& on_line) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (at_start_ && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    at_start_ = false;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) on_line(line, consumed);
  }

  BudgetedText line_;  // the part of a line so far
  bool at_start_ = true;
  bool no_room_ = false;
};

}  // namespace assay::net
