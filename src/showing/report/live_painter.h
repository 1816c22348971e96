// Draws the live block on a terminal, in place, four times a second. Without a terminal it prints a
// plain line every five seconds; with `quiet`, nothing.
//
// LiveScreen is the pure half: from lines it makes the bytes that turn the last picture into this
// one. LivePainter is the thread around it. It only reads snapshots, so the measuring thread never
// waits for a terminal.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "metrics/live.h"
#include "report/live_block.h"
#include "report/terminal_style.h"

namespace assay::report {

class LiveScreen {
 public:
  // Draws `lines` over the last call's lines. Lines must not be wider than the terminal.
  std::string draw(const std::vector<std::string>& lines);
  // Removes the picture; the cursor returns to where it began.
  std::string clear();

 private:
  std::size_t drawn_ = 0;  // our lines above the cursor
};

struct LivePainterOptions {
  LiveTitle title{};
  bool quiet = false;
  // Lines above the block, for what surrounds the run, such as a curve. May be empty.
  std::function<std::vector<std::string>(std::size_t columns)> above{};
  // The style of standard error. Read for each picture, since a window can change its size.
  std::function<TerminalStyle()> style = [] { return terminal_style(2); };
};

class LivePainter {
 public:
  // This object's thread calls `snapshot` until stop(). `write` gets whole frames, from any thread
  // but never from two at once.
  LivePainter(LivePainterOptions options, std::function<metrics::LiveSnapshot()> snapshot,
              std::function<void(std::string_view)> write);
  ~LivePainter();
  LivePainter(const LivePainter&) = delete;
  LivePainter& operator=(const LivePainter&) = delete;

  // Prints a line that stays, above the block. Any thread.
  void say(std::string_view line);
  // Ends the thread and removes the block; the report follows it. Safe to call twice.
  void stop();

 private:
  void loop();
  void paint() REQUIRES_LOCK(mutex_);

  const LivePainterOptions options_;
  const std::function<metrics::LiveSnapshot()> snapshot_;
  const std::function<void(std::string_view)> write_;
  Mutex mutex_;  // also serializes writes
  Condition wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  LiveScreen screen_ GUARDED_BY(mutex_);
  int turns_ GUARDED_BY(mutex_) = 0;               // loop turns since the last plain line
  std::string last_trouble_ GUARDED_BY(mutex_){};  // the last trouble that got a plain line
  std::string last_phase_ GUARDED_BY(mutex_){};    // the last phase that got a plain line
  std::thread thread_;
};

}  // namespace assay::report
