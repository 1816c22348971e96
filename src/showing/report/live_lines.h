// The live figures for a program: JSON lines, one a second, the first at once and the last when the
// run has ended. LiveLines is a thread that only reads snapshots, so the measuring thread never
// waits for who reads them.
#pragma once

#include <functional>
#include <string_view>
#include <thread>

#include "base/json.h"
#include "base/mutex.h"
#include "base/time.h"
#include "metrics/live.h"

namespace assay::report {

// {phase, kind, step, elapsed_s, queries_planned, duration_max_s, sent, completed, failed,
// in_flight, failures: {OUTCOME: count}, offered_qps, achieved_qps, completed_qps, output_tps,
// tokens_known, ttft_ms, tpot_ms, lateness_ms: {count, p50, p90, p99} or null, steady, trouble}
Json live_json(const metrics::LiveSnapshot& snapshot);

class LiveLines {
 public:
  // This object's thread calls both until the object ends. `write` gets one line with its end.
  LiveLines(std::function<metrics::LiveSnapshot()> snapshot,
            std::function<void(std::string_view)> write, Duration every = 1_s);
  ~LiveLines();
  LiveLines(const LiveLines&) = delete;
  LiveLines& operator=(const LiveLines&) = delete;

 private:
  void loop();

  const std::function<metrics::LiveSnapshot()> snapshot_;
  const std::function<void(std::string_view)> write_;
  const Duration every_;
  Mutex mutex_;
  Condition wake_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace assay::report
