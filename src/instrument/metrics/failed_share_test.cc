#include "metrics/failed_share.h"

#include <gtest/gtest.h>

namespace assay::metrics {
namespace {

Point failed_point(std::uint64_t completed, std::uint64_t failed) {
  Point point;
  point.end.state = RunState::complete;
  point.counts.completed = completed;
  point.counts.failed = failed;
  point.counts.issued = completed + failed;
  if (failed > 0) {
    FailureExample example;
    example.http_status = 401;
    example.detail = "Incorrect API key provided";
    point.failures.push_back({Outcome::http_error, failed, {example}});
  }
  return point;
}

TEST(FailedShare, up_to_1_percent_is_not_said_and_up_to_10_is_no_failed_run) {
  EXPECT_EQ(failed_words(failed_point(990, 10)), "");
  EXPECT_TRUE(failed_share(failed_point(989, 11)).said());
  EXPECT_FALSE(failed_share(failed_point(900, 100)).too_many());
  EXPECT_TRUE(failed_share(failed_point(899, 101)).too_many());
  EXPECT_EQ(failed_words(failed_point(16, 184)),
            "92.0 % of the queries failed, 184 of 200: HTTP 401: Incorrect API key provided");
}

TEST(FailedShare, a_run_that_never_succeeded_failed) {
  EXPECT_TRUE(failed_share(failed_point(0, 1)).too_many());
  EXPECT_TRUE(failed_share(failed_point(0, 1)).none_succeeded) << "one is enough";
  EXPECT_EQ(failed_share(failed_point(0, 1)).share(), 1);
  EXPECT_EQ(failed_share(failed_point(0, 0)).share(), 0);
  EXPECT_EQ(failed_words(failed_point(0, 3)),
            "no query succeeded, 3 of 3 failed: HTTP 401: Incorrect API key provided");
  EXPECT_FALSE(failed_share(failed_point(0, 0)).too_many()) << "nothing was sent";
}

TEST(FailedShare, what_we_gave_up_ourselves_did_not_fail) {
  Point point = failed_point(50, 0);
  point.counts.failed = 50;
  point.counts.issued = 100;
  point.failures.push_back({Outcome::cancelled, 50, {}});
  EXPECT_EQ(failed_share(point).failed, 0u);
  EXPECT_EQ(failed_words(point), "");
  point.failures.push_back({Outcome::reset, 1, {}});
  ++point.counts.failed;
  ++point.counts.issued;
  EXPECT_EQ(failed_words(point), "2.0 % of the queries failed, 1 of 51: reset");
}

TEST(FailedShare, what_was_in_flight_when_the_run_was_cut_off_did_not_fail) {
  Point point = failed_point(5, 0);
  point.end.state = RunState::crashed;
  point.counts = {.issued = 13, .completed = 5, .unfinished = 8};
  EXPECT_EQ(failed_words(point), "");
  point.counts = {.issued = 8, .completed = 0, .unfinished = 8};
  EXPECT_FALSE(failed_share(point).none_succeeded) << "none of them could";
  point.counts = {.issued = 8, .completed = 0, .failed = 1, .unfinished = 7};
  EXPECT_TRUE(failed_share(point).none_succeeded) << "one of them failed by itself";
}

TEST(FailedShare, where_only_accuracy_was_asked_its_queries_count) {
  Point point;
  point.end.state = RunState::complete;
  point.all_phases = {.issued = 10, .completed = 2, .failed = 8};
  EXPECT_TRUE(failed_share(point).too_many());
  EXPECT_EQ(failed_words(point), "80.0 % of the queries failed, 8 of 10");
  point.all_phases = {.issued = 10, .completed = 0, .failed = 10};
  EXPECT_EQ(failed_words(point), "no query succeeded, 10 of 10 failed");
}

TEST(FailedShare, where_the_end_of_the_drain_cut_off_every_query_none_succeeded) {
  Point point = failed_point(0, 0);
  point.counts = {.issued = 4, .completed = 0, .failed = 4};
  point.failures = {{Outcome::cancelled, 4, {}}};
  EXPECT_TRUE(failed_share(point).too_many());
  EXPECT_EQ(failed_words(point), "no query succeeded, all 4 were cut off: cancelled");
  // One that failed by itself is the cause, and is counted alone.
  point.counts = {.issued = 5, .completed = 0, .failed = 5};
  point.failures.push_back({Outcome::reset, 1, {}});
  EXPECT_EQ(failed_words(point), "no query succeeded, 1 of 5 failed: reset");
}

TEST(FailedShare, the_cause_is_the_commonest_in_the_endpoints_own_words) {
  Point point = failed_point(0, 3);
  point.failures.push_back({Outcome::reset, 3, {}});
  EXPECT_EQ(failure_cause(point), "HTTP 401: Incorrect API key provided") << "the first of equals";
  point.failures.push_back({Outcome::cancelled, 9, {}});
  EXPECT_EQ(failure_cause(point), "HTTP 401: Incorrect API key provided") << "not what we ended";
  FailureExample said;
  said.detail = "reset by the peer";
  point.failures[1] = {Outcome::reset, 4, {said}};
  EXPECT_EQ(failure_cause(point), "reset by the peer") << "its name is not said twice";
  point.failures[1].examples[0].detail.clear();
  EXPECT_EQ(failure_cause(point), "reset");
  point.failures.clear();
  EXPECT_EQ(failure_cause(point), "");
}

}  // namespace
}  // namespace assay::metrics
