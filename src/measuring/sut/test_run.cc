#include "sut/test_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/format.h"
#include "base/hash.h"
#include "base/latency_profile.h"
#include "base/version.h"
#include "loadgen/detail_log.h"
#include "loadgen/measured_fold.h"
#include "run/run.h"
#include "sut/sut_target.h"

// As LoadGen's lines for print_timestamps name the wall clock; no clock is read by it.
#define ASSAY_WALL_CLOCK \
  "system"               \
  "_clock"

namespace assay::sut {
namespace {

using loadgen::EffectiveSettings;
using loadgen::LoadedSet;
using loadgen::Mode;
using loadgen::Phase;
using loadgen::Scenario;

constexpr Duration kThreadsMax = 10_s;  // to wait for issue threads

// The end of issuing, over all threads: the last one flushes.
struct Flush {
  mlperf::SystemUnderTest& sut;
  const Clock& clock;
  std::atomic<std::uint32_t> issuing;
  std::exception_ptr fault{};

  void thread_ended(Watch::Mark& mark) {
    if (issuing.fetch_sub(1) != 1) return;
    const Watch::Call call(mark, "FlushQueries", clock.now());
    try {
      sut.FlushQueries();
    } catch (...) {
      fault = std::current_exception();
    }
  }
};

// Between the loop and the event log: marks reach the target, and each series is a phase of its
// own.
class SeriesSink final : public EventSink {
 public:
  SeriesSink(SutTarget& target, SeriesRecord& record, Flush& flush, Watch::Mark& mark,
             record::EventLogWriter* log, std::uint16_t phase)
      : target_(target), record_(record), flush_(flush), mark_(mark), log_(log), phase_(phase) {}

  void on_phase(const PhaseMark& mark) override {
    if (mark.step == PhaseStep::started) target_.begin(mark.at);
    if (mark.step == PhaseStep::issue_ended) {
      target_.end_issue(*this);
      flush_.thread_ended(mark_);
    }
    if (log_ != nullptr) log_->on_phase({phase_, mark.step, mark.at});
  }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    if (log_ != nullptr) log_->on_sent(placed(query), due, sent);
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    if (log_ != nullptr) log_->on_stream_event(placed(query), event, text);
  }
  void on_done(const Event& event, std::string_view detail) override {
    if (log_ == nullptr) return;
    Event copy = event;
    copy.query = placed(event.query);
    log_->on_done(copy, detail);
  }
  void on_tick(Instant now) override {
    record_.tick();
    if (log_ != nullptr) log_->on_tick(now);
  }

 private:
  Query placed(Query query) const {
    query.phase = phase_;
    return query;
  }

  SutTarget& target_;
  SeriesRecord& record_;
  Flush& flush_;
  Watch::Mark& mark_;
  record::EventLogWriter* log_;
  std::uint16_t phase_;
};

}  // namespace

// One issue thread: its share of the plan and all that only it touches.
struct TestRun::Thread {
  Plan plan{};
  Desk* desk = nullptr;
  std::unique_ptr<SeriesRecord> record{};
  std::unique_ptr<SutTarget> target{};
  std::unique_ptr<SeriesSink> sink{};
  run::Control control{};
  run::RunResult result{};
};

TestRun::TestRun(Process& process, mlperf::SystemUnderTest& sut,
                 mlperf::QuerySampleLibrary& library, const mlperf::TestSettings& asked,
                 const EffectiveSettings& settings, TestOptions options, Watch& watch,
                 LogFiles& log)
    : process_(process),
      sut_(sut),
      library_(library),
      asked_(asked),
      settings_(settings),
      options_(std::move(options)),
      watch_(watch),
      log_(log) {}

void TestRun::span(const char* name, Instant begin, std::int64_t count) {
  std::vector<TraceRecord> one{{.name = name,
                                .count = count,
                                .thread = this_thread_number(),
                                .begin = begin,
                                .end = clock_.now()}};
  log_.trace(one);
}

std::vector<LoadedSet> TestRun::sets_of(const EffectiveSettings& settings, Phase phase) {
  const Instant begin = clock_.now();
  auto sets = loadgen::loaded_sets(settings, phase);
  span("GenerateLoadableSets", begin);
  return sets;
}

void TestRun::load(const LoadedSet& set) {
  log_.line("loaded_qsl_set", set.samples);
  const Watch::Call call(watch_.own(), "LoadSamplesToRam", clock_.now());
  library_.LoadSamplesToRam({set.samples.begin(), set.samples.end()});
}

