#include "campaign/derating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include "base/rng.h"
#include "dataset/mix.h"

namespace assay::campaign {
namespace {

using testing::ElementsAre;

constexpr double kTokens = 175;  // of a query: 0.75 · 100 + 0.25 · 400

plan::SyntheticConfig two_classes() {
  plan::SyntheticConfig out;
  out.classes = {"chat,rate=30,law=burst/8,isl=300,osl=100,slo=ttft<=500ms",
                 "batch,rate=10,isl=4000,osl=400,priority=2"};
  return out;
}

TEST(Derating, a_step_adds_one_thing_to_what_the_steps_before_ask) {
  const auto data = two_classes();
  const auto asked = [&](DeratingStep step, double load) {
    return derating_classes(data, step, load).value();
  };
  EXPECT_THAT(asked(DeratingStep::ideal, 4),
              ElementsAre("chat,slo=ttft<=500ms,isl=1225,osl=175,share=30",
                          "batch,priority=2,isl=1225,osl=175,share=10"));
  EXPECT_EQ(asked(DeratingStep::limits, 4), asked(DeratingStep::ideal, 4));
  EXPECT_THAT(asked(DeratingStep::arrivals, 8),
              ElementsAre("chat,slo=ttft<=500ms,isl=1225,osl=175,share=30,rate=6",
                          "batch,priority=2,isl=1225,osl=175,share=10,rate=2"));
  EXPECT_EQ(asked(DeratingStep::bursts, 8)[0],
            "chat,slo=ttft<=500ms,isl=1225,osl=175,share=30,rate=6,law=burst/8");
  EXPECT_EQ(asked(DeratingStep::mix, 8)[0],
            "chat,isl=300,osl=100,slo=ttft<=500ms,share=30,rate=6,law=burst/8");
  const auto steps = derating_steps(data).value();
  for (const DeratingStep step : steps) {
    const auto classes = asked(step, 3);
    for (const std::string& text : classes) EXPECT_TRUE(dataset::parse_class(text)) << text;
  }
}

TEST(Derating, steps_that_would_change_nothing_are_left_out) {
  using enum DeratingStep;
  EXPECT_THAT(derating_steps(two_classes()).value(),
              ElementsAre(ideal, limits, arrivals, bursts, mix));
  plan::SyntheticConfig data;
  data.classes = {"a,rate=1,slo=ttft<=1s,isl=9,osl=9", "b,rate=2,isl=9,osl=9,law=poisson"};
  EXPECT_THAT(derating_steps(data).value(), ElementsAre(ideal, limits, arrivals));
  data.classes = {"a,rate=1,slo=ttft<=1s,isl=lognormal:9/0.5"};
  EXPECT_THAT(derating_steps(data).value(), ElementsAre(ideal, limits, arrivals, mix));
  for (const char* const wrong : {"a,rate=1", "a,slo=ttft<=1s", "a,concurrency=2,slo=ttft<=1s"}) {
    data.classes = {wrong};
    EXPECT_FALSE(derating_steps(data)) << wrong;
  }
}

metrics::ClassReport report_of(double qps, double seconds, double share) {
  metrics::ClassReport out;
  out.window = Duration::from_seconds(seconds);
  metrics::ClassFigures chat{.traffic = {.name = "chat", .share = 1, .slo = "ttft<=1s"}};
  chat.traffic.limits = {{.series = "ttft", .most = 1_s}};
  chat.ended = static_cast<std::uint64_t>(std::llround(qps * seconds));
  chat.succeeded = chat.ended;
  chat.good = static_cast<std::uint64_t>(static_cast<double>(chat.ended) * share);
  chat.output_tokens = std::llround(static_cast<double>(chat.ended) * kTokens);
  out.classes = {chat};
  return out;
}

TEST(Derating, a_load_surely_keeps_or_misses_by_wilsons_interval) {
  const auto probe = [](double share, double seconds) {
    return derating_probe(DeratingStep::limits, 1, report_of(1, seconds, share), 0.9);
  };
  // 95 of 100: from 0.888 to 0.978; 950 of 1,000: from 0.935.
  EXPECT_TRUE(probe(0.95, 100).kept);
  EXPECT_FALSE(probe(0.95, 100).surely_kept);
  EXPECT_TRUE(probe(0.95, 1000).surely_kept);
  EXPECT_FALSE(probe(0.86, 100).kept);
  EXPECT_FALSE(probe(0.86, 100).surely_missed);
  EXPECT_TRUE(probe(0.86, 1000).surely_missed);
  EXPECT_FALSE(derating_probe(DeratingStep::limits, 1, report_of(0, 1, 1), 0.9).kept);
}

// A system whose steps have known edges: 64 in flight are worth having, at 2 queries a second each.
TEST(Derating, property_the_ladder_finds_known_edges_and_their_costs) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto draw = [&rng](double low, double high) {
      return low + (high - low) * static_cast<double>(rng.next() >> 11) * 0x1.0p-53;
    };
    const double level_most = std::floor(draw(3, 60));
    std::map<DeratingStep, double> edge{{DeratingStep::arrivals, draw(0.3, 1) * 2 * level_most}};
    edge[DeratingStep::bursts] = edge[DeratingStep::arrivals] * draw(0.3, 1);
    edge[DeratingStep::mix] = edge[DeratingStep::bursts] * draw(0.3, 1.2);
    int runs = 0;
    const MeasureClasses measure = [&](const std::vector<std::string>&, DeratingStep step,
                                       double load,
                                       const std::string&) -> Result<metrics::ClassReport> {
      ++runs;
      if (step <= DeratingStep::limits) {
        return report_of(2 * std::min(load, 64.0), 1000, load <= level_most ? 1 : 0.5);
      }
      return report_of(load, 1000, load <= edge.at(step) ? 1 : 0.5);
    };
    const auto data = two_classes();
    const Json out = measure_derating(data, 0.9, measure, [](const std::string&) {}).value();
    EXPECT_LE(runs, 60);
    const Json& steps = out["steps"];
    ASSERT_EQ(steps.size(), 5U);
    const auto tps = [&steps](std::size_t i) { return steps[i]["tps"].as_double(); };
    EXPECT_NEAR(tps(0), 128 * kTokens, 1);
    EXPECT_NEAR(tps(1), 2 * level_most * kTokens, 0.05 * tps(1) + 2 * kTokens);
    std::size_t i = 2;
    for (const auto& [step, most] : edge) {
      SCOPED_TRACE(to_string(step));
      EXPECT_LE(tps(i), most * kTokens + 1);
      EXPECT_GE(tps(i), most * kTokens / 1.051 - 1);
      EXPECT_LE(steps[i]["low"].as_double(), tps(i));
      EXPECT_GE(steps[i]["high"].as_double(), most * kTokens - 1);
      EXPECT_NEAR(steps[i]["cost"]["ratio"].as_double(), tps(i) / tps(i - 1), 1e-9);
      EXPECT_NEAR(steps[i]["left"]["ratio"].as_double(), tps(i) / tps(0), 1e-9);
      EXPECT_LE(steps[i]["cost"]["low"].as_double(), steps[i]["cost"]["ratio"].as_double());
      EXPECT_GE(steps[i]["cost"]["high"].as_double(), steps[i]["cost"]["ratio"].as_double());
      ++i;
    }
  }
}

TEST(Derating, where_no_load_keeps_the_limits_nothing_is_left) {
  const MeasureClasses measure = [](const std::vector<std::string>&, DeratingStep, double load,
                                    const std::string&) -> Result<metrics::ClassReport> {
    return report_of(load, 100, 0.2);
  };
  const Json out = measure_derating(two_classes(), 0.9, measure, [](const std::string&) {}).value();
  for (std::size_t i = 1; i < out["steps"].size(); ++i) {
    EXPECT_EQ(out["steps"][i]["tps"].as_double(), 0);
    EXPECT_EQ(out["steps"][i]["left"]["ratio"].as_double(), 0);
  }
}

}  // namespace
}  // namespace assay::campaign
