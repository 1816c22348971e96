// A curve on a simulated endpoint, killed with SIGKILL at chosen instants and resumed: the result
// must equal, byte for byte, that of an uninterrupted curve.
#include "campaign/curve/curve_run.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/testing_temp_folder.h"
#include "campaign/curve/curve_load.h"
#include "campaign/run_folder.h"
#include "domain/quiet_sink.h"
#include "plan/config_reader.h"
#include "plan/curve_point_plan.h"
#include "plan/saved_config.h"
#include "record/event_log.h"
#include "run/run.h"
#include "sim/fixed_engine.h"
#include "sim/sim_target.h"

namespace assay::campaign {
namespace {

// Counts steps, and ends the process at one of them as a power cut would.
struct Fate {
  std::uint64_t steps = 0;
  std::uint64_t kill_at = 0;  // 0: never
  void step() {
    if (++steps == kill_at) std::raise(SIGKILL);
  }
};

class FatefulSink final : public QuietSink {
 public:
  FatefulSink(EventSink& next, Fate& fate) : next_(next), fate_(fate) {}
  void on_phase(const PhaseMark& mark) override {
    next_.on_phase(mark);
    fate_.step();
  }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    next_.on_sent(query, due, sent);
    fate_.step();
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    next_.on_stream_event(query, event, text);
    fate_.step();
  }
  void on_done(const Event& event, std::string_view detail) override {
    next_.on_done(event, detail);
    fate_.step();
  }