void TestRun::unload(const LoadedSet& set) {
  const Watch::Call call(watch_.own(), "UnloadSamplesFromRam", clock_.now());
  library_.UnloadSamplesFromRam({set.samples.begin(), set.samples.end()});
}

Result<Series> TestRun::generate(const EffectiveSettings& settings, const LoadedSet& set,
                                 Phase phase) {
  const Instant begin = clock_.now();
  ASSIGN_OR_RETURN(Series series, count_series(settings, set, phase, sampling_));
  series.first_sample = samples_before_;
  series.first_query = queries_before_;
  samples_before_ += series.queries * series.samples_per_query;
  queries_before_ += series.queries;
  log_.line("generated_query_count", series.queries);
  log_.line("generated_samples_per_query", series.samples_per_query);
  log_.line("generated_query_duration", series.generated_ns);
  span("GenerateQueries", begin);
  return series;
}

// How many threads issue; 0: the test's own.
std::uint32_t TestRun::issue_threads(const EffectiveSettings& settings) {
  const std::uint64_t asked = asked_.server_num_issue_query_threads;
  if (settings.scenario != Scenario::Server || asked == 0) return 0;
  const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked, Process::kDesks));
  const std::uint32_t there = process_.issue_threads().gather(wanted, clock_, kThreadsMax);
  process_.write_notes(log_);
  if (there != asked) {
    log_.error("error_runtime",
               format("Mismatch between settings and number of registered IssueQueryThreads! "
                      "settings.server_num_issue_query_threads = {} but {} threads registered.",
                      asked, there));
  }
  return std::min(there, wanted);
}

Result<TestRun::Measured> TestRun::run_series(const EffectiveSettings& settings,
                                              const LoadedSet& set, Phase phase) {
  ASSIGN_OR_RETURN(const Series series, generate(settings, set, phase));
  ASSIGN_OR_RETURN(const Plan plan, plan_of(series, set, options_.idle_max));
  const std::uint32_t lent = issue_threads(settings);
  const std::uint32_t count = std::max(lent, 1U);
  Flush flush{.sut = sut_, .clock = clock_, .issuing = {count}};
  std::atomic<std::uint64_t> issued{0};
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<const Desk*> desks;
  for (std::uint32_t i = 0; i < count; ++i) desks.push_back(&process_.desk(i));
  std::vector<run::Control*> controls;
  for (std::uint32_t i = 0; i < count; ++i) {
    Thread& thread = *threads.emplace_back(std::make_unique<Thread>());
    thread.plan = shard(plan, i, count);
    thread.desk = &process_.desk(i);
    thread.desk->begin(clock_, log_.traced(), series.samples_per_query);
    thread.record = std::make_unique<SeriesRecord>(series, log_);
    thread.target = std::make_unique<SutTarget>(
        clock_, sut_, *thread.desk, series, *thread.record, log_, thread.control, issued,
        IssueThread{.number = i,
                    .count = count,
                    .arrivals = thread.plan.phases[0].arrivals,
                    .mark = &watch_.mark(i)});
    thread.target->count_with(desks);
    thread.sink = std::make_unique<SeriesSink>(
        *thread.target, *thread.record, flush, watch_.mark(i),
        i < events_.size() ? events_[i].get() : nullptr, series_before_);
    controls.push_back(&thread.control);
  }
  process_.set_controls(controls);
  const WallTime began = wall_now();
  const Instant start = clock_.now();
  const auto work = [&](std::uint32_t i) {
    Thread& thread = *threads[i];
    const PromptThread prompt;
    thread.result = run::run(thread.plan, clock_, *thread.target, *thread.sink, thread.control);
  };
  lent == 0 ? work(0) : process_.issue_threads().run(count, work);
  process_.set_controls({});
  ++series_before_;
  Measured out{.settings = settings, .aborted = process_.aborted()};
  std::vector<std::unique_ptr<SeriesRecord>> records;
  Instant last{};
  for (const auto& thread : threads) last = std::max(last, thread->record->last_completion());
  log_end(threads, series, out);
  for (const auto& thread : threads) {
    thread->desk->end();
    thread->record->tick();
    out.lost += thread->target->lost();
    records.push_back(std::move(thread->record));
  }
  out.recorded = SeriesRecord::merge(records, issued.load());
  {
    const Watch::Call call(watch_.own(), "Name", clock_.now());
    out.recorded.sut_name = sut_.Name();
  }
  log_counters();
  log_.line("power_begin", loadgen::power_time(began));
  log_.line("power_end",
            loadgen::power_time({began.ns + std::max<std::int64_t>((last - start).ns, 0)}));
  interrupted_ = interrupted_ || out.aborted || out.lost > 0;
  if (flush.fault) std::rethrow_exception(flush.fault);
  for (const auto& thread : threads) {
    if (thread->target->fault()) std::rethrow_exception(thread->target->fault());
  }
  return out;
}

