// Puts the live block on a terminal, in place, four times a second; where there is no terminal, a
// plain line every five seconds; with quiet, nothing.
//
// LiveScreen is the pure half: lines in, the bytes that turn the last picture into this one out.
// LivePainter is the thread around it. It only reads snapshots, so the measuring thread never waits
// for a terminal.
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
  // Draws `lines` over what the last call drew. Lines must not be wider than the terminal.
  std::string draw(const std::vector<std::string>& lines);
  // Takes the picture away; the cursor is left where it began.
  std::string clear();

 private:
  std::size_t drawn_ = 0;  // lines above the cursor that are ours
};

struct LivePainterOptions {
  LiveTitle title{};
  bool quiet = false;
  // Lines above the block, for what goes on around the run: a curve. May be empty.
  std::function<std::vector<std::string>(std::size_t columns)> above{};
  // Of standard error. Asked for each picture, since a window changes its size during a run.
  std::function<TerminalStyle()> style = [] { return terminal_style(2); };
};

class LivePainter {
 public:
  // `snapshot` is called from this object's thread until stop(); `write` gets whole frames, from
  // any thread but never from two at once.
  LivePainter(LivePainterOptions options, std::function<metrics::LiveSnapshot()> snapshot,
              std::function<void(std::string_view)> write);
  ~LivePainter();
  LivePainter(const LivePainter&) = delete;
  LivePainter& operator=(const LivePainter&) = delete;

  // A line that stays, above the block. Any thread.
  void say(std::string_view line);
  // Ends the thread and takes the block away: the report that follows says it all. Safe to call
  // twice.
  void stop();

 private:
  void loop();
  void paint() REQUIRES_LOCK(mutex_);

  const LivePainterOptions options_;
  const std::function<metrics::LiveSnapshot()> snapshot_;
  const std::function<void(std::string_view)> write_;
  Mutex mutex_;  // also the turn to write
  Condition wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  LiveScreen screen_ GUARDED_BY(mutex_);
  int turns_ GUARDED_BY(mutex_) = 0;               // of the loop since the last plain line
  std::string last_trouble_ GUARDED_BY(mutex_){};  // that a plain line was written for
  std::string last_phase_ GUARDED_BY(mutex_){};    // that a plain line was written for
  std::thread thread_;
};

}  // namespace assay::report
