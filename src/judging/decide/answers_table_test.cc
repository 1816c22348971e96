// The answers over drawn systems: any curves, limits, prices and demands.
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/testing_drawn.h"
#include "base/testing_golden.h"
#include "decide/system.h"

namespace assay::decide {
namespace {

class DrawnSystems : Drawn {
 public:
  using Drawn::Drawn;

  metrics::Curve curve() {
    metrics::Curve out;
    out.simulated = one_in(8);
    const std::string unit = one_in(6) ? "image" : "";
    double ttft = 20 + 80 * rng_.uniform();
    double tpot = 4 + 10 * rng_.uniform();
    const std::uint64_t levels = one_in(12) ? 0 : 1 + rng_.below(6);
    for (std::uint64_t i = 0, users = 1; i < levels; ++i, users *= one_in(5) ? 1U : 4U) {
      metrics::CurvePoint point{.name = format("r{}", users),
                                .concurrency = static_cast<std::int64_t>(users)};
      point.measured = !one_in(9);
      point.unit = unit;
      ttft *= 0.8 + 2 * rng_.uniform();
      tpot *= 0.9 + 0.8 * rng_.uniform();
      point.run.ttft_p90_ms = one_in(12) ? 0 : ttft;
      point.run.tpot_p90_ms = tpot;
      point.run.latency_p90_ms = ttft + 100 * tpot;
      point.run.failed = one_in(12) ? 1 + rng_.below(2) : 0;
      point.run.completed = 100;
      if (unit.empty() && !one_in(9)) {
        point.run.system_tps = 1000 * static_cast<double>(users) / tpot;
        point.run.tps_per_user = 1000 / tpot;
      }
      if (!unit.empty()) point.run.units_per_s = static_cast<double>(users) / tpot;
      if (one_in(4)) point.accuracy = {{.dataset = "d", .score = 0.5, .samples = 9}};
      out.points.push_back(std::move(point));
    }
    return out;
  }

  System system(std::size_t number) {
    std::string text = format("at/s{}", number);
    if (one_in(4)) text += ",name=system " + std::to_string(number);
    if (!one_in(3)) text += format(",accelerators={}", 1 + rng_.below(8));
    if (!one_in(3)) text += ",accelerator=h100";
    if (one_in(2)) text += format(",kw={:.1f}", 0.5 + 10 * rng_.uniform());
    if (one_in(3))
      text += format(",price={:.2f}", 1 + 40 * rng_.uniform());
    else if (one_in(3))
      text += ",capex=250000";
    if (one_in(6)) text += ",simulated=yes";
    return *parse_system(text);
  }

  Question question() {
    Question out;
    out.limits = *parse_limits(
        pick<const char*>({"ttft_p90<=1s", "ttft_p90<=200ms,tpot_p90<=30ms", "tps_per_user>=30",
                           "tps_per_user>=20,ttft_p90<=2s,latency_p90<=4s"}));
    if (!one_in(3)) {
      out.prices = *parse_prices(
          "- {accelerator: h100, usd_per_hour: 2.5, as_of: 2026-11-01, source: quote 7}");
    }
    CostInputs& in = out.inputs;
    in.years = pick<double>({1, 3, 2.5});
    if (one_in(2)) in.users = pick<double>({1, 100, 12'345});
    if (one_in(3)) in.derate = 0.8;
    if (one_in(3)) in.headroom = 0.25;
    if (one_in(3)) in.spare = 1;
    if (one_in(3)) in.utilisation = 0.5;
    if (one_in(3)) in.growth = pick<double>({0.5, -0.5});
    if (one_in(3)) in.interest = 0.08;
    if (one_in(3)) in.pue = 1.3;
    if (one_in(3)) in.usd_per_kwh = 0.11;
    if (one_in(4)) in.space_per_month = 900;
    if (one_in(4)) in.staff_per_year = 50'000;
    if (one_in(4)) in.software_per_year = 4'500;
    return out;
  }
};

TEST(AnswersTable, what_is_answered_of_drawn_systems_is_what_was_read) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    DrawnSystems drawn(seed);
    const Question question = drawn.question();
    std::vector<SystemAnswer> systems;
    for (std::size_t i = 0; i <= seed % 3; ++i) {
      const System system = drawn.system(i);
      auto found = answer(system, drawn.curve(), question);
      ASSERT_TRUE(found) << found.error().message;
      systems.push_back(*std::move(found));
    }
    const Answers answers = rank_all(std::move(systems));
    table += format("{}\n{}", seed, answers_text(answers, 100));
    if (seed <= 4) table += answers_json(answers, question).dump() + "\n";
  }
  expect_golden("decide/answers.txt", table);
}

}  // namespace
}  // namespace assay::decide
