#include "plan/curve_point_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "plan/config_reader.h"

namespace assay::plan {
namespace {

struct Fixture {
  Config config{};
  std::vector<Dataset> datasets{};
  CurvePlan curve{};
};

Fixture make_fixture() {
  Fixture out;
  ConfigReader reader;
  for (const auto& [flag, value] : {std::pair{"--endpoint", "http://localhost:1"},
                                    {"--model", "m"},
                                    {"--concurrency", "1"},
                                    {"--prompts", "40"},
                                    {"--isl", "20"}}) {
    reader.flag(flag, value);
  }
  out.config = reader.finish()->config;
  out.datasets = *load_datasets(out.config);
  CurveWish wish{.c_max = 64};
  wish.rows = 40;
  wish.quick = true;
  out.curve = *plan_curve(wish);
  return out;
}

const PhasePlan& measured(const PointPlan& plan) {
  for (const PhasePlan& phase : plan.bundle.plan.phases) {
    if (phase.kind == PhaseKind::performance) return phase;
  }
  return plan.bundle.plan.phases.front();
}

std::vector<std::uint32_t> rows_of(const PhasePlan& phase, std::uint64_t count) {
  SampleOrder order = phase.order;
  std::vector<std::uint32_t> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(order.next());
  return out;
}

TEST(AuditPlan, AsksDistinctRowsOrOneAndNothingIsSalted) {
  const Fixture fixture = make_fixture();
  AuditPhase wanted{.concurrency = 8, .queries = 30};
  const auto reference = plan_audit_phase(fixture.config, fixture.datasets, fixture.curve, wanted);
  ASSERT_TRUE(reference) << reference.error().message;
  const std::vector<std::uint32_t> rows = rows_of(measured(*reference), 30);
  EXPECT_EQ(std::set<std::uint32_t>(rows.begin(), rows.end()).size(), 30U);
  wanted.row = 7;
  const auto repeated = plan_audit_phase(fixture.config, fixture.datasets, fixture.curve, wanted);
  ASSERT_TRUE(repeated) << repeated.error().message;
  EXPECT_EQ(rows_of(measured(*repeated), 30), std::vector<std::uint32_t>(30, 7));
  for (const PointPlan* plan : {&*reference, &*repeated}) {
    const PhasePlan& phase = measured(*plan);
    EXPECT_FALSE(phase.salted);
    EXPECT_EQ(phase.stop.queries_min, 30U);
    EXPECT_EQ(phase.stop.queries_max, 30U);
    EXPECT_EQ(phase.stop.duration_min, Duration{});
    EXPECT_EQ(phase.limits.front().in_flight_max, 8U);
    EXPECT_FALSE(plan->config.settings.runtime.salt);
    // Its warm-up asks no row of the dataset.
    EXPECT_EQ(plan->bundle.plan.phases.front().kind, PhaseKind::warmup);
    EXPECT_NE(plan->bundle.plan.phases.front().dataset, phase.dataset);
  }
}

TEST(PointPlan, MeasuresSaltedAndInWholePasses) {
  const Fixture fixture = make_fixture();
  const auto plan =
      plan_point(fixture.config, fixture.datasets, fixture.curve, fixture.curve.points.front(), 0);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(measured(*plan).salted);
  EXPECT_EQ(measured(*plan).stop.pass, 40U);
}

// A made prompt has no tensor and no documents, and a tensor has no place for a salt.
TEST(PointPlan, RowsOfMoreThanTextWarmUpWithThemselves) {
  Fixture fixture = make_fixture();
  Dataset rows{.name = "rows"};
  rows.samples.resize(40);
  for (Sample& sample : rows.samples) {
    sample.prompt = "which?";
    sample.body = Json().set("documents", Json::array().push_back("a").push_back("b"));
  }
  fixture.datasets = {rows};
  fixture.config.endpoint_config.api_type = Api::rerank;
  const auto plan_of = [&] {
    return plan_point(fixture.config, fixture.datasets, fixture.curve, fixture.curve.points.front(),
                      0);
  };
  const auto ranked = plan_of();
  ASSERT_TRUE(ranked) << ranked.error().message;
  EXPECT_EQ(ranked->bundle.plan.phases.front().kind, PhaseKind::warmup);
  EXPECT_EQ(ranked->bundle.plan.phases.front().dataset, measured(*ranked).dataset);
  EXPECT_FALSE(ranked->bundle.plan.phases.front().salted);
  EXPECT_TRUE(measured(*ranked).salted) << "the question takes a salt";
  EXPECT_EQ(ranked->warmup_source, "the measured rows, which hold more than text");
  for (Sample& sample : fixture.datasets[0].samples) {
    sample = Sample{.attachments = {{.name = "x", .type = "FP32", .shape = {1}, .bytes = "0000"}}};
  }
  fixture.config.endpoint_config.api_type = Api::kserve;
  const auto tensors = plan_of();
  ASSERT_TRUE(tensors) << tensors.error().message;
  EXPECT_FALSE(measured(*tensors).salted);
  EXPECT_EQ(tensors->bundle.plan.phases.front().dataset, measured(*tensors).dataset);
}

}  // namespace
}  // namespace assay::plan