// What kept the series from its end.
void TestRun::log_end(const std::vector<std::unique_ptr<Thread>>& threads, const Series& series,
                      Measured& out) {
  std::uint64_t lost = 0;
  bool idle = false;
  bool stopped = false;
  for (const auto& thread : threads) {
    lost += thread->target->lost();
    idle = idle || thread->result.target_dead;
    stopped = stopped || thread->target->stopped() || thread->result.interrupted;
  }
  if (series.performance() && series.scenario() != Scenario::Server && !stopped && !idle) {
    log_.error("error_runtime",
               "Ending early: Ran out of generated queries to issue before the minimum query count "
               "and test duration were reached. Please update the relevant expected latency or "
               "target qps in the TestSettings so they are more accurate.");
  }
  if (out.aborted) log_.error("error_runtime", "The test was aborted.");
  if (idle && lost == 0) {
    // The loop itself was held up for this long: a stopped process, a machine that slept.
    out.aborted = true;
    log_.error("error_runtime", format("The test ended early: no completion was seen for {} s.",
                                       options_.idle_max.seconds()));
  }
  if (lost == 0) return;
  log_.error("error_runtime",
             idle ? format("{} samples were lost: the system under test completed nothing for {} s"
                           " (ASSAY_LOADGEN_TIMEOUT_S).",
                           lost, options_.idle_max.seconds())
                  : format("{} samples were not completed before the test ended.", lost));
}

// The stock logger's own counters. Ours has none of its slots.
void TestRun::log_counters() {
  for (const char* const name :
       {"logger_swap_request_slots_retry_count", "logger_swap_request_slots_retry_retry_count",
        "logger_swap_request_slots_retry_reencounter_count",
        "logger_start_reading_entries_retry_count", "logger_tls_total_log_cas_fail_count",
        "logger_tls_total_swap_buffers_slot_retry_count"}) {
    log_.line(name, std::uint64_t{0});
  }
}

Result<void> TestRun::accuracy() {
  log_.line("generic_message", "Starting accuracy mode");
  for (const LoadedSet& set : sets_of(settings_, Phase::accuracy)) {
    Instant begin = clock_.now();
    load(set);
    span("LoadSamples", begin, static_cast<std::int64_t>(set.samples.size()));
    ASSIGN_OR_RETURN(const Measured measured, run_series(settings_, set, Phase::accuracy));
    begin = clock_.now();
    unload(set);
    span("UnloadSampes", begin, static_cast<std::int64_t>(set.samples.size()));
    if (measured.aborted || measured.lost > 0) break;
  }
  return {};
}

// The first set alone is loaded.
Result<TestRun::Measured> TestRun::load_and_run(const EffectiveSettings& settings) {
  const auto sets = sets_of(settings, Phase::performance);
  load(sets.front());
  auto measured = run_series(settings, sets.front(), Phase::performance);
  unload(sets.front());
  return measured;
}

Result<void> TestRun::publish(const Measured& measured) {
  loadgen::Recorded recorded = measured.recorded;
  if (measured.lost > 0) {
    recorded.queries_issued =
        settings_.scenario == Scenario::MultiStream
            ? recorded.query_latencies.size()
            : std::min<std::uint64_t>(recorded.queries_issued, recorded.sample_latencies.size());
  }
  auto verdict = loadgen::verdict(measured.settings, recorded);
  if (!verdict) {
    log_.error("error_runtime", "There is no result: " + verdict.error().message);
    return {};
  }
  // The statistics are of what was completed; the result of such a test is INVALID.
  if (measured.lost > 0 || measured.aborted) verdict->min_queries_met = false;
  loadgen::say_result(measured.settings, recorded, *verdict, log_.say());
  log_.line("num_errors", log_.errors());
  recorded.warnings = log_.warnings();
  recorded.errors = log_.errors();
  std::string text = loadgen::summary_text(measured.settings, recorded, *verdict);
  // The end of the test writes the trailer, in every mode.
  text.resize(text.size() - loadgen::summary_trailer(recorded.warnings, recorded.errors).size());
  log_.summary(text);
  return {};
}

