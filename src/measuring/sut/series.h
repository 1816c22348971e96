// Series: one series of a LoadGen test, that is, one loaded set's queries: what is asked (in a Plan
// for run::run and in LoadGen's numbers) and what was measured.
//
// SeriesRecord: what one issue thread measured in it. Belongs to that thread until the series ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "domain/plan.h"
#include "loadgen/queries.h"
#include "loadgen/settings.h"
#include "loadgen/verdict.h"
#include "sut/log_files.h"

namespace assay::sut {

struct Series {
  const loadgen::EffectiveSettings* settings = nullptr;
  loadgen::Phase phase = loadgen::Phase::performance;
  std::uint64_t first_sample = 0;  // the place of its first sample in the whole test
  std::uint64_t first_query = 0;
  // All that its rules give: LoadGen generates more queries than it issues.
  std::uint64_t queries = 0;
  std::uint64_t samples_per_query = 1;
  std::int64_t generated_ns = 0;
  loadgen::AccuracySampling sampling{};  // at the series' begin

  bool performance() const { return phase == loadgen::Phase::performance; }
  loadgen::Scenario scenario() const { return settings->scenario; }
};

// Counts the queries of the set, which is all that has to be known before the first one: a second
// pass over the same stream then makes each when it is asked for. `sampling` is drawn once for each
// sample, and is then where the next series begins.
Result<Series> count_series(const loadgen::EffectiveSettings& settings,
                            const loadgen::LoadedSet& set, loadgen::Phase phase,
                            loadgen::AccuracySampling& sampling);

// One phase, whose queries are LoadGen's samples: the loop knows no query of several. A server
// series has its schedule (8 bytes a query); the samples are drawn one by one. `idle_max`: how long
// the loop waits without any completion. The set and the settings must outlive the plan.
Result<Plan> plan_of(const Series& series, const loadgen::LoadedSet& set, Duration idle_max);

// Whether each sample's answer is logged. Asked in ascending order.
class LoggedSamples {
 public:
  explicit LoggedSamples(const loadgen::AccuracySampling& sampling) : sampling_(sampling) {}
  bool at(std::uint64_t sample) {
    bool logged = false;
    for (; next_ <= sample; ++next_) logged = sampling_.next();
    return logged;
  }

 private:
  loadgen::AccuracySampling sampling_;
  std::uint64_t next_ = 0;
};

// One completed sample. `sample` and `query` count from the series' begin.
struct Completed {
  std::uint64_t sample = 0;
  std::uint64_t query = 0;
  std::uint32_t index = 0;
  Instant due{};
  Instant issued{};
  Instant first_token = Instant::none();
  Instant done{};
  Instant query_done{};  // of the slowest of its query, where this is the query's last
  bool ends_query = false;
  bool logged = false;
  std::int64_t tokens = 0;
  std::unique_ptr<Answer> answer{};  // where it is logged
};

class SeriesRecord {
 public:
  SeriesRecord(const Series& series, LogFiles& log) : series_(series), log_(log) {}

  void begin(Instant at) { started_ = at; }
  Instant started() const { return started_; }
  // Offline counts from its only query.
  void query_issued(Instant at);
  void first_token(std::uint64_t sample, std::uint64_t query, std::uint32_t index, Instant due,
                   Instant issued, Instant at);
  void completed(Completed what);
  void misused(Misuse misuse) { log_.error("error_runtime", to_string(misuse)); }
  void span(const char* name, Instant begin, Instant end, std::uint64_t thread,
            std::int64_t count = -1);
  // Hands over what the trace has; call it now and then.
  void tick() { log_.trace(trace_); }

  // The records of all issue threads as one. `issued`: queries.
  static loadgen::Recorded merge(const std::vector<std::unique_ptr<SeriesRecord>>& records,
                                 std::uint64_t issued);
  Instant last_completion() const { return last_completion_; }

 private:
  bool tokens_count() const { return series_.settings->requested.use_token_latencies; }
  void record_tokens(Completed& what, std::int64_t latency);
  void trace_sample(const Completed& what);
  void room_for_trace();

  const Series& series_;
  LogFiles& log_;
  Instant started_{};
  bool begun_ = false;  // Offline: started_ is the query's issue
  Instant last_completion_{};
  loadgen::Recorded figures_{};
  std::uint64_t last_query_ = 0;
  bool any_query_ = false;
  std::vector<TraceRecord> trace_{};
};

}  // namespace assay::sut
