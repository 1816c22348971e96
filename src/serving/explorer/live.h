// LiveRuns: what goes on in folders that are watched, for /live. A thread of its own looks about
// once a second for run folders whose log grows, folds what is there, and says it; around a run of
// a curve it says how far the curve is. When a run has ended it is put into the store, which every
// page then hears of.
//
// A log is folded anew at each look. So that this stays a small share of one core (of a machine
// that may be the one that measures), the next look at a run waits ten times as long as the last
// one took. Runs that had ended, and logs that nobody wrote to for a minute, before the watch
// began, are no news: whoever watches has imported them.
//
// since() from any thread; look() from one, which is the thread that start() makes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "explorer/import.h"
#include "store/store.h"

namespace assay::explorer {

struct LiveEvent {
  std::string name{};  // run, curve
  std::string data{};  // JSON, one line: schema LiveRun, LiveCurve
};

struct LiveOptions {
  std::vector<std::filesystem::path> folders{};
  ImportOptions import{};
  WallTime began{};  // of the watch
};

class LiveRuns {
 public:
  LiveRuns();
  ~LiveRuns();
  LiveRuns(const LiveRuns&) = delete;
  LiveRuns& operator=(const LiveRuns&) = delete;

  // Both once, before anything else but since(). Finished runs go into `store`, which is then ours.
  void open(LiveOptions options, std::unique_ptr<store::Store> store);
  void start(const Clock& clock);

  // One look at every folder. Tests call it in place of start().
  void look(const Clock& clock);

  struct News {
    std::uint64_t number = 0;
    std::vector<LiveEvent> events{};
  };
  // What was said after `number`; the latest of each run and curve only.
  News since(std::uint64_t number) const MUST_NOT_HOLD(mutex_);

 private:
  struct Watched;
  struct Run;
  struct Said {
    std::string key{};
    std::uint64_t number = 0;
    LiveEvent event{};
  };

  void watch(const Clock& clock);
  // `curve`: the curve's folder around this one; "" where there is none.
  void look_below(const std::filesystem::path& folder, const std::filesystem::path& curve,
                  int depth, const Clock& clock);
  void look_at_run(const std::filesystem::path& folder, const std::filesystem::path& curve,
                   const Clock& clock);
  // False: look again later.
  bool put_in_store(const std::filesystem::path& whole);
  void say_silent(const std::filesystem::path& folder, Run& run, Instant now);
  void say_curve(const std::filesystem::path& folder, const std::filesystem::path& going,
                 bool ended);
  void say(const std::string& key, LiveEvent event) MUST_NOT_HOLD(mutex_);

  LiveOptions options_{};
  std::unique_ptr<store::Store> store_{};
  std::unique_ptr<Watched> watched_;

  mutable Mutex mutex_{};
  Condition wake_{};
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::uint64_t number_ GUARDED_BY(mutex_) = 0;
  std::vector<Said> said_ GUARDED_BY(mutex_){};
  std::thread thread_{};
};

}  // namespace assay::explorer
