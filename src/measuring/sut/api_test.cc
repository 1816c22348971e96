// LoadGen's functions as a program calls them, with files in a folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/json.h"
#include "base/mutex.h"
#include "base/text.h"
#include "record/event_log.h"
#include "sut/mlperf/bindings/c_api.h"
#include "sut/mlperf/loadgen.h"
#include "sut/testing_sut.h"

namespace assay::sut {
namespace {

using mlperf::QuerySample;
using testing::HasSubstr;
using testing::Not;

void answer_now(const std::vector<QuerySample>& samples) {
  auto all = responses_to(samples);
  mlperf::QuerySamplesComplete(all.data(), all.size());
}

mlperf::TestSettings short_test(mlperf::TestScenario scenario, std::uint64_t queries) {
  mlperf::TestSettings out;
  out.scenario = scenario;
  out.min_duration_ms = 0;
  out.min_query_count = queries;
  out.server_target_qps = 1e6;
  out.server_target_latency_ns = 3'600'000'000'000;
  return out;
}

// A test in a folder of its own.
struct Tested {
  std::string run(mlperf::SystemUnderTest& sut, mlperf::QuerySampleLibrary& library,
                  const mlperf::TestSettings& settings) {
    mlperf::LogSettings logs;
    logs.log_output.outdir = folder.path().string();
    mlperf::StartTest(&sut, &library, settings, logs, "no such file");
    return log("detail.txt");
  }
  std::string log(const std::string& name) const {
    return *read_file(folder.path() / ("mlperf_log_" + name));
  }
  TempFolder folder{};
};

TEST(LoadgenApi, a_submission_run_asks_every_sample_and_then_the_performance_set) {
  ScriptedSut sut(answer_now);
  NotedLibrary library(50, 20);
  auto settings = short_test(mlperf::TestScenario::SingleStream, 70);
  settings.mode = mlperf::TestMode::SubmissionRun;
  Tested tested;
  const std::string detail = tested.run(sut, library, settings);
  EXPECT_EQ(sut.issued.size(), 120U);
  EXPECT_EQ(library.loaded.size(), 4U);  // 20 + 20 + 10, and the performance set
  EXPECT_EQ(library.unloaded, library.loaded);
  EXPECT_EQ(sut.flushes, 4);
  std::set<std::size_t> rows;
  for (std::size_t i = 0; i < 50; ++i) rows.insert(sut.issued[i].at(0).index);
  EXPECT_EQ(rows.size(), 50U);
  EXPECT_THAT(tested.log("summary.txt"), HasSubstr("Result is : VALID"));
  EXPECT_THAT(detail, HasSubstr("\"key\": \"num_errors\", \"value\": 0"));
  EXPECT_TRUE(Json::parse(tested.log("trace.json")));
  const auto answers = Json::parse(tested.log("accuracy.json"));
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->size(), 50U);
}

TEST(LoadgenApi, a_second_test_of_a_process_is_as_good_as_the_first) {
  for (int i = 0; i < 2; ++i) {
    ScriptedSut sut(answer_now);
    NotedLibrary library(10, 10);
    Tested tested;
    tested.run(sut, library, short_test(mlperf::TestScenario::Offline, 30));
    EXPECT_EQ(sut.issued.at(0).size(), 30U);
    EXPECT_THAT(tested.log("summary.txt"), HasSubstr("Result is : VALID"));
  }
}

TEST(LoadgenApi, lent_threads_issue_every_query_once) {
  constexpr std::uint64_t kThreads = 3;
  Mutex mutex;
  std::set<std::thread::id> issuers;
  std::size_t count = 0;
  ScriptedSut::Issue script = [&](const std::vector<QuerySample>& samples) {
    {
      Lock lock(mutex);
      issuers.insert(std::this_thread::get_id());
      count += samples.size();
    }
    answer_now(samples);
  };
  // ScriptedSut notes each query, which threads would do at the same time.
  class Sut final : public mlperf::SystemUnderTest {
   public:
    explicit Sut(ScriptedSut::Issue issue) : issue_(std::move(issue)) {}
    const std::string& Name() override { return name_; }
    void IssueQuery(const std::vector<QuerySample>& samples) override { issue_(samples); }
    void FlushQueries() override { ++flushes; }
    std::atomic<int> flushes{0};

   private:
    ScriptedSut::Issue issue_;
    std::string name_ = "Threads";
  } sut(script);
  NotedLibrary library(100, 100);
  auto settings = short_test(mlperf::TestScenario::Server, 1000);
  settings.server_num_issue_query_threads = kThreads;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i)
    threads.emplace_back(mlperf::RegisterIssueQueryThread);
  Tested tested;
  const std::string detail = tested.run(sut, library, settings);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 1000U);
  EXPECT_EQ(issuers.size(), kThreads);
  EXPECT_EQ(sut.flushes, 1);
  EXPECT_THAT(detail, HasSubstr("Registered IssueQueryThread[2]."));
  EXPECT_THAT(detail, HasSubstr("\"result_query_count\", \"value\": 1000"));
}

