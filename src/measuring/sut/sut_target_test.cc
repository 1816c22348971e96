#include "sut/sut_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "sut/testing_sut.h"

namespace assay::sut {
namespace {

using mlperf::QuerySample;
using mlperf::TestScenario;
using mlperf::TestSettings;
using testing::HasSubstr;

TestSettings counted(TestScenario scenario, std::uint64_t queries) {
  TestSettings out;
  out.scenario = scenario;
  out.min_duration_ms = 0;
  out.min_query_count = queries;
  return out;
}

void answer(const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock, Duration after) {
  clock.sleep_until(clock.now() + after);
  auto all = responses_to(samples);
  desk.complete(all, clock.now(), {});
}

void in_a_millisecond(const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock) {
  answer(samples, desk, clock, 1_ms);
}

TEST(SutTarget, single_stream_asks_one_sample_when_the_last_is_done) {
  SimulatedSeries series(counted(TestScenario::SingleStream, 10), 100, in_a_millisecond);
  series.run();
  EXPECT_EQ(series.sut.issued.size(), 10U);
  for (const auto& query : series.sut.issued) EXPECT_EQ(query.size(), 1U);
  EXPECT_EQ(series.measured.queries_issued, 10U);
  EXPECT_EQ(series.measured.sample_latencies, std::vector<std::int64_t>(10, 1'000'000));
  EXPECT_EQ(series.measured.last_issued, 9'000'000);
  EXPECT_EQ(series.measured.last_done, 10'000'000);
  EXPECT_THAT(series.log("detail.txt"), HasSubstr("Ending naturally"));
}

TEST(SutTarget, a_series_of_some_time_has_its_last_issue_behind_that_time) {
  TestSettings asked = counted(TestScenario::SingleStream, 1);
  asked.min_duration_ms = 5;
  asked.single_stream_expected_latency_ns = 100'000;
  SimulatedSeries series(asked, 100, in_a_millisecond);
  series.run();
  EXPECT_EQ(series.measured.last_issued, 5'000'000);
  EXPECT_EQ(series.sut.issued.size(), 6U);
}

TEST(SutTarget, multi_stream_asks_the_next_query_when_the_slowest_sample_is_done) {
  // The last sample of each query comes 2 ms after the others.
  SimulatedSeries series(counted(TestScenario::MultiStream, 3), 100,
                         [](const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock) {
                           answer({samples.begin() + 1, samples.end()}, desk, clock, 1_ms);
                           answer({samples.front()}, desk, clock, 2_ms);
                         });
  series.run();
  ASSERT_EQ(series.sut.issued.size(), 3U);
  for (const auto& query : series.sut.issued) EXPECT_EQ(query.size(), 8U);
  EXPECT_EQ(series.measured.query_latencies, std::vector<std::int64_t>(3, 3'000'000));
  EXPECT_EQ(std::count(series.measured.sample_latencies.begin(),
                       series.measured.sample_latencies.end(), 1'000'000),
            21);
  EXPECT_EQ(series.measured.last_due, 6'000'000);
}

TEST(SutTarget, offline_asks_everything_in_one_call) {
  SimulatedSeries series(counted(TestScenario::Offline, 50), 20, in_a_millisecond);
  series.run();
  ASSERT_EQ(series.sut.issued.size(), 1U);
  EXPECT_EQ(series.sut.issued[0].size(), 50U);
  EXPECT_EQ(series.measured.queries_issued, 1U);
  EXPECT_EQ(series.measured.sample_latencies, std::vector<std::int64_t>(50, 1'000'000));
  EXPECT_EQ(series.sink.done.size(), 50U);
}

TEST(SutTarget, a_servers_latency_counts_from_the_schedule) {
  TestSettings asked = counted(TestScenario::Server, 20);
  asked.server_target_qps = 5000;
  SimulatedSeries series(asked, 20, in_a_millisecond);
  series.run();
  ASSERT_EQ(series.sink.sent.size(), 20U);
  const auto& arrivals = series.plan.phases[0].arrivals;
  Instant free{};
  for (std::size_t i = 0; i < 20; ++i) {
    const Instant due = Instant{} + arrivals[i];
    EXPECT_EQ(series.sink.sent[i].due, due);
    free = std::max(free, due) + 1_ms;
    EXPECT_EQ(series.measured.sample_latencies[i], (free - due).ns);
  }
}

TEST(SutTarget, coalesced_calls_have_all_that_is_due) {
  TestSettings asked = counted(TestScenario::Server, 200);
  asked.server_target_qps = 50'000;
  asked.server_coalesce_queries = true;
  SimulatedSeries series(asked, 20, in_a_millisecond);
  series.run();
  const auto& arrivals = series.plan.phases[0].arrivals;
  std::size_t at = 0;
  for (std::size_t call = 0; call < series.sut.issued.size(); ++call) {
    const Instant sent = series.sink.sent[at].at;
    at += series.sut.issued[call].size();
    // All that was due, and nothing that was not.
    EXPECT_LE(Instant{} + arrivals[at - 1], sent);
    if (at < arrivals.size()) {
      EXPECT_GT(Instant{} + arrivals[at], sent);
    }
  }
  EXPECT_EQ(at, 200U);
  EXPECT_LT(series.sut.issued.size(), 20U);
}

TEST(SutTarget, a_lost_sample_ends_the_series_after_the_stated_time_and_is_named) {
  SimulatedSeries series(counted(TestScenario::SingleStream, 10), 100,
                         [](const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock) {
                           if (clock.now() < Instant{} + 3_ms) answer(samples, desk, clock, 1_ms);
                         });
  series.run();
  EXPECT_TRUE(series.result.target_dead);
  EXPECT_EQ(series.target->lost(), 1U);
  EXPECT_EQ(series.measured.sample_latencies.size(), 3U);
  EXPECT_EQ(series.sink.done.back().outcome, Outcome::cancelled);
  EXPECT_EQ(series.sink.details.back(), "the system under test did not complete this sample");
  EXPECT_GE(series.clock.now(), Instant{} + 60_s);
  EXPECT_LT(series.clock.now(), Instant{} + 61_s);
}

TEST(SutTarget, an_exception_ends_the_series_and_is_kept) {
  SimulatedSeries series(counted(TestScenario::SingleStream, 10), 100,
                         [](const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock) {
                           if (clock.now() >= Instant{} + 2_ms) throw std::runtime_error("broken");
                           answer(samples, desk, clock, 1_ms);
                         });
  series.run();
  EXPECT_EQ(series.sut.issued.size(), 3U);
  EXPECT_EQ(series.measured.sample_latencies.size(), 2U);
  ASSERT_NE(series.target->fault(), nullptr);
  EXPECT_THROW(std::rethrow_exception(series.target->fault()), std::runtime_error);
  EXPECT_THAT(series.log("detail.txt"), HasSubstr("IssueQuery threw an exception: broken"));
}

TEST(SutTarget, a_sample_completed_twice_counts_once) {
  SimulatedSeries series(counted(TestScenario::SingleStream, 5), 100,
                         [](const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock) {
                           answer(samples, desk, clock, 1_ms);
                           answer(samples, desk, clock, 1_ms);
                         });
  series.run();
  EXPECT_EQ(series.measured.sample_latencies, std::vector<std::int64_t>(5, 1'000'000));
  const std::string log = series.log("detail.txt");
  std::size_t named = 0;
  for (std::size_t at = 0; (at = log.find("complete a sample twice", at)) != std::string::npos;
       ++at) {
    ++named;
  }
  EXPECT_EQ(named, 5U);
}

TEST(SutTarget, limits_of_a_test_end_it_and_are_named) {
  TestSettings asked = counted(TestScenario::SingleStream, 50);
  asked.max_query_count = 7;
  SimulatedSeries few(asked, 100, in_a_millisecond);
  few.run();
  EXPECT_EQ(few.sut.issued.size(), 7U);
  EXPECT_THAT(few.log("detail.txt"), HasSubstr("IssueQueryThread 0 Ending early: Max query count "
                                               "reached. query_count 7"));
  asked.max_query_count = 0;
  asked.max_duration_ms = 3;
  SimulatedSeries brief(asked, 100, in_a_millisecond);
  brief.run();
  EXPECT_EQ(brief.sut.issued.size(), 5U);
  EXPECT_THAT(brief.log("detail.txt"), HasSubstr("duration_ns 4000000"));
}

TEST(SutTarget, too_many_queries_in_flight_end_a_server_test) {
  TestSettings asked = counted(TestScenario::Server, 100);
  asked.server_target_qps = 1000;
  asked.server_max_async_queries = 3;
  std::vector<QuerySample> open;
  SimulatedSeries series(asked, 100,
                         [&](const std::vector<QuerySample>& samples, Desk& desk, SimClock& clock) {
                           open.insert(open.end(), samples.begin(), samples.end());
                           if (open.size() == 4) answer(open, desk, clock, 1_ms);
                         });
  series.run();
  // The fourth is answered inside the call, so that nothing is outstanding until the next four.
  EXPECT_EQ(series.sut.issued.size(), 8U);
  EXPECT_THAT(series.log("detail.txt"),
              HasSubstr("Too many outstanding queries. issued 8 outstanding 4"));
}

TEST(SutTarget, accuracy_asks_every_sample_once_and_logs_its_answer) {
  TestSettings asked = counted(TestScenario::Server, 3);
  asked.mode = mlperf::TestMode::AccuracyOnly;
  asked.server_target_qps = 1000;
  SimulatedSeries series(asked, 30, in_a_millisecond, loadgen::Phase::accuracy);
  series.run();
  std::vector<std::size_t> rows;
  for (const auto& query : series.sut.issued) rows.push_back(query.at(0).index);
  std::sort(rows.begin(), rows.end());
  ASSERT_EQ(rows.size(), 30U);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], i);
  const std::string log = series.log("accuracy.json");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 32);
  EXPECT_THAT(log, HasSubstr("[\n{ \"seq_id\" : 0, \"qsl_idx\" : "));
}

}  // namespace
}  // namespace assay::sut
