// The logs of a recorded test; tests/peers/loadgen_logs_test.py holds their lines against
// LoadGen's.
#include "loadgen/detail_log.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/json.h"
#include "base/text.h"

namespace assay::loadgen {
namespace {

// The values of a log by key. Each line must be JSON behind its mark.
std::map<std::string, Json> values_of(const Result<std::string>& log) {
  std::map<std::string, Json> out;
  EXPECT_TRUE(log) << (log ? "" : log.error().message);
  const std::string text = log.value_or("");
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    EXPECT_TRUE(line.starts_with(":::MLLOG ")) << line;
    line.remove_prefix(9);
    const auto json = Json::parse(line);
    EXPECT_TRUE(json) << line;
    if (json) out.emplace(std::string((*json)["key"].as_string()), (*json)["value"]);
  }
  return out;
}

Test server_test() {
  Test out{.name = "server", .edition = "none", .sut_name = "a \"quoted\"\nname"};
  out.requested.scenario = Scenario::Server;
  out.requested.min_duration_ms = 100;
  out.requested.min_query_count = 10;
  out.requested.server_target_qps = 100;
  out.library = {.total = 20, .performance = 20};
  out.generated = 12;
  return out;
}

std::vector<MeasuredSample> samples_of(std::uint32_t count) {
  std::vector<MeasuredSample> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    MeasuredSample one;
    one.index = i;
    one.ok = true;
    one.due = std::int64_t{i} * 10'000'000;
    one.issued = one.due;
    one.done = one.due + 1'000'000;
    out.push_back(one);
  }
  return out;
}

TEST(LoadgenDetailLog, a_recorded_test_has_settings_queries_and_figures) {
  const auto judged = judge(server_test(), samples_of(12), {});
  ASSERT_TRUE(judged);
  auto log = values_of(performance_log(
      *judged, {.library = "rows", .began = {1'700'000'000'000'000'000}, .lasted_ns = 5'000'000}));
  EXPECT_EQ(log["sut_name"].as_string(), "a \"quoted\"\nname");
  EXPECT_EQ(log["qsl_name"].as_string(), "rows");
  EXPECT_EQ(log["effective_scenario"].as_string(), "Server");
  EXPECT_EQ(log["effective_min_query_count"].as_uint(), 10U);
  EXPECT_EQ(log["loaded_qsl_set"].size(), 20U);
  EXPECT_GE(log["generated_query_count"].as_uint(), 10U);
  EXPECT_EQ(log["result_query_count"].as_uint(), 12U);
  EXPECT_EQ(log["result_99.00_percentile_latency_ns"].as_int(), 1'000'000);
  EXPECT_EQ(log["power_begin"].as_string(), "11-14-2023 22:13:20.000");
  EXPECT_EQ(log["power_end"].as_string(), "11-14-2023 22:13:20.005");
  EXPECT_EQ(log["num_errors"].as_int(), 0);
}

TEST(LoadgenDetailLog, a_rate_over_no_time_is_null_and_a_failure_is_an_error) {
  std::vector<MeasuredSample> samples = samples_of(2);
  samples[1].ok = false;
  const auto judged = judge(server_test(), samples, {});
  ASSERT_TRUE(judged);
  auto log = values_of(performance_log(*judged, {.failed = 1}));
  EXPECT_TRUE(log["result_scheduled_samples_per_sec"].is_null());
  EXPECT_EQ(log["error_runtime"].as_string(), "1 samples failed, and have no answer.");
  EXPECT_EQ(log["result_validity"].as_string(), "INVALID");
  const auto none = judge(server_test(), {}, {});
  ASSERT_TRUE(none);
  EXPECT_EQ(values_of(performance_log(*none, {})).count("result_validity"), 0U);
}

TEST(LoadgenDetailLog, an_accuracy_log_counts_what_was_asked) {
  auto log = values_of(accuracy_log(server_test(), {.trouble = "no texts"}, {2, 0, 1}));
  EXPECT_EQ(log["effective_accuracy_sample_count"].as_uint(), 3U);
  EXPECT_EQ(log["loaded_qsl_set"].dump(), "[2,0,1]");
  EXPECT_EQ(log["error_runtime"].as_string(), "There is no accuracy log: no texts");
  EXPECT_EQ(log["num_errors"].as_int(), 1);
}

}  // namespace
}  // namespace assay::loadgen