TEST(LoadgenApi, many_threads_complete_what_one_issues) {
  constexpr int kThreads = 64;
  Mutex mutex;
  Condition changed;
  std::vector<QuerySample> open;
  bool over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        std::vector<QuerySample> mine;
        {
          Lock lock(mutex);
          while (open.empty() && !over) changed.wait(lock);
          if (open.empty()) return;
          mine.push_back(open.back());
          open.pop_back();
        }
        answer_now(mine);
      }
    });
  }
  ScriptedSut sut([&](const std::vector<QuerySample>& samples) {
    Lock lock(mutex);
    open.insert(open.end(), samples.begin(), samples.end());
    changed.notify_all();
  });
  NotedLibrary library(5000, 5000);
  Tested tested;
  const std::string detail =
      tested.run(sut, library, short_test(mlperf::TestScenario::Offline, 5000));
  {
    Lock lock(mutex);
    over = true;
    changed.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(detail, HasSubstr("\"num_errors\", \"value\": 0"));
  EXPECT_THAT(tested.log("summary.txt"), HasSubstr("Result is : VALID"));
}

TEST(LoadgenApi, what_the_system_throws_leaves_the_test_when_the_logs_are_written) {
  ScriptedSut sut([](const std::vector<QuerySample>&) { throw std::runtime_error("no device"); });
  NotedLibrary library(5, 5);
  Tested tested;
  EXPECT_THROW(tested.run(sut, library, short_test(mlperf::TestScenario::Offline, 5)),
               std::runtime_error);
  EXPECT_THAT(tested.log("detail.txt"), HasSubstr("IssueQuery threw an exception: no device"));
  EXPECT_THAT(tested.log("summary.txt"), HasSubstr("ERRORS encountered. See detailed log."));
  // The process can test again.
  ScriptedSut good(answer_now);
  Tested again;
  again.run(good, library, short_test(mlperf::TestScenario::Offline, 5));
  EXPECT_THAT(again.log("summary.txt"), HasSubstr("Result is : VALID"));
}

TEST(LoadgenApi, an_aborted_test_ends_and_is_invalid) {
  int queries = 0;
  ScriptedSut sut([&](const std::vector<QuerySample>& samples) {
    if (++queries == 5) mlperf::AbortTest();
    answer_now(samples);
  });
  NotedLibrary library(5, 5);
  Tested tested;
  const std::string detail =
      tested.run(sut, library, short_test(mlperf::TestScenario::SingleStream, 100));
  EXPECT_EQ(queries, 5);
  EXPECT_THAT(detail, HasSubstr("The test was aborted."));
  EXPECT_THAT(tested.log("summary.txt"), HasSubstr("Result is : INVALID"));
}

TEST(LoadgenApi, settings_without_a_query_are_refused_by_name) {
  ScriptedSut sut(answer_now);
  NotedLibrary library(5, 5);
  auto settings = short_test(mlperf::TestScenario::Server, 5);
  settings.server_target_qps = 0;
  Tested tested;
  EXPECT_THAT(tested.run(sut, library, settings), HasSubstr("error_invalid_test_settings"));
  EXPECT_TRUE(sut.issued.empty());
  EXPECT_THAT(tested.log("summary.txt"), HasSubstr("1 ERROR encountered"));
}

