// A callback that never returns: found on a simulated clock, and named at the end of a real test.
#include "sut/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <thread>

#include "sut/mlperf/loadgen.h"
#include "sut/testing_sut.h"

namespace assay::sut {
namespace {

using testing::HasSubstr;

TEST(Watch, a_call_is_overdue_when_it_and_the_time_without_completions_reach_the_limit) {
  SimClock clock;
  std::uint64_t completed = 0;
  Watch watch(
      clock, 10_s, [&] { return completed; }, [](const std::string&) {});
  const auto at = [&](Duration since) { return watch.look(Instant{} + since); };
  EXPECT_EQ(at(100_s), "");
  watch.mark(3).begin("IssueQuery", Instant{} + 100_s);
  EXPECT_EQ(at(109_s), "");
  EXPECT_EQ(at(110_s),
            "IssueQuery has not returned for 10 s, and no sample was completed for 10 s");
  completed = 1;
  EXPECT_EQ(at(110_s), "");
  EXPECT_EQ(at(119_s), "");
  EXPECT_THAT(at(120_s), HasSubstr("has not returned for 20 s"));
  watch.mark(3).end();
  EXPECT_EQ(at(1000_s), "");
}

TEST(Watch, each_thread_has_its_own_call) {
  SimClock clock;
  Watch watch(
      clock, 1_s, [] { return 0; }, [](const std::string&) {});
  watch.mark(0).begin("IssueQuery", Instant{});
  {
    const Watch::Call call(watch.own(), "FlushQueries", Instant{});
    watch.mark(0).end();
    EXPECT_THAT(watch.look(Instant{} + 1_s), HasSubstr("FlushQueries has not returned"));
  }
  EXPECT_EQ(watch.look(Instant{} + 1_s), "");
}

// What an answer inside a call of hours must not become: a lost sample.
TEST(Watch, samples_that_are_completed_in_one_long_call_are_not_lost) {
  mlperf::TestSettings asked;
  asked.scenario = mlperf::TestScenario::Offline;
  asked.min_duration_ms = 0;
  asked.min_query_count = 5;
  SimulatedSeries test(asked, 5, [](const auto& samples, Desk& desk, SimClock& clock) {
    for (const mlperf::QuerySample& sample : samples) {
      clock.sleep_until(clock.now() + 50_s);
      auto answer = responses_to({sample});
      desk.complete(answer, clock.now(), {});
    }
  });
  test.run();
  EXPECT_EQ(test.measured.sample_latencies.size(), 5U);
  EXPECT_FALSE(test.result.target_dead);
  EXPECT_EQ(test.target->lost(), 0U);
}

// Which callback of a test never returns.
enum class Held { name, load, issue, flush, unload };

[[noreturn]] void for_ever() {
  for (;;) std::promise<void>().get_future().wait();
}

class HeldSut final : public mlperf::SystemUnderTest {
 public:
  explicit HeldSut(Held held) : held_(held) {}
  const std::string& Name() override {
    if (held_ == Held::name) for_ever();
    return name_;
  }
  void IssueQuery(const std::vector<mlperf::QuerySample>& samples) override {
    if (held_ == Held::issue) for_ever();
    auto answers = responses_to(samples);
    mlperf::QuerySamplesComplete(answers.data(), answers.size());
  }
  void FlushQueries() override {
    if (held_ == Held::flush) for_ever();
  }

 private:
  const Held held_;
  std::string name_ = "Held";
};

class HeldLibrary final : public mlperf::QuerySampleLibrary {
 public:
  explicit HeldLibrary(Held held) : held_(held) {}
  const std::string& Name() override { return name_; }
  std::size_t TotalSampleCount() override { return 4; }
  std::size_t PerformanceSampleCount() override { return 4; }
  void LoadSamplesToRam(const std::vector<mlperf::QuerySampleIndex>&) override {
    if (held_ == Held::load) for_ever();
  }
  void UnloadSamplesFromRam(const std::vector<mlperf::QuerySampleIndex>&) override {
    if (held_ == Held::unload) for_ever();
  }

 private:
  const Held held_;
  std::string name_ = "Held";
};

constexpr const char* kFolder = "ASSAY_TEST_HELD_FOLDER";

[[noreturn]] void test_with(Held held, std::uint64_t threads) {
  ::setenv("ASSAY_LOADGEN_TIMEOUT_S", "0.5", 1);
  HeldSut sut(held);
  HeldLibrary library(held);
  mlperf::TestSettings settings;
  settings.scenario = mlperf::TestScenario::Server;
  settings.min_duration_ms = 0;
  settings.min_query_count = 4;
  settings.server_target_qps = 1e6;
  settings.server_num_issue_query_threads = threads;
  mlperf::LogSettings logs;
  logs.log_output.outdir = std::getenv(kFolder);
  std::vector<std::thread> lent;
  for (std::uint64_t i = 0; i < threads; ++i) lent.emplace_back(mlperf::RegisterIssueQueryThread);
  mlperf::StartTest(&sut, &library, settings, logs, "no such file");
  for (std::thread& thread : lent) thread.join();
  std::exit(0);
}

struct HeldCase {
  Held held = Held::issue;
  const char* name = "";
  std::uint64_t threads = 0;
};

class HeldTest : public testing::TestWithParam<HeldCase> {};

TEST_P(HeldTest, a_callback_that_never_returns_is_named_and_ends_the_process) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const HeldCase& held = GetParam();
  const TempFolder folder;
  // The child begins this test anew, and keeps its parent's folder.
  ::setenv(kFolder, folder.path().c_str(), 0);
  const std::string said = std::string(held.name) + " has not returned";
  EXPECT_EXIT(test_with(held.held, held.threads), testing::ExitedWithCode(1), said);
  ::unsetenv(kFolder);
  const auto log = [&](const std::string& of) {
    return read_file(folder.path() / ("mlperf_log_" + of)).value_or("");
  };
  EXPECT_THAT(log("detail.txt"), HasSubstr(said));
  EXPECT_THAT(log("detail.txt"), HasSubstr("\"is_error\": true"));
  EXPECT_THAT(log("summary.txt"), HasSubstr("Result is : INVALID\n"));
  EXPECT_THAT(log("summary.txt"), HasSubstr("1 ERROR encountered"));
  EXPECT_THAT(log("accuracy.json"), testing::EndsWith("]\n"));
}

INSTANTIATE_TEST_SUITE_P(
    each, HeldTest,
    testing::Values(HeldCase{Held::name, "Name", 0}, HeldCase{Held::load, "LoadSamplesToRam", 0},
                    HeldCase{Held::issue, "IssueQuery", 0}, HeldCase{Held::issue, "IssueQuery", 2},
                    HeldCase{Held::flush, "FlushQueries", 0},
                    HeldCase{Held::flush, "FlushQueries", 2},
                    HeldCase{Held::unload, "UnloadSamplesFromRam", 0}),
    [](const auto& one) {
      return std::string(one.param.name) + "_" + std::to_string(one.param.threads);
    });

}  // namespace
}  // namespace assay::sut
