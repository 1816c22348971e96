// For tests of this room: a system under test with a script, a sample library that notes its calls,
// and one series run on a simulated clock, where each sample is completed by the script or never.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "domain/quiet_sink.h"
#include "run/run.h"
#include "sut/mlperf/query_sample_library.h"
#include "sut/mlperf/system_under_test.h"
#include "sut/settings_copy.h"
#include "sut/sut_target.h"

namespace assay::sut {

class ScriptedSut final : public mlperf::SystemUnderTest {
 public:
  using Issue = std::function<void(const std::vector<mlperf::QuerySample>&)>;
  explicit ScriptedSut(Issue script) : script_(std::move(script)) {}
  const std::string& Name() override { return name_; }
  void IssueQuery(const std::vector<mlperf::QuerySample>& samples) override {
    issued.push_back(samples);
    script_(samples);
  }
  void FlushQueries() override { ++flushes; }

  std::vector<std::vector<mlperf::QuerySample>> issued{};
  std::atomic<int> flushes{0};

 private:
  std::string name_ = "Scripted";
  Issue script_;
};

class NotedLibrary final : public mlperf::QuerySampleLibrary {
 public:
  NotedLibrary(std::size_t total, std::size_t performance)
      : total_(total), performance_(performance) {}
  const std::string& Name() override { return name_; }
  std::size_t TotalSampleCount() override { return total_; }
  std::size_t PerformanceSampleCount() override { return performance_; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>& samples) override {
    loaded.push_back(samples);
  }
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>& samples) override {
    unloaded.push_back(samples);
  }

  std::vector<std::vector<mlperf::QuerySampleIndex>> loaded{};
  std::vector<std::vector<mlperf::QuerySampleIndex>> unloaded{};

 private:
  std::string name_ = "Noted";
  std::size_t total_;
  std::size_t performance_;
};

inline std::vector<mlperf::QuerySampleResponse> responses_to(
    const std::vector<mlperf::QuerySample>& samples) {
  std::vector<mlperf::QuerySampleResponse> out;
  for (const mlperf::QuerySample& sample : samples) out.emplace_back(sample.id, 0, 0);
  return out;
}

// Passes everything that the target needs to a run on a simulated clock.
class SimulatedSeries {
 public:
  // `script` gets the samples, the desk and the clock.
  using Script = std::function<void(const std::vector<mlperf::QuerySample>&, Desk&, SimClock&)>;
  SimulatedSeries(mlperf::TestSettings asked, std::uint64_t samples, Script script,
                  loadgen::Phase phase = loadgen::Phase::performance)
      : sut([this, script = std::move(script)](const std::vector<mlperf::QuerySample>& samples_in) {
          script(samples_in, desk, clock);
        }) {
    mlperf::LogSettings logs;
    logs.log_output.outdir = folder_.path().string();
    log_ = std::move(*LogFiles::open(logs, "", clock, AccuracyForm::plain));
    settings_ = *loadgen::effective(settings_of(asked), {samples, samples});
    sets_ = loadgen::loaded_sets(settings_, phase);
    loadgen::AccuracySampling sampling;
    series = *count_series(settings_, sets_[0], phase, sampling);
    plan = *plan_of(series, sets_[0], 60_s);
    desk.begin(clock, true);
    record = std::make_unique<SeriesRecord>(series, *log_);
    target = std::make_unique<SutTarget>(
        clock, sut, desk, series, *record, *log_, control, issued,
        IssueThread{.arrivals = plan.phases[0].arrivals, .simulated = true});
  }

  void run() {
    result = run::run(plan, clock, *target, sink, control);
    desk.end();
    std::vector<std::unique_ptr<SeriesRecord>> records;
    record->tick();
    records.push_back(std::move(record));
    measured = SeriesRecord::merge(records, issued);
  }
  // The files so far are whole afterwards.
  std::string log(const std::string& name) {
    log_.reset();
    return *read_file(folder_.path() / ("mlperf_log_" + name));
  }

  SimClock clock{};
  Desk desk{7};
  ScriptedSut sut;
  Series series{};
  Plan plan{};
  run::Control control{};
  std::atomic<std::uint64_t> issued{0};
  std::unique_ptr<SeriesRecord> record{};
  std::unique_ptr<SutTarget> target{};
  run::RunResult result{};
  loadgen::Recorded measured{};

  // Does for the target what a test's sink does.
  class Marks final : public QuietSink {
   public:
    explicit Marks(SimulatedSeries& of) : of_(of) {}
    void on_phase(const PhaseMark& mark) override {
      if (mark.step == PhaseStep::started) of_.target->begin(mark.at);
      if (mark.step == PhaseStep::issue_ended) of_.target->end_issue(*this);
    }
    void on_sent(const Query& query, Instant due, Instant at) override {
      sent.push_back({query, due, at});
    }
    void on_done(const Event& event, std::string_view detail) override {
      done.push_back(event);
      details.emplace_back(detail);
    }
    struct Sent {
      Query query{};
      Instant due{};
      Instant at{};
    };
    std::vector<Sent> sent{};
    std::vector<Event> done{};
    std::vector<std::string> details{};

   private:
    SimulatedSeries& of_;
  };
  Marks sink{*this};

 private:
  TempFolder folder_{};
  std::unique_ptr<LogFiles> log_{};
  loadgen::EffectiveSettings settings_{};
  std::vector<loadgen::LoadedSet> sets_{};
};

}  // namespace assay::sut