TEST(LoadgenApi, the_search_for_the_peak_names_why_it_cannot_begin) {
  ScriptedSut sut(answer_now);
  NotedLibrary library(10, 10);
  auto settings = short_test(mlperf::TestScenario::Server, 4);
  settings.mode = mlperf::TestMode::FindPeakPerformance;
  settings.server_target_qps = 1000;
  settings.server_find_peak_qps_decimals_of_precision = 0;
  settings.server_target_latency_ns = 0;
  Tested tested;
  const std::string failed = tested.run(sut, library, settings);
  EXPECT_THAT(failed,
              HasSubstr("Initial lower bound does not satisfy performance constraints, msg: "
                        "Reduce target QPS to improve latency."));
  settings.scenario = mlperf::TestScenario::Offline;
  EXPECT_THAT(tested.run(sut, library, settings),
              HasSubstr("Finding peak performance is only supported in Server scenarios."));
  settings.scenario = mlperf::TestScenario::Server;
  settings.server_target_latency_ns = 3'600'000'000'000;
  settings.server_find_peak_qps_boundary_step_size = 0;
  EXPECT_THAT(tested.run(sut, library, settings), HasSubstr("there is no upper bound"));
}

TEST(LoadgenApi, configuration_files_are_read_over_the_built_in_one) {
  const TempFolder folder;
  const auto path = (folder.path() / "user.conf").string();
  ASSERT_TRUE(write_file_atomic(path, "*.Server.target_qps = 7.5\n*.*.min_duration = 9\n"));
  mlperf::TestSettings settings;
  settings.scenario = mlperf::TestScenario::Server;
  EXPECT_EQ(settings.FromConfig(path, "resnet50", "Server", 2), 0);
  EXPECT_EQ(settings.server_target_qps, 7.5);
  EXPECT_EQ(settings.min_duration_ms, 9U);
  EXPECT_EQ(settings.qsl_rng_seed, 0U);
  EXPECT_EQ(settings.FromConfig("", "resnet50", "Server", 0), 0);
  EXPECT_EQ(settings.qsl_rng_seed, 2085463073848966840U);
  EXPECT_EQ(settings.FromConfig((folder.path() / "none").string(), "m", "Server", 2), -ENOENT);
  ASSERT_TRUE(write_file_atomic(path, "a.b.c = word\nx y\n"));
  EXPECT_EQ(settings.FromConfig(path, "m", "Server", 2), -EINVAL);
  ScriptedSut sut(answer_now);
  NotedLibrary library(5, 5);
  Tested tested;
  const std::string detail = tested.run(sut, library, short_test(mlperf::TestScenario::Offline, 5));
  EXPECT_THAT(detail, HasSubstr("value needs to be integer or double, line=1"));
  EXPECT_THAT(detail, HasSubstr("expected 'key=value', line=2"));
  EXPECT_THAT(tested.log("summary.txt"), HasSubstr("3 ERRORS encountered"));
}

struct Plain {
  static inline std::vector<std::size_t> rows{};
  static inline int flushed = 0;
  static inline std::uintptr_t data = 0;
  static void issue(mlperf::c::ClientData client, const QuerySample* samples, std::size_t count) {
    data = client;
    std::vector<QuerySample> all(samples, samples + count);
    for (const QuerySample& one : all) rows.push_back(one.index);
    auto answers = responses_to(all);
    mlperf::c::QuerySamplesComplete(answers.data(), answers.size());
  }
  static void flush() { ++flushed; }
  static void load(mlperf::c::ClientData, const mlperf::QuerySampleIndex*, std::size_t) {}
};

TEST(LoadgenApi, plain_functions_can_be_the_system_and_the_library) {
  void* const sut = mlperf::c::ConstructSUT(77, "plain", 5, Plain::issue, Plain::flush);
  void* const library = mlperf::c::ConstructQSL(0, "rows", 4, 12, 12, Plain::load, Plain::load);
  mlperf::LogSettings logs;
  const TempFolder folder;
  logs.log_output.outdir = folder.path().string();
  mlperf::StartTest(static_cast<mlperf::SystemUnderTest*>(sut),
                    static_cast<mlperf::QuerySampleLibrary*>(library),
                    short_test(mlperf::TestScenario::Offline, 12), logs, "no such file");
  EXPECT_EQ(Plain::rows.size(), 12U);
  EXPECT_EQ(Plain::flushed, 1);
  EXPECT_EQ(Plain::data, 77U);
  mlperf::c::DestroySUT(sut);
  mlperf::c::DestroyQSL(library);
}

}  // namespace
}  // namespace assay::sut
