// SseParser: server-sent events (WHATWG HTML, section 9.2), incremental and in place.
//
// Feed it the body in any pieces; the events are the same however the bytes are cut (property test
// and fuzzer). Lines end in LF, CRLF or CR; several data lines of one event are joined by LF;
// comments and the fields event, id and retry are skipped, but for `event: error`; a byte order
// mark at the start is skipped. An event is complete at its blank line. Data at the end of the
// stream without one is given by finish(), because real servers end without it.
//
// An event that lies whole in one piece is passed as a view into that piece: nothing is copied.
// Others are gathered in an own buffer, within a memory budget. In both cases kSsePadding bytes
// after the data are readable, as simdjson needs, if the caller keeps as many readable after each
// piece it feeds.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/memory_budget.h"

namespace assay::net {

inline constexpr std::size_t kSsePadding = BudgetedText::kPadding;

class SseParser {
 public:
  // One event may not grow beyond this: a server that never ends a line must not eat our memory.
  static constexpr std::size_t kEventBytesMax = std::size_t{64} << 20;

  // `budget`: what the events in hand may take of memory; null: no limit but kEventBytesMax.
  explicit SseParser(MemoryBudget* budget = nullptr) : line_(budget), data_(budget) {}

  // For a new stream; keeps some of the buffers' memory.
  void reset() {
    line_.release();
    data_.release();
    has_data_ = false;
    is_error_ = false;
    skip_lf_ = false;
    at_start_ = true;
    too_long_ = false;
    no_room_ = false;
  }

  // Calls on_event(std::string_view data, std::size_t consumed) for each complete event that has
  // data; `consumed` is how many bytes of this piece were used up to and with it. False when an
  // event is longer than kEventBytesMax, or than the budget allows: then no_room() is true. The
  // stream is then not worth reading on.
  template <typename OnEvent>
  bool feed(std::string_view piece, OnEvent&& on_event) {
    const char* const begin = piece.data();
    const char* p = begin;
    const char* const end = p + piece.size();
    while (p < end) {
      if (skip_lf_) {
        skip_lf_ = false;
        if (*p == '\n') {
          ++p;
          continue;
        }
      }
      if (line_.empty() && !has_data_ && !at_start_) {
        // The common case: "data: {…}\n\n" lies whole before us.
        const char* const after = whole_event(p, end);
        if (after != nullptr) {
          on_event(view_, static_cast<std::size_t>(after - begin));
          if (is_error_) {
            data_.clear();  // its comments
            is_error_ = false;
          }
          p = after;
          continue;
        }
      }
      p = slow_step(p, end);
      if (too_long_) return false;
      if (ready_) {
        ready_ = false;
        on_event(data_.view(), static_cast<std::size_t>(p - begin));
        data_.clear();
        has_data_ = false;
        is_error_ = false;
      }
    }
    return true;
  }

  bool no_room() const { return no_room_; }
  // Whether the event that on_event is given is named error. Such a one is given without data too,
  // then with the words of its comments: some servers tell their errors so.
  bool names_error() const { return is_error_; }

  // The stream is over: what was gathered and never closed by a blank line is an event too.
  // False when the budget did not allow to gather it.
  template <typename OnEvent>
  bool finish(OnEvent&& on_event) {
    if (!line_.empty()) end_line();
    const bool room = !no_room_;
    if (room && (has_data_ || is_error_)) on_event(data_.view(), std::size_t{0});
    reset();
    return room;
  }

 private:
  // If p starts "data:…" with its line end and blank line all before `end`, sets view_ and returns
  // what follows; else nullptr, and nothing has changed.
  const char* whole_event(const char* p, const char* end);
  // Takes at least one byte of a line; sets ready_ when a blank line ended an event.
  const char* slow_step(const char* p, const char* end);
  void end_line();
  void keep(BudgetedText& text, std::string_view more);

  BudgetedText line_;  // the piece of a line that came so far
  // Data lines of the event so far, joined; an error's comments before any. Empty where the event
  // has neither.
  BudgetedText data_;
  std::string_view view_{};
  bool has_data_ = false;
  bool is_error_ = false;
  bool skip_lf_ = false;  // the last byte was CR: a LF now belongs to it
  bool at_start_ = true;  // a byte order mark may come
  bool ready_ = false;
  bool too_long_ = false;
  bool no_room_ = false;
};

}  // namespace assay::net
