#include "campaign/report_course.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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
using testing::Not;
using testing::StartsWith;

// A folder with the log of the small run, and what its report said.
class ReportCourse : public testing::Test {
 protected:
  void SetUp() override {
    options_.folder = folder_.path().string();
    std::filesystem::create_directories(log_folder(folder_.path()));
  }
  // Without an end it is as a killed process leaves it.
  void record(const std::optional<RunEnd>& end = RunEnd{RunState::complete, ""}) {
    auto log = record::EventLogWriter::create(log_folder(folder_.path()) / "events-0.alog",
                                              metrics::named_run("poisson"));
    ASSERT_TRUE(log) << log.error().message;
    metrics::tell_run(**log);
    if (end) {
      ASSERT_TRUE((*log)->close(*end));
    }
  }
  Result<int> show() {
    heard_ = assay::Heard();
    return show_report(options_, gate_, safety_, heard_.talk());
  }
  int code() {
    const auto shown = show();
    EXPECT_TRUE(shown) << shown.error().message;
    return shown.value_or(-1);
  }
  std::string refusal() {
    const auto shown = show();
    return shown ? "shown" : shown.error().message;
  }
  Json printed() {
    auto json = Json::parse(heard_.printed);
    EXPECT_TRUE(json) << heard_.printed;
    return json ? *std::move(json) : Json();
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  TempFolder folder_{};
  ReportOptions options_{};
  Gate gate_{};
  SafetyGate safety_{};
  assay::Heard heard_{};
};

TEST_F(ReportCourse, text_json_and_markdown_have_the_figures_of_the_log) {
  record();
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(heard_.printed, HasSubstr("18"));
  EXPECT_EQ(heard_.said, "");
  options_.json = true;
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  const Json json = printed();
  EXPECT_EQ(json["n_samples_issued"].as_uint(), 20U) << json.dump(2);
  EXPECT_EQ(json["n_samples_completed"].as_uint(), 18U);
  EXPECT_EQ(json["n_samples_failed"].as_uint(), 2U);
  EXPECT_TRUE(json["tail"].is_null());
  options_.json = false;
  options_.markdown = true;
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(heard_.printed, HasSubstr("| "));
}

TEST_F(ReportCourse, why_adds_what_the_slowest_queries_have_in_common) {
  record();
  options_.why = true;
  options_.json = true;
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_TRUE(printed()["tail"].is_object());
}

TEST_F(ReportCourse, a_run_without_an_end_is_reported_and_called_so) {
  record(std::nullopt);
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(heard_.printed, HasSubstr("killed"));
}

TEST_F(ReportCourse, files_are_written_where_they_are_asked_for) {
  record();
  options_.html = path("page.html");
  options_.events_jsonl = path("events.jsonl");
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_EQ(heard_.printed, "");
  EXPECT_EQ(heard_.said, "wrote " + options_.html + "\nwrote " + options_.events_jsonl + "\n");
  EXPECT_THAT(read_file(options_.html).value_or(""), StartsWith("<!doctype html>"));
  EXPECT_THAT(read_file(options_.events_jsonl).value_or(""), StartsWith("{"));
}

TEST_F(ReportCourse, another_tools_format_is_printed_or_written) {
  record();
  options_.format = "vllm";
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  const std::string text = heard_.printed;
  EXPECT_EQ(printed()["completed"].as_uint(), 18U) << text;
  options_.out = path("vllm.json");
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_EQ(heard_.printed, "");
  EXPECT_EQ(heard_.said, "wrote " + options_.out + "\n");
  EXPECT_EQ(read_file(options_.out).value_or(""), text);
}

TEST_F(ReportCourse, a_table_has_a_row_for_each_query_and_needs_a_file) {
  record();
  options_.format = "arrow";
  EXPECT_EQ(refusal(), "--format arrow: is not text; name its file by --out FILE");
  options_.out = path("events.arrow");
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(heard_.said, StartsWith("wrote " + options_.out + ", "));
  EXPECT_THAT(read_file(options_.out).value_or(""), StartsWith("ARROW1"));
  options_.format = "parquet";
  options_.table = "fragments";
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(read_file(options_.out).value_or(""), StartsWith("PAR1"));
}

TEST_F(ReportCourse, definitions_are_found_by_their_names) {
  record();
  options_.definitions = "vllm, aiperf";
  options_.json = true;
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(heard_.printed, AllOf(HasSubstr("vllm"), HasSubstr("aiperf")));
  options_.definitions = "vllm,aipref";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no definition \"aipref\""),
                               HasSubstr("did you mean \"aiperf\"?"), HasSubstr("there are all")));
  options_.definitions = "all";
  options_.json = false;
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_THAT(heard_.said, HasSubstr("of a Poisson run its window is LoadGen's"));
}

