// SutTarget: a Target in the process. It issues a run's queries to a system under test through
// LoadGen's callbacks, and reports what the system hands in at a Desk.
//
// A query of the loop is one sample. Samples that form one LoadGen query are issued in one call;
// in MultiStream they are reported together when the slowest has come, so that the loop releases
// the next query's. With `coalesce` a call has all samples that are due.
//
// LoadGen ends a series by its last issued query, not by the time: the target, which knows it, asks
// `control` to stop. An exception of the system under test stops the run too; fault() keeps it.
//
// Belongs to the loop's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "base/clock.h"
#include "domain/target.h"
#include "run/run.h"
#include "sut/desk.h"
#include "sut/mlperf/system_under_test.h"
#include "sut/series.h"
#include "sut/watch.h"

namespace assay::sut {

// One issue thread's part of a series.
struct IssueThread {
  std::uint32_t number = 0;  // this one's
  std::uint32_t count = 1;
  // Server: this thread's instants, from the series' start, to see which queries are due together.
  std::span<const Duration> arrivals{};
  bool simulated = false;  // the clock moves by its sleep_until() alone, and no thread completes
  Watch::Mark* mark = nullptr;  // where its calls are watched; null: nowhere
};

class SutTarget final : public Target {
 public:
  // All references must outlive the target. `issued` counts the queries of all threads.
  SutTarget(Clock& clock, mlperf::SystemUnderTest& sut, Desk& desk, const Series& series,
            SeriesRecord& record, LogFiles& log, run::Control& control,
            std::atomic<std::uint64_t>& issued, IssueThread thread);

  // The loop's phase begins.
  void begin(Instant at);
  // No query follows: issues what waits to be coalesced, and cancels a part of a query.
  void end_issue(EventSink& sink);

  void submit(const Query& query, Instant due, EventSink& sink) override;
  void poll(Instant until, EventSink& sink) override;
  std::size_t in_flight() const override { return in_flight_; }
  void cancel_all(EventSink& sink) override;

  // Where other desks count completions: for the limit of queries in flight over all threads.
  void count_with(std::vector<const Desk*> desks) { desks_ = std::move(desks); }
  // Queries that this thread issued.
  std::uint64_t queries() const { return queries_; }
  // A rule ended the series, or a fault; false: it issued all there was.
  bool stopped() const { return stopping_; }
  std::exception_ptr fault() const { return fault_; }
  // Samples that were issued and never completed.
  std::uint64_t lost() const { return lost_; }

 private:
  struct Asked {
    Query query{};
    Instant due{};        // as the loop has it
    Instant scheduled{};  // as LoadGen has it: the issue, but in Server the schedule
    Instant sent = Instant::none();
    bool open = false;
    bool logged = false;
  };

  bool holds(const Query& query);
  void issue(EventSink& sink);
  void apply_stop_rules(Instant at);
  void stop(std::string_view text);
  void report(Entry& entry, EventSink& sink);
  void report_sample(Entry& entry, EventSink& sink);
  void release_held(EventSink& sink);
  void cancel(Asked& asked, Instant now, EventSink& sink);
  std::uint64_t query_of(std::uint64_t sample) const { return sample / per_query_; }

  Clock& clock_;
  mlperf::SystemUnderTest& sut_;
  Desk& desk_;
  const Series& series_;
  SeriesRecord& record_;
  LogFiles& log_;
  run::Control& control_;
  std::atomic<std::uint64_t>& issued_;
  const IssueThread thread_;
  const std::uint64_t per_query_;
  const bool whole_queries_;  // reported together
  const bool coalesces_;
  std::vector<const Desk*> desks_{};

  Instant started_{};
  Instant loop_began_{};        // where the trace's current SampleLoop begins
  std::vector<Asked> asked_{};  // by slot
  std::vector<mlperf::QuerySample> batch_{};
  std::vector<std::uint32_t> batch_slots_{};
  Instant batch_began_{};
  LoggedSamples logged_;
  std::vector<Entry> entries_{};
  std::vector<Event> held_{};
  std::uint64_t samples_ = 0;  // submitted
  std::uint64_t query_samples_done_ = 0;
  Instant query_done_{};
  std::uint64_t queries_ = 0;
  std::size_t in_flight_ = 0;
  std::uint64_t lost_ = 0;
  bool stopping_ = false;
  bool cancels_part_ = false;
  std::exception_ptr fault_{};
};

}  // namespace assay::sut
