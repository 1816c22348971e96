#include "sim/measured_load.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/scenario.h"
#include "sim/simulate.h"
#include "sim/testing_lengths.h"

namespace assay::sim {
namespace {

Json summary(const char* inputs, const char* outputs, const char* tokens = "{}") {
  return *Json::parse(std::string(R"({"input_sequence_lengths": )") + inputs +
                      R"(, "output_sequence_lengths": )" + outputs + R"(, "assay": {"tokens": )" +
                      tokens + "}}");
}

// As in result_summary.json: half-open buckets, the last one closed.
TEST(MeasuredLoad, is_read_from_a_run) {
  const auto load = read_load(summary(
      R"({"avg": 27, "histogram": {"buckets": [[27, 27]], "counts": [40]}})",
      R"({"avg": 20, "histogram": {"buckets": [[10, 20.5], [20.5, 30]], "counts": [3, 1]}})",
      R"({"prompt": 200, "cached": 50})"));
  ASSERT_TRUE(load) << load.error().message;
  EXPECT_EQ(describe(load->input), "27");
  EXPECT_EQ(load->cached_share, 0.25);
  ASSERT_EQ(load->output.size(), 2U);
  EXPECT_EQ(load->output[0].high, 20U);
  EXPECT_EQ(load->output[1].low, 21U);
  EXPECT_EQ(load->output[1].high, 30U);
  EXPECT_FALSE(read_load(summary("{}", "{}")));
  EXPECT_EQ(mean_tokens(read_load(summary(R"({"avg": 27})", R"({"avg": 3})"))->output), 3);
}

TEST(MeasuredLoad, is_drawn_as_it_was) {
  const MeasuredLoad load{{{10, 10, 1}}, {{100, 199, 3}, {1000, 1000, 1}}, 0};
  const Workload drawn = workload_of(load);
  Rng rng(7);
  double sum = 0;
  double long_ones = 0;
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) {
    ASSERT_EQ(drawn.input(rng), 10U);
    const std::uint32_t n = drawn.output(rng);
    ASSERT_TRUE(n == 1000 || (n >= 100 && n <= 199)) << n;
    sum += n;
    long_ones += n == 1000;
  }
  EXPECT_NEAR(long_ones / kDraws, 0.25, 0.01);
  EXPECT_NEAR(sum / kDraws / mean_tokens(load.output), 1, 0.02);
}

TEST(MeasuredLoad, pools_runs_and_survives_its_file) {
  const MeasuredLoad a{{{10, 19, 1}}, {{500, 4000, 2}}, 0.5};
  const MeasuredLoad b{{{30, 39, 100}}, {{1, 1, 9}}, 0};
  const MeasuredLoad both = pooled({a, b});
  EXPECT_LE(both.output.size(), kLengthClasses);
  EXPECT_NEAR(mean_tokens(both.input), (14.5 + 34.5) / 2, 0.6);
  EXPECT_NEAR(mean_tokens(both.output) / ((2250 + 1) / 2.0), 1, 0.02);
  EXPECT_EQ(both.cached_share, 0.25);

  Catalogue catalogue = Catalogue::builtin();
  const auto added = catalogue.add_text("kind: calibration\n" + to_yaml(both), "t.yaml");
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_TRUE(catalogue.calibration().load);
  EXPECT_NEAR(mean_tokens(catalogue.calibration().load->output), mean_tokens(both.output), 0.1);
  for (const char* wrong : {"{isl: [[1, 2, 1]]}", "{isl: [[5, 2, 1]], osl: [[1, 2, 1]]}",
                            "{isl: [[1, 2, 0]], osl: [[1, 2, 1]]}",
                            "{isl: [[1, 2, 1]], osl: [[1, 2, 1]], cached: 2}"}) {
    EXPECT_FALSE(catalogue.add_text(std::string("kind: calibration\nload: ") + wrong, "t.yaml"))
        << wrong;
  }
}

// Half of each prompt is common: half of it is found in the cache, except for the first prompts,
// when the cache is empty, and for the last block, which is only partly common.
TEST(MeasuredLoad, what_was_cached_is_cached_again) {
  Scenario scenario;
  scenario.model = "llama3.1-8b";
  scenario.hardware = "h100-sxm";
  scenario.precision = "fp8";
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), scenario);
  const MeasuredLoad load{{{1600, 3200, 1}}, {{20, 20, 1}}, 0.5};
  MeasuredLoad unknown = load;
  unknown.cached_share = 0;
  const SimPoint with = simulate_closed(spec, workload_of(load), 4);
  const SimPoint without = simulate_closed(spec, workload_of(unknown), 4);
  EXPECT_NEAR(with.prefix_hit_rate, 0.5, 0.04);
  EXPECT_EQ(without.prefix_hit_rate, 0);
  EXPECT_LT(with.ttft_ms.mean, without.ttft_ms.mean);
}

TEST(Trust, says_what_was_never_compared) {
  const auto level = [](const char* model, const char* card, const char* backend,
                        const char* precision, const char* disagg = "") {
    Scenario scenario;
    scenario.model = model;
    scenario.hardware = card;
    scenario.backend = backend;
    scenario.precision = precision;
    scenario.parallel = "tp=8";
    scenario.disagg = disagg;
    const auto spec = make_cluster_spec(Catalogue::builtin(), scenario);
    EXPECT_TRUE(spec) << spec.error().message;
    return spec->deployment.trust.level;
  };
  using Level = Trust::Level;
  EXPECT_EQ(level("llama3.1-70b", "h100-sxm", "vllm", "fp8"), Level::compared);
  EXPECT_EQ(level("llama3.1-70b", "h100-sxm", "sglang", "fp8"), Level::new_mix);
  EXPECT_EQ(level("deepseek-r1", "b200-sxm", "sglang", "nvfp4", "1P+1D"), Level::new_mix);
  for (const char* card : {"a100-sxm", "l40s", "h100-pcie", "mi300x", "mi325x", "mi355x"}) {
    const char* precision = *card == 'a' ? "bf16" : "fp8";
    EXPECT_EQ(level("llama3.1-70b", card, "vllm", precision), Level::new_card) << card;
    EXPECT_EQ(level("mixtral-8x7b", card, "vllm", precision), Level::unproven) << card;
  }
  EXPECT_EQ(level("mixtral-8x7b", "h100-sxm", "vllm", "fp8"), Level::new_model);
}

TEST(Trust, goes_no_further_than_the_loads_that_were_compared) {
  Scenario scenario;
  scenario.model = "llama3.1-70b";
  scenario.hardware = "h100-sxm";
  scenario.precision = "fp8";
  scenario.parallel = "tp=8";
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), scenario);
  const Workload load{exactly(10), exactly(4)};
  const SimPoint few = simulate_closed(spec, load, 8);
  EXPECT_EQ(few.trust.level, Trust::Level::compared) << few.trust.says;
  const SimPoint many = simulate_closed(spec, load, 20'000);
  EXPECT_EQ(many.trust.level, Trust::Level::beyond) << many.trust.says;
  EXPECT_NE(many.trust.says.find("at most"), std::string::npos) << many.trust.says;
}

}  // namespace
}  // namespace assay::sim