Result<void> TestRun::performance() {
  log_.line("generic_message", "Starting performance mode");
  const bool timed = asked_.print_timestamps;
  const auto seconds = [] { return wall_now().ns / 1'000'000'000; };
  const auto sets = sets_of(settings_, Phase::performance);
  load(sets.front());
  const WallTime began = wall_now();
  const Instant start = clock_.now();
  if (timed) {
    std::printf("Loadgen :: Perf mode start. " ASSAY_WALL_CLOCK " Timestamp = %lld\n",
                static_cast<long long>(seconds()));
  }
  ASSIGN_OR_RETURN(const Measured measured,
                   run_series(settings_, sets.front(), Phase::performance));
  if (timed) {
    const auto by_clock = static_cast<long long>((clock_.now() - start).ns / 1'000'000);
    const auto by_wall = static_cast<long long>((wall_now().ns - began.ns) / 1'000'000);
    std::printf(
        "Loadgen :: Perf mode stop. systme_clock Timestamp = %lld\n"
        "Loadgen :: PerfClock Perf duration = %lldms\n"
        "Loadgen :: " ASSAY_WALL_CLOCK
        " Perf duration = %lldms\n"
        "Loadgen :: PerfClock/" ASSAY_WALL_CLOCK " ratio = %.4f\n",
        static_cast<long long>(seconds()), by_clock, by_wall,
        static_cast<double>(by_clock) / static_cast<double>(by_wall));
    std::fflush(stdout);
  }
  TRY(publish(measured));
  unload(sets.front());
  return {};
}

bool TestRun::holds(const Measured& measured, std::string* why) const {
  if (measured.lost > 0 || measured.aborted) return false;
  const auto verdict = loadgen::verdict(measured.settings, measured.recorded);
  if (!verdict) return false;
  *why = verdict->performance_advice;
  return verdict->performance_met;
}

Result<void> TestRun::find_peak() {
  log_.line("generic_message", "Starting FindPeakPerformance mode");
  if (settings_.scenario != Scenario::Server) {
    log_.error("error_invalid_config",
               "Finding peak performance is only supported in Server scenarios.");
    return {};
  }
  const auto field = [](const EffectiveSettings& s) { return format("{:f}", s.target_qps); };
  log_.line("generic_message",
            "FindPeakPerformance: Check validity of the base settings field: " + field(settings_));
  std::string why;
  ASSIGN_OR_RETURN(Measured lower, load_and_run(settings_));
  if (!holds(lower, &why)) {
    log_.error("error_runtime",
               "FindPeakPerformance: Initial lower bound does not satisfy "
               "performance constraints, msg: " +
                   why);
    return publish(lower);
  }
  // A step that does not widen would search for ever.
  const double step = 1 + asked_.server_find_peak_qps_boundary_step_size;
  EffectiveSettings upper = lower.settings;
  for (;;) {
    upper.target_qps = lower.settings.target_qps * step;
    if (!(upper.target_qps > lower.settings.target_qps && upper.target_qps <= 1e9)) {
      log_.error("error_invalid_test_settings",
                 "FindPeakPerformance: there is no upper bound below 1e9 queries a second with "
                 "this server_find_peak_qps_boundary_step_size.");
      return publish(lower);
    }
    log_.line("generic_message", format("FindBoundaries: Checking fields [{}, {})",
                                        field(lower.settings), field(upper)));
    ASSIGN_OR_RETURN(Measured wider, load_and_run(upper));
    if (wider.aborted) return publish(lower);
    if (!holds(wider, &why)) break;
    lower = std::move(wider);
  }
  log_.line("generic_message", format("FindPeakPerformance: Found boundaries: [{}, {})",
                                      field(lower.settings), field(upper)));
  const auto sets = sets_of(upper, Phase::performance);
  load(sets.front());
  const double scale =
      std::pow(10, static_cast<std::uint8_t>(asked_.server_find_peak_qps_decimals_of_precision));
  while (std::floor(lower.settings.target_qps * scale) + 1 < std::floor(upper.target_qps * scale)) {
    EffectiveSettings middle = lower.settings;
    middle.target_qps += (upper.target_qps - lower.settings.target_qps) / 2;
    log_.line(
        "generic_message",
        format("FindPeakPerformanceBinarySearch: Testing the mid value of bounds [{}, {}): {}",
               field(lower.settings), field(upper), field(middle)));
    ASSIGN_OR_RETURN(Measured between, run_series(middle, sets.front(), Phase::performance));
    if (between.aborted) break;
    if (holds(between, &why)) {
      lower = std::move(between);
    } else {
      upper = middle;
    }
  }
  log_.line("generic_message",
            "FindPeakPerformance: Found peak performance field: " + field(lower.settings));
  TRY(publish(lower));
  unload(sets.front());
  return {};
}

// By which a report, and the compliance tests, judge the events again.
Result<loadgen::Test> TestRun::recorded_test() {
  loadgen::Test out{.edition = "none", .sut_name = sut_.Name()};
  switch (settings_.scenario) {
    case Scenario::SingleStream:
      out.name = "single_stream";
      break;
    case Scenario::MultiStream:
      out.name = "multi_stream";
      break;
    case Scenario::Server:
      out.name = "server";
      break;
    case Scenario::Offline:
      out.name = "offline";
      break;
  }
  out.requested = settings_.requested;
  out.library = {.total = library_.TotalSampleCount(),
                 .performance = library_.PerformanceSampleCount()};
  loadgen::AccuracySampling sampling;
  const auto set = loadgen::loaded_sets(settings_, Phase::performance).front();
  ASSIGN_OR_RETURN(const Series series, count_series(settings_, set, Phase::performance, sampling));
  out.generated = series.queries;
  return out;
}

Result<void> TestRun::open_event_logs() {
  if (options_.run_folder.empty() || settings_.mode == Mode::FindPeakPerformance) return {};
  RunInfo info{.version = std::string(version()), .git_sha = std::string(source_revision())};
  info.started = wall_now();
  info.offset = sample_clock_offset();
  info.run_id = sha256_hex(format("loadgen {} {}", info.started.ns, ::getpid())).substr(0, 32);
  info.run_key = xxh3(info.run_id);
  info.facts = Json::object();
  info.facts.set("model", sut_.Name())
      .set("endpoints", Json::array().push_back("in the process"))
      .set("loadgen_settings", settings_.requested.to_json());
  if (settings_.performance()) {
    ASSIGN_OR_RETURN(const loadgen::Test test, recorded_test());
    info.facts.set(loadgen::kTestFact, test.to_json());
  }
  const bool server = settings_.scenario == Scenario::Server;
  const auto add = [&](Phase phase) {
    const bool accuracy = phase == Phase::accuracy;
    for (std::size_t i = 0; i < (accuracy ? loadgen::loaded_sets(settings_, phase).size() : 1);
         ++i) {
      info.phases.push_back({accuracy ? PhaseKind::accuracy : PhaseKind::performance,
                             accuracy ? "accuracy" : "performance", server});
    }
  };
  if (settings_.accuracy()) add(Phase::accuracy);
  if (settings_.performance()) add(Phase::performance);
  const std::uint64_t lent = server ? asked_.server_num_issue_query_threads : 0;
  info.shard_count =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(lent, 1, Process::kDesks));
  ASSIGN_OR_RETURN(claim_, record::FolderClaim::take(options_.run_folder));
  const auto folder = options_.run_folder / "assay";
  TRY(make_folders(folder));
  for (std::uint32_t i = 0; i < info.shard_count; ++i) {
    info.shard_index = i;
    ASSIGN_OR_RETURN(auto log, record::EventLogWriter::create(folder / format("events-{}.alog", i),
                                                              info, {.texts = record::Texts::all}));
    events_.push_back(std::move(log));
  }
  return {};
}

Result<void> TestRun::close_event_logs() {
  const RunEnd end{.state = interrupted_ ? RunState::interrupted : RunState::complete,
                   .reason = interrupted_ ? "the test did not reach its end" : ""};
  for (const auto& log : events_) TRY(log->close(end));
  return {};
}

Result<void> TestRun::run() {
  TRY(open_event_logs());
  if (settings_.accuracy()) TRY(accuracy());
  if (settings_.mode == Mode::FindPeakPerformance) {
    TRY(find_peak());
  } else if (settings_.performance() && !interrupted_) {
    TRY(performance());
  }
  return close_event_logs();
}

}  // namespace assay::sut
