#include "sim/doubt.h"

#include <gtest/gtest.h>

#include <array>

#include "sim/catalogue.h"
#include "sim/scenario.h"
#include "sim/simulate.h"
#include "sim/testing_lengths.h"

namespace assay::sim {
namespace {

Trust trusted(Trust::Level level, bool generation_known = true) {
  Trust out;
  out.level = level;
  out.generation_known = generation_known;
  return out;
}

double width(const Range& range) { return range.high / range.low; }

constexpr std::array kLevels = {Trust::Level::compared,  Trust::Level::beyond,
                                Trust::Level::new_mix,   Trust::Level::new_card,
                                Trust::Level::new_model, Trust::Level::unproven};

TEST(Doubt, every_kind_of_trust_has_one) {
  const std::vector<Doubt> doubts = Catalogue::builtin().doubts();
  for (const char* architecture : {"dense", "moe", "moe_mla"}) {
    const Subject subject{architecture, "x", "hopper", "h100-sxm", "vllm", "fp8"};
    for (const Trust::Level level : kLevels) {
      for (const bool apart : {false, true}) {
        for (const double in_flight : {1.0, 100.0}) {
          const Doubt found = doubt_of(doubts, trusted(level), subject, apart, in_flight);
          EXPECT_GT(found.points, 20U) << to_string(level);
          EXPECT_LT(found.tpot.low, 1) << to_string(level);
          EXPECT_GT(found.tpot.high, 1) << to_string(level);
          EXPECT_GT(width(found.ttft), width({0.99, 1.01})) << to_string(level);
        }
      }
    }
  }
}

TEST(Doubt, what_was_compared_has_that_of_its_architecture_at_any_load) {
  const std::vector<Doubt> doubts = Catalogue::builtin().doubts();
  const auto points = [&](const char* architecture, double in_flight) {
    const Subject subject{architecture, "x", "hopper", "h100-sxm", "vllm", "fp8"};
    return doubt_of(doubts, trusted(Trust::Level::compared), subject, false, in_flight).points;
  };
  const unsigned all = points("another", 100);
  for (const char* architecture : {"dense", "moe", "moe_mla"}) {
    for (const double in_flight : {1.0, 100.0}) {
      EXPECT_LT(points(architecture, in_flight), all) << architecture << ", " << in_flight;
    }
  }
}

// The less was compared, the less is known.
TEST(Doubt, grows_with_what_is_new) {
  const std::vector<Doubt> doubts = Catalogue::builtin().doubts();
  const Subject subject{"dense", "x", "hopper", "h100-sxm", "vllm", "fp8"};
  const auto tpot = [&](Trust::Level level, bool known) {
    return width(doubt_of(doubts, trusted(level, known), subject, false, 4).tpot);
  };
  EXPECT_LT(tpot(Trust::Level::compared, true), tpot(Trust::Level::new_model, true));
  EXPECT_LT(tpot(Trust::Level::compared, true), tpot(Trust::Level::new_card, false));
  EXPECT_LT(tpot(Trust::Level::compared, true), tpot(Trust::Level::unproven, true));
}

TEST(Doubt, the_first_item_that_fits_counts) {
  Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_text(
      "kind: doubt\ndoubt:\n"
      "  - {trust: compared, what: {architecture: moe}, below: 8, points: 1, tpot: [0.9, 1.1], "
      "throughput: [0.9, 1.1], ttft: [0.5, 2]}\n"
      "  - {trust: compared, points: 2, tpot: [0.8, 1.2], throughput: [0.8, 1.2], ttft: [0.5, "
      "2]}\n",
      "mine.yaml"));
  const auto points = [&](const char* architecture, double in_flight, Trust::Level level) {
    const Subject subject{architecture, "x", "hopper", "h100-sxm", "vllm", "fp8"};
    return doubt_of(catalogue.doubts(), trusted(level), subject, false, in_flight).points;
  };
  EXPECT_EQ(points("moe", 7, Trust::Level::compared), 1U);
  EXPECT_EQ(points("moe", 8, Trust::Level::compared), 2U);
  EXPECT_EQ(points("dense", 7, Trust::Level::compared), 2U);
  EXPECT_EQ(points("dense", 7, Trust::Level::new_model), 0U);
}

TEST(Doubt, mistakes_name_the_file) {
  const auto message = [](const char* item) {
    Catalogue catalogue;
    const auto added =
        catalogue.add_text(std::string("kind: doubt\ndoubt: [") + item + "]", "d.yaml");
    return added ? std::string("accepted") : added.error().message;
  };
  EXPECT_NE(message("{trust: sure, points: 1, tpot: [1, 1], ttft: [1, 1], throughput: [1, 1]}")
                .find("d.yaml: doubt: unknown trust 'sure'"),
            std::string::npos);
  EXPECT_NE(message("{points: 1, tpot: [2, 1], ttft: [1, 1], throughput: [1, 1]}")
                .find("'tpot' must be [low, high]"),
            std::string::npos);
  EXPECT_NE(message("").find("'doubt' is missing"), std::string::npos);
}

TEST(Doubt, a_simulated_point_has_that_of_its_trust) {
  Scenario scenario;
  scenario.model = "llama3.1-70b";
  scenario.precision = "fp8";
  scenario.parallel = "tp=8";
  const auto point = [&](const char* hardware) {
    scenario.hardware = hardware;
    const auto spec = make_cluster_spec(Catalogue::builtin(), scenario);
    EXPECT_TRUE(spec) << spec.error().message;
    const Workload load{exactly(100), exactly(20)};
    return simulate_closed(*spec, load, 4);
  };
  const SimPoint known = point("h200-sxm");
  const SimPoint amd = point("mi300x");
  EXPECT_EQ(known.trust.level, Trust::Level::compared);
  EXPECT_EQ(amd.trust.level, Trust::Level::new_card);
  EXPECT_GT(known.doubt.points, 0U);
  EXPECT_GT(width(amd.doubt.tpot), width(known.doubt.tpot));
}

}  // namespace
}  // namespace assay::sim
