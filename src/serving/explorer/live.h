// LiveRuns: the runs in progress in watched folders, for /live. Its thread looks about once a
// second for run folders with a growing log, folds the log, and reports it; for a run of a curve it
// reports the curve's progress too. A run that has ended is put into the store, and every page is
// notified.
//
// Each look folds the whole log again. To keep this a small share of one core (the machine may be
// the measuring one), the next look at a run waits ten times the duration of the last. Runs that
// ended, and logs without a write for a minute, before the watch began are not reported: the
// watcher has imported them.
//
// Call since() from any thread; look() from one, the thread that start() makes.
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
  WallTime began{};  // when the watch began
};

class LiveRuns {
 public:
  LiveRuns();
  ~LiveRuns();
  LiveRuns(const LiveRuns&) = delete;
  LiveRuns& operator=(const LiveRuns&) = delete;

  // Call both once, before anything but since(). Finished runs go into `store`, now owned.
  void open(LiveOptions options, std::unique_ptr<store::Store> store);
  void start(const Clock& clock);

  // One look at every folder. Tests call it instead of start().
  void look(const Clock& clock);

  struct News {
    std::uint64_t number = 0;
    std::vector<LiveEvent> events{};
  };
  // Events reported after `number`; only the latest of each run and curve.
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
  // `curve`: the curve's folder that contains this one; "" if none.
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
