// SseParser: server-sent events (WHATWG HTML, section 9.2), incremental and in place.
//
// Feed it the body in any pieces; the events do not depend on the cuts (property test and fuzzer).
// Lines end in LF, CRLF or CR; several data lines of one event are joined by LF; comments and the
// fields event, id and retry are skipped, except `event: error`; a byte order mark at the start is
// skipped. An event is complete at its blank line. finish() gives data at the end of the stream
// without a blank line, because real servers end so.
//
// An event that lies in one piece is passed as a view into that piece, without a copy. Others are
// gathered in an own buffer, within a memory budget. In both cases kSsePadding bytes after the data
// may be read, as simdjson needs, if the caller keeps as many readable after each piece it feeds.
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
  // Limit for one event: a server that never ends a line must not fill our memory.
  static constexpr std::size_t kEventBytesMax = std::size_t{64} << 20;

  // `budget`: limits the memory of gathered events; null: no limit but kEventBytesMax.
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
  // data; `consumed` counts the bytes of this piece up to the event's end. False when an event
  // exceeds kEventBytesMax, or the budget: then no_room() is true. Do not feed the rest of the
  // stream after that.
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
        // The common case: "data: {…}\n\n" lies in one piece.
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
  // Whether on_event() now gets an event that is named error. Such an event is passed even without
  // data, then with the words of its comments: some servers report errors so.
  bool names_error() const { return is_error_; }

  // The stream is over: gathered data without a blank line is an event too. False when the budget
  // did not allow to gather it.
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
  // the next byte's address; else returns nullptr and changes nothing.
  const char* whole_event(const char* p, const char* end);
  // Takes at least one byte of a line; sets ready_ when a blank line ended an event.
  const char* slow_step(const char* p, const char* end);
  void end_line();
  void keep(BudgetedText& text, std::string_view more);

  BudgetedText line_;  // the part of a line so far
  // Data lines of the event so far, joined; before any data, an error's comments. Empty where the
  // event has neither.
  BudgetedText data_;
  std::string_view view_{};
  bool has_data_ = false;
  bool is_error_ = false;
  bool skip_lf_ = false;  // the last byte was CR: skip a LF that follows
  bool at_start_ = true;  // a byte order mark may come
  bool ready_ = false;
  bool too_long_ = false;
  bool no_room_ = false;
};

}  // namespace assay::net