TEST_F(ReportCourse, what_a_killed_run_lacks_is_published_once) {
  record(std::nullopt);
  options_.publish = true;
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  EXPECT_EQ(heard_.said, "wrote the derived files of " + options_.folder + "\n");
  EXPECT_THAT(refusal(), AllOf(StartsWith("--publish: "), HasSubstr("has its derived files")));
}

TEST_F(ReportCourse, a_requirement_that_fails_ends_in_its_own_code_and_in_junit) {
  record();
  gate_.texts = {"failed<=20%"};
  ASSERT_TRUE(gate_.understand());
  EXPECT_EQ(code(), exit_code(ExitCode::done));
  Gate strict;
  strict.texts = {"failed<=1%"};
  strict.junit = path("junit.xml");
  ASSERT_TRUE(strict.understand());
  const auto shown = show_report(options_, strict, safety_, heard_.talk());
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(*shown, exit_code(ExitCode::worse));
  EXPECT_THAT(read_file(strict.junit).value_or(""), HasSubstr("<failure"));
}

// What stands beside what, and the words that refuse it.
TEST_F(ReportCourse, flags_that_exclude_each_other_are_named) {
  record();
  const ReportOptions plain = options_;
  const std::vector<std::pair<std::function<void(ReportOptions&)>, std::string>> cases{
      {[](ReportOptions& o) { o.json = o.markdown = true; }, "--json, --markdown: "},
      {[](ReportOptions& o) { o.out = "x"; }, "--out: is where --format writes"},
      {[](ReportOptions& o) { o.table = "fragments"; }, "--table: works only with --format"},
      {[](ReportOptions& o) { o.price = 0; }, "--price: must be above 0"},
      {[](ReportOptions& o) { o.power = "700"; }, "--power, --slo: apply only to a curve"},
      {[](ReportOptions& o) { o.slo = "ttft<=1s"; }, "--power, --slo: apply only to a curve"},
      {[](ReportOptions& o) { o.format = "nobodys"; }, "--format: no format \"nobodys\""},
      {[](ReportOptions& o) {
         o.why = true;
         o.definitions = "all";
       },
       "--why: explains the report's own figures"},
      {[](ReportOptions& o) {
         o.truth = "truth.jsonl";
         o.tokenizer = "x";
       },
       "--tokenizer: applies only to the report of one run"},
  };
  for (const auto& [change, words] : cases) {
    options_ = plain;
    change(options_);
    EXPECT_THAT(refusal(), StartsWith(words));
    EXPECT_EQ(heard_.printed, "") << words;
  }
}

TEST_F(ReportCourse, a_requirement_checks_the_reports_own_figures) {
  record();
  gate_.texts = {"failed<=20%"};
  ASSERT_TRUE(gate_.understand());
  options_.format = "vllm";
  EXPECT_THAT(refusal(), StartsWith("--require: checks the report's own figures"));
}

TEST_F(ReportCourse, a_folder_without_a_log_is_named) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr(options_.folder), Not(HasSubstr("shown"))));
}

}  // namespace
}  // namespace assay::campaign
