#include "campaign/compare_course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/json.h"
#include "base/testing_talk.h"
#include "base/testing_temp_folder.h"
#include "campaign/run_folder.h"
#include "metrics/testing_small_run.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Sixty queries of 16 tokens each, a token every `gap_ms`, of a first token that varies a little.
void record_run(const std::filesystem::path& folder, int gap_ms, int vary = 7) {
  std::filesystem::create_directories(log_folder(folder));
  auto made = record::EventLogWriter::create(log_folder(folder) / "events-0.alog",
                                             metrics::named_run("poisson"));
  ASSERT_TRUE(made) << made.error().message;
  record::EventLogWriter& log = **made;
  log.on_phase({1, PhaseStep::started, metrics::at_ms(2000)});
  for (std::uint32_t i = 0; i < 60; ++i) {
    const int first = 50 + static_cast<int>(i) % vary;
    tell(metrics::steady_query(1, i, 2000 + 40 * static_cast<int>(i), first, gap_ms, 16), log);
  }
  log.on_phase({1, PhaseStep::issue_ended, metrics::at_ms(4400)});
  log.on_phase({1, PhaseStep::drained, metrics::at_ms(5000)});
  ASSERT_TRUE(log.close(RunEnd{RunState::complete, ""}));
}

class CompareCourse : public testing::Test {
 protected:
  std::string run(const char* name, int gap_ms, int vary = 7) const {
    record_run(folder_.path() / name, gap_ms, vary);
    return path(name);
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  Result<int> compare(const std::string& a, const std::string& b) {
    heard_ = assay::Heard();
    return compare_sides_of(a, b, asked_, {}, "", heard_.talk());
  }
  int code(const std::string& a, const std::string& b) {
    const auto done = compare(a, b);
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(-1);
  }
  std::string refusal(const std::string& a = "a", const std::string& b = "b") {
    const auto done = compare(a, b);
    return done ? "compared" : done.error().message;
  }

  TempFolder folder_{};
  CompareAsked asked_{};
  assay::Heard heard_{};
};

TEST_F(CompareCourse, a_run_is_no_worse_than_itself_and_a_slower_one_is) {
  const std::string a = run("a", 10);
  const std::string b = run("b", 14);
  EXPECT_EQ(code(a, a), exit_code(ExitCode::done));
  EXPECT_EQ(code(a, b), exit_code(ExitCode::worse)) << heard_.printed;
  EXPECT_EQ(code(b, a), exit_code(ExitCode::done)) << heard_.printed;
  EXPECT_EQ(heard_.said, "");
}

TEST_F(CompareCourse, json_junit_and_github_say_the_same_verdict) {
  const std::string a = run("a", 10);
  const std::string b = run("b", 14);
  asked_.json = true;
  asked_.github = true;
  asked_.junit = path("junit.xml");
  asked_.metric_list = "tpot_p50";
  EXPECT_EQ(code(a, b), exit_code(ExitCode::worse));
  const auto json = Json::parse(heard_.printed);  // nothing else stands in it
  ASSERT_TRUE(json) << heard_.printed;
  EXPECT_THAT(heard_.printed, HasSubstr("tpot_p50"));
  EXPECT_THAT(read_file(asked_.junit).value_or(""), HasSubstr("<failure"));
  asked_.json = false;
  EXPECT_EQ(code(a, b), exit_code(ExitCode::worse));
  EXPECT_THAT(heard_.printed, HasSubstr("::error"));
}

TEST_F(CompareCourse, what_is_not_decided_fails_only_where_that_was_asked) {
  const std::string a = run("a", 10);
  const std::string b = run("b", 10, 40);  // first tokens that vary by as much as they differ
  asked_.metric_list = "ttft_p90";
  asked_.equivalence_percent = 0.01;
  asked_.regression_percent = 90;
  EXPECT_EQ(code(a, b), exit_code(ExitCode::done)) << heard_.printed;
  asked_.strict = true;
  EXPECT_EQ(code(a, b), exit_code(ExitCode::worse)) << heard_.printed;
}

TEST_F(CompareCourse, several_runs_a_side_are_compared_by_what_differs_between_them) {
  for (const auto& [name, gap] : {std::pair{"left/1", 10}, std::pair{"left/2", 10},
                                  std::pair{"right/1", 14}, std::pair{"right/2", 14}}) {
    run(name, gap);
  }
  asked_.metric_list = "tpot_p50";
  EXPECT_NE(code(path("left"), path("right")), exit_code(ExitCode::not_comparable));
  EXPECT_THAT(heard_.printed, HasSubstr("2 runs"));
}

TEST_F(CompareCourse, how_far_equal_runs_differ_takes_several) {
  const std::string a = run("a", 10);
  asked_.noise = {run("noise", 10)};
  EXPECT_THAT(refusal(a, a), AllOf(StartsWith("--noise: "), HasSubstr("is one run")));
}

TEST_F(CompareCourse, what_was_typed_is_checked_before_a_run_is_read) {
  const std::vector<std::pair<double CompareAsked::*, std::string>> shares{
      {&CompareAsked::regression_percent, "--regression"},
      {&CompareAsked::equivalence_percent, "--equivalence"},
      {&CompareAsked::length_percent, "--lengths"},
      {&CompareAsked::errors_percent, "--errors"},
      {&CompareAsked::confidence_percent, "--confidence"}};
  for (const auto& [member, flag] : shares) {
    for (const double wrong : {-0.1, 100.1}) {
      asked_ = {};
      asked_.*member = wrong;
      EXPECT_EQ(refusal(), flag + ": must be from 0 to 100 percent");
    }
    asked_ = {};
    asked_.*member = 60;
    EXPECT_TRUE(asked_.understand()) << flag;
  }
  for (const double wrong : {50.0, 100.0}) {
    asked_ = {};
    asked_.confidence_percent = wrong;
    EXPECT_EQ(refusal(), "--confidence: must be above 50 and at most 99.99 percent");
  }
  asked_ = {};
  asked_.metric_list = "ttft_p50, nobodys";
  EXPECT_THAT(refusal(),
              AllOf(StartsWith("--metrics: no metric \"nobodys\""), HasSubstr("there are ttft, ")));
}

TEST_F(CompareCourse, percents_become_shares) {
  asked_.regression_percent = 2;
  asked_.equivalence_percent = 4;
  asked_.length_percent = 5;
  asked_.errors_percent = 6;
  asked_.confidence_percent = 90;
  ASSERT_TRUE(asked_.understand());
  EXPECT_DOUBLE_EQ(asked_.options.regression_margin, 0.02);
  EXPECT_DOUBLE_EQ(asked_.options.equivalence_margin, 0.04);
  EXPECT_DOUBLE_EQ(asked_.options.length_margin, 0.05);
  EXPECT_DOUBLE_EQ(asked_.options.error_margin, 0.06);
  EXPECT_NEAR(asked_.options.alpha, 0.1, 1e-12);
  EXPECT_NEAR(asked_.accuracy_options.alpha, 0.1, 1e-12);
}

TEST_F(CompareCourse, a_folder_that_is_not_there_is_named) {
  EXPECT_THAT(refusal(path("nobodys"), path("nobodys")), HasSubstr("nobodys"));
}

}  // namespace
}  // namespace assay::campaign
