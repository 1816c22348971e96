#include "loadgen/conf_file.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "loadgen/builtin_conf.h"

namespace assay::loadgen {
namespace {

TestSettings read_as(std::string_view text, std::string_view model = "resnet50",
                     Scenario scenario = Scenario::Server, ConfKind kind = ConfKind::user) {
  const auto conf = ConfFile::parse(text);
  EXPECT_TRUE(conf) << (conf ? "" : conf.error().message);
  TestSettings settings;
  if (conf) {
    EXPECT_TRUE(conf->apply(model, scenario, kind, settings));
  }
  return settings;
}

TEST(LoadgenConf, a_scenarios_line_for_all_models_outranks_a_models_line_for_all_scenarios) {
  constexpr std::string_view kLines =
      "*.*.min_duration = 1\nresnet50.*.min_duration = 2\n*.Server.min_duration = 3\n";
  EXPECT_EQ(read_as(kLines).min_duration_ms, 3U);
  EXPECT_EQ(read_as(kLines, "resnet50", Scenario::Offline).min_duration_ms, 2U);
  EXPECT_EQ(read_as(kLines, "bert", Scenario::Offline).min_duration_ms, 1U);
  EXPECT_EQ(read_as(format("{}resnet50.Server.min_duration = 4", kLines)).min_duration_ms, 4U);
}

TEST(LoadgenConf, each_key_has_its_unit) {
  const TestSettings s = read_as(
      "*.Server.target_latency = 15\n*.Server.target_latency_percentile = 99.9\n"
      "*.SingleStream.target_latency = 0.25\n*.MultiStream.samples_per_query = 4\n"
      "*.Server.target_qps = 12.5\n*.*.use_token_latencies = 1\n*.Server.ttft_latency = 450\n"
      "*.Server.tpot_latency = 40\n*.*.mode = 1\n");
  EXPECT_EQ(s.server_target_latency_ns, 15'000'000U);
  EXPECT_DOUBLE_EQ(s.server_target_latency_percentile, 0.999);
  EXPECT_EQ(s.single_stream_expected_latency_ns, 250'000);
  EXPECT_EQ(s.multi_stream_samples_per_query, 4U);
  EXPECT_EQ(s.server_target_qps, 12.5);
  EXPECT_EQ(s.server_ttft_latency, 450'000'000U);
  EXPECT_EQ(s.server_tpot_latency, 40'000'000U);
  EXPECT_EQ(s.mode, Mode::AccuracyOnly);
}

TEST(LoadgenConf, token_limits_are_read_only_where_tokens_are_measured) {
  EXPECT_EQ(read_as("*.Server.ttft_latency = 450").server_ttft_latency, 100'000'000U);
}

TEST(LoadgenConf, whole_numbers_are_read_as_c_reads_them) {
  EXPECT_EQ(read_as("*.*.min_query_count = 0x10").min_query_count, 16U);
  EXPECT_EQ(read_as("*.*.min_query_count = 010").min_query_count, 8U);
  EXPECT_EQ(read_as("*.*.min_query_count = 1e6").min_query_count, 1U);
  EXPECT_EQ(read_as("*.*.min_query_count = 7.9").min_query_count, 7U);
  EXPECT_EQ(read_as("*.*.min_query_count = 5 6").min_query_count, 6U);
  EXPECT_EQ(read_as("*.*.min_query_count = 5\n*.*.min_query_count = 9").min_query_count, 9U);
}

TEST(LoadgenConf, seeds_are_for_the_built_in_file_alone) {
  constexpr std::string_view kLines =
      "*.*.qsl_rng_seed = 1\n*.*.accuracy_log_probability = 50\n*.*.accuracy_log_rng_seed = 3\n";
  const TestSettings user = read_as(kLines);
  EXPECT_EQ(user.qsl_rng_seed, 0U);
  EXPECT_EQ(user.accuracy_log_probability, 0);
  EXPECT_EQ(user.accuracy_log_rng_seed, 3U);
  const TestSettings own = read_as(kLines, "bert", Scenario::Server, ConfKind::built_in);
  EXPECT_EQ(own.qsl_rng_seed, 1U);
  EXPECT_EQ(own.accuracy_log_probability, 0.5);
}

TEST(LoadgenConf, every_wrong_line_is_named) {
  const auto conf = ConfFile::parse(
      "# a comment\n\n*.*.min_duration 5\n*.*.max_duration = long\n*.*.mode = 2 # two\nalone\n");
  ASSERT_FALSE(conf);
  EXPECT_EQ(conf.error().message,
            "line 3: \"=\" must follow the key, not \"5\"\nline 4: \"long\" is not a number\n"
            "line 5: \"#\" is not a number");
}

TEST(LoadgenConf, keys_that_no_test_reads_are_named) {
  const auto conf = ConfFile::parse(
      "resnet50.Sever.target_qps = 1\n*.*.target_qsp = 2\nmodel-1.5.Server.target_qps = 3\n"
      "min_duration = 4\n");
  ASSERT_TRUE(conf);
  EXPECT_EQ(conf->unused_keys(), (std::vector<std::string>{"*.*.target_qsp", "min_duration",
                                                           "resnet50.Sever.target_qps"}));
}

// How many lines each release's file has.
TEST(LoadgenConf, the_built_in_files_are_whole) {
  const std::vector<std::pair<std::string_view, std::size_t>> lines{
      {"v5.0", 77}, {"v5.0.1", 83}, {"v5.1", 102}, {"v5.1.1", 119}, {"v6.0", 148}, {"v6.1", 148}};
  for (const auto& [edition, count] : lines) {
    const auto conf = builtin_conf(edition);
    ASSERT_TRUE(conf) << edition;
    EXPECT_EQ(conf->lines().size(), count) << edition;
    EXPECT_TRUE(conf->unused_keys().empty()) << edition;
  }
  EXPECT_FALSE(builtin_conf("v4.1"));
}

TEST(LoadgenConf, whisper_has_whole_passes_since_the_patch_of_v5_1) {
  for (const auto& [edition, passes] :
       {std::pair{"v5.1", false}, std::pair{"v5.1.1", true}, std::pair{"v6.1", true}}) {
    TestSettings settings;
    ASSERT_TRUE(
        builtin_conf(edition)->apply("whisper", Scenario::Offline, ConfKind::built_in, settings));
    EXPECT_EQ(settings.sample_concatenate_permutation, passes) << edition;
    EXPECT_EQ(settings.min_query_count, 1633U);
  }
}

}  // namespace
}  // namespace assay::loadgen