 private:
  EventSink& next_;
  Fate& fate_;
};

struct Fixture {
  plan::Config config{};
  std::vector<Dataset> datasets{};
  CurveSettings settings{};
};

Fixture make_fixture() {
  Fixture out;
  plan::ConfigReader reader;
  for (const auto& [flag, value] : {std::pair{"--endpoint", "http://localhost:1"},
                                    {"--model", "m"},
                                    {"--concurrency", "1"},
                                    {"--prompts", "12"},
                                    {"--isl", "20"},
                                    {"--osl", "5"}}) {
    reader.flag(flag, value);
  }
  auto loaded = reader.finish();
  EXPECT_TRUE(loaded) << loaded.error().message;
  out.config = loaded->config;
  auto datasets = plan::load_datasets(out.config);
  EXPECT_TRUE(datasets) << datasets.error().message;
  out.datasets = *std::move(datasets);
  plan::CurveWish wish{.levels = {1, 3, 8}, .accuracy = false, .quick = true};
  wish.rows = out.datasets[0].rows();
  const auto plan = plan::plan_curve(wish);
  EXPECT_TRUE(plan) << plan.error().message;
  out.settings = {.id = "test", .version = "1", .started = "then", .plan = *plan};
  out.settings.config = plan::config_to_yaml(out.config);
  out.settings.datasets = Json::array();
  return out;
}

// Measures as `assay curve` does, on a simulated clock.
Result<PointOutcome> simulate(const Fixture& fixture, const plan::CurvePoint& point,
                              const std::filesystem::path& folder, double rate, Fate& fate) {
  ASSIGN_OR_RETURN(
      const plan::PointPlan planned,
      plan::plan_point(fixture.config, fixture.datasets, fixture.settings.plan, point, rate));
  SimClock clock;
  sim::FixedEngine engine({.ttft = sim::Delay::fixed(50_ms), .itl = sim::Delay::fixed(10_ms)});
  sim::SimTarget target(engine, clock,
                        [](const Query& query) {
                          return sim::Request{.prompt_tokens = 20,
                                              .output_tokens = 3 + query.sample % 4};
                        },
                        {});
  RunInfo info{.version = "1", .run_id = point.name, .simulated = true};
  for (const PhasePlan& phase : planned.bundle.plan.phases) {
    info.phases.push_back({phase.kind, phase.name, phase.open_loop});
  }
  info.facts = Json().set("steady_state", Json()
                                              .set("super_pass", fixture.settings.plan.rows)
                                              .set("window_min_s", point.window_min.seconds()));
  TRY(write_file_atomic(folder / "config.yaml", plan::config_to_yaml(planned.config)));
  TRY(make_folders(log_folder(folder)));
  ASSIGN_OR_RETURN(auto log,
                   record::EventLogWriter::create(log_folder(folder) / "events-0.alog", info));
  FatefulSink sink(*log, fate);
  const run::Control control;
  run::run(planned.bundle.plan, clock, target, sink, control);
  TRY(log->close({RunState::complete, ""}));
  fate.step();
  ASSIGN_OR_RETURN(const LoadedRun run, publish(folder, {}));
  fate.step();
  PointOutcome outcome{.complete = run.point.complete()};
  outcome.qps = run.point.rates.qps;
  return outcome;
}

Result<CurveEnd> measure(const Fixture& fixture, const std::filesystem::path& folder, Fate& fate) {
  ASSIGN_OR_RETURN(CurveFolder curve, CurveFolder::is_curve(folder)
                                          ? CurveFolder::resume(folder)
                                          : CurveFolder::create(folder, fixture.settings));
  ASSIGN_OR_RETURN(const CurveEnd end,
                   run_curve(
                       curve,
                       [&](const plan::CurvePoint& point, const std::filesystem::path& where,
                           double rate) { return simulate(fixture, point, where, rate, fate); },
                       [&](std::size_t) { fate.step(); }));
  return end;
}

// True: killed before it was done.
bool measure_in_a_child(const Fixture& fixture, const std::filesystem::path& folder,
                        std::uint64_t kill_at) {
  const pid_t child = ::fork();
  if (child == 0) {
    Fate fate{.kill_at = kill_at};
    const auto end = measure(fixture, folder, fate);
    ::_exit(end && end->finished ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

// The figures of the curve, and every point's summary and log by digest.
std::string result_of(const std::filesystem::path& folder) {
  const auto curve = CurveFolder::read(folder);
  if (!curve) return curve.error().message;
  const auto loaded = load_curve(*curve);
  if (!loaded) return loaded.error().message;
  std::string out = metrics::curve_json(*loaded).dump();
  for (std::size_t i = 0; i < curve->points().size(); ++i) {
    const std::filesystem::path run = curve->point_folder(i);
    for (const char* name : {"performance/result_summary.json", "sample_idx_map.json"}) {
      const auto text = read_file(run / name);
      out += format("\n{}/{} {}", run.filename().string(), name,
                    text ? sha256_hex(*text) : std::string("missing"));
    }
  }
  return out;
}

TEST(CurveRun, KilledAnywhereItGoesOnAndEndsTheSame) {
  const Fixture fixture = make_fixture();
  const TempFolder folder;
  Fate whole;
  const auto end = measure(fixture, folder.path() / "whole", whole);
  ASSERT_TRUE(end) << end.error().message;
  ASSERT_TRUE(end->finished);
  const std::string expected = result_of(folder.path() / "whole");
  ASSERT_NE(expected.find("\"complete\":true"), std::string::npos) << expected;
  const std::uint64_t third = whole.steps / 3;
  // The last steps of a point: close its log, publish its files, write the journal.
  std::vector<std::uint64_t> instants{1, whole.steps, whole.steps - 1, whole.steps - 2,
                                      whole.steps - 3};
  Rng rng(20261120);
  for (int i = 0; i < 10; ++i) instants.push_back(1 + rng.next() % whole.steps);
  for (std::size_t i = 0; i < instants.size(); ++i) {
    const auto place = folder.path() / format("killed{}", i);
    EXPECT_TRUE(measure_in_a_child(fixture, place, instants[i])) << instants[i];
    // Some are killed a second time before they end.
    if (i % 3 == 0) measure_in_a_child(fixture, place, third);
    EXPECT_FALSE(measure_in_a_child(fixture, place, 0));
    EXPECT_EQ(result_of(place), expected) << "killed at step " << instants[i];
  }
}

TEST(CurveRun, AFinishedPointIsNotMeasuredAgain) {
  const Fixture fixture = make_fixture();
  const TempFolder folder;
  Fate fate;
  ASSERT_TRUE(measure(fixture, folder.path() / "c", fate));
  Fate again;
  const auto end = measure(fixture, folder.path() / "c", again);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->finished);
  EXPECT_EQ(again.steps, 0U);
}

TEST(CurveRun, AChangedPointIsMeasuredAgainAndTheOldOneKept) {
  const Fixture fixture = make_fixture();
  const TempFolder folder;
  const auto place = folder.path() / "c";
  Fate fate;
  ASSERT_TRUE(measure(fixture, place, fate));
  const std::string expected = result_of(place);
  ASSERT_TRUE(write_file_atomic(place / "points/r3/assay/run.json", "{}\n"));
  Fate again;
  const auto end = measure(fixture, place, again);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_GT(again.steps, 0U);
  EXPECT_LT(again.steps, fate.steps);
  EXPECT_EQ(result_of(place), expected);
  EXPECT_TRUE(std::filesystem::exists(place / "attempts/r3-1"));
}

TEST(CurveRun, TwoProgramsDoNotMeasureOneCurve) {
  const Fixture fixture = make_fixture();
  const TempFolder folder;
  const auto first = CurveFolder::create(folder.path() / "c", fixture.settings);
  ASSERT_TRUE(first);
  const auto second = CurveFolder::resume(folder.path() / "c");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::refused);
}

}  // namespace
}  // namespace assay::campaign
