// TestRun: a whole LoadGen test of a system under test: loads sample sets, runs a series for each
// through run::run, judges what was measured, and writes the logs (log_files.h). With a folder for
// it, the events go into an event log too, which `assay report` reads.
//
// One thread; blocks. What the callbacks throw leaves run(), when the series has ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "loadgen/queries.h"
#include "loadgen/settings.h"
#include "loadgen/test.h"
#include "loadgen/verdict.h"
#include "record/event_log.h"
#include "record/folder_claim.h"
#include "sut/log_files.h"
#include "sut/mlperf/query_sample_library.h"
#include "sut/mlperf/system_under_test.h"
#include "sut/mlperf/test_settings.h"
#include "sut/process.h"
#include "sut/series.h"
#include "sut/watch.h"

namespace assay::sut {

struct TestOptions {
  // After this time without any completion the samples in flight are lost.
  Duration idle_max{3'600'000'000'000};
  // For the event log; none: no event log.
  std::filesystem::path run_folder{};
};

class TestRun {
 public:
  // All references must outlive the run. `asked`: with an audit's changes.
  TestRun(Process& process, mlperf::SystemUnderTest& sut, mlperf::QuerySampleLibrary& library,
          const mlperf::TestSettings& asked, const loadgen::EffectiveSettings& settings,
          TestOptions options, Watch& watch, LogFiles& log);

  // Fails where the settings give no query, or the run folder cannot be written.
  Result<void> run();

 private:
  // A series that was run.
  struct Measured {
    loadgen::EffectiveSettings settings{};
    loadgen::Recorded recorded{};
    std::uint64_t lost = 0;
    bool aborted = false;
  };
  struct Thread;  // one issue thread's objects

  Result<void> accuracy();
  Result<void> performance();
  Result<void> find_peak();
  Result<Measured> load_and_run(const loadgen::EffectiveSettings& settings);
  Result<Measured> run_series(const loadgen::EffectiveSettings& settings,
                              const loadgen::LoadedSet& set, loadgen::Phase phase);
  std::vector<loadgen::LoadedSet> sets_of(const loadgen::EffectiveSettings& settings,
                                          loadgen::Phase phase);
  void load(const loadgen::LoadedSet& set);
  void unload(const loadgen::LoadedSet& set);
  std::uint32_t issue_threads(const loadgen::EffectiveSettings& settings);
  Result<Series> generate(const loadgen::EffectiveSettings& settings, const loadgen::LoadedSet& set,
                          loadgen::Phase phase);
  void log_end(const std::vector<std::unique_ptr<Thread>>& threads, const Series& series,
               Measured& out);
  void log_counters();
  // Whether the limits of the server scenario held. No verdict counts as no.
  bool holds(const Measured& measured, std::string* why) const;
  Result<void> publish(const Measured& measured);
  void span(const char* name, Instant begin, std::int64_t count = -1);
  Result<loadgen::Test> recorded_test();
  Result<void> open_event_logs();
  Result<void> close_event_logs();

  Process& process_;
  mlperf::SystemUnderTest& sut_;
  mlperf::QuerySampleLibrary& library_;
  const mlperf::TestSettings& asked_;
  const loadgen::EffectiveSettings& settings_;
  const TestOptions options_;
  Watch& watch_;
  LogFiles& log_;
  // A thread that sleeps almost to the due instant gets its core when it wakes; one that spins all
  // the time pays for that with its turns.
  OsClock clock_{10_us};
  loadgen::AccuracySampling sampling_{};
  std::uint64_t samples_before_ = 0;
  std::uint64_t queries_before_ = 0;
  std::uint16_t series_before_ = 0;
  std::optional<record::FolderClaim> claim_{};
  std::vector<std::unique_ptr<record::EventLogWriter>> events_{};
  bool interrupted_ = false;
};

}  // namespace assay::sut
