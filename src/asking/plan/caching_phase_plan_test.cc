#include "plan/caching_phase_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "plan/config_reader.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;

Result<Config> config_with(std::string_view load, std::string_view audit) {
  ConfigReader reader;
  reader.read_text(
      format("model_params: {{name: m}}\n"
             "datasets: [{{path: d.jsonl}}, {{name: a, path: a.jsonl, type: accuracy,\n"
             "  accuracy_config: {{eval_method: rouge, ground_truth: y, extractor: "
             "identity_extractor}}}}]\n"
             "settings:\n  load_pattern: {}\n"
             "  runtime: {{min_duration_ms: 600000, salt: true}}\n"
             "  warmup: {{enabled: true, n_requests: 2}}\n"
             "endpoint_config: {{endpoints: ['http://x']}}\naudit: {}\n",
             load, audit),
      "config.yaml");
  auto loaded = reader.finish();
  if (!loaded) return loaded.error();
  return std::move(loaded->config);
}

Dataset five_rows() {
  Dataset out{.name = "d", .path = "d.jsonl"};
  for (int i = 0; i < 5; ++i) out.samples.push_back({.prompt = format("row {}", i)});
  return out;
}

std::vector<std::uint32_t> asked(PhasePlan phase, int count) {
  std::vector<std::uint32_t> out;
  for (int i = 0; i < count; ++i) out.push_back(phase.order.next());
  return out;
}

TEST(CachingPhasePlan, AsksDistinctRowsAndThenOneRow) {
  for (const char* load :
       {"{type: concurrency, target_concurrency: 2}", "{type: max_throughput}"}) {
    const auto config = config_with(load,
                                    "{test: output_caching_test, samples: 4, audit_samples: 7, "
                                    "sample_index: 3}");
    ASSERT_TRUE(config) << config.error().message;
    for (const bool repeated : {false, true}) {
      const auto planned = plan_caching_phase(*config, five_rows(), repeated);
      ASSERT_TRUE(planned) << planned.error().message;
      EXPECT_FALSE(planned->config.audit);
      const std::vector<PhasePlan>& phases = planned->bundle.plan.phases;
      ASSERT_EQ(phases.size(), 2U) << "warm-up and the phase; no accuracy";
      const PhasePlan& phase = phases.back();
      EXPECT_EQ(phase.kind, PhaseKind::performance);
      EXPECT_FALSE(phase.salted) << "a cache would not be seen";
      EXPECT_EQ(phase.stop.queries_max, repeated ? 7U : 4U);
      EXPECT_EQ(phase.stop.duration_min, Duration{});
      auto order = asked(phase, 4);
      if (repeated) {
        EXPECT_EQ(order, std::vector<std::uint32_t>(4, 3));
      } else {
        std::ranges::sort(order);
        EXPECT_EQ(std::unique(order.begin(), order.end()), order.end());
      }
    }
  }
}

TEST(CachingPhasePlan, WhatTheDatasetCannotGiveIsSaidBefore) {
  const auto refused = [](const char* audit) {
    const auto config = config_with("{type: concurrency, target_concurrency: 2}", audit);
    if (!config) return config.error().message;
    const auto planned = plan_caching_phase(*config, five_rows(), false);
    return planned ? std::string() : planned.error().message;
  };
  EXPECT_THAT(refused("{test: output_caching_test, samples: 6}"), HasSubstr("'d' has 5"));
  EXPECT_THAT(refused("{test: output_caching_test, samples: 5, sample_index: 5}"),
              HasSubstr("rows 0 to 4"));
  EXPECT_THAT(refused("{test: output_caching_test}"), HasSubstr("audit.samples"));
  const auto poisson =
      config_with("{type: poisson, target_qps: 5}", "{test: output_caching_test, samples: 2}");
  ASSERT_FALSE(poisson);
  EXPECT_THAT(poisson.error().message, HasSubstr("two rates are compared"));
}

}  // namespace
}  // namespace assay::plan
