#include "report/simulated.h"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

sim::SimPoint doubted() {
  sim::SimPoint out;
  out.concurrency = 8;
  out.gpus = 2;
  out.queries = 80;
  out.system_tps = 1000;
  out.tps_per_gpu = 500;
  out.ttft_ms.mean = 100;
  out.tpot_ms.mean = 10;
  out.doubt.points = 77;
  out.doubt.tpot = {0.9, 1.2};
  out.doubt.ttft = {0.5, 2};
  out.doubt.throughput = {0.8, 1.1};
  return out;
}

TEST(Simulated, a_point_has_the_interval_of_points_like_it) {
  const Json interval = point_json(doubted())["interval"];
  EXPECT_DOUBLE_EQ(interval["share"].as_double(), 0.9);
  EXPECT_EQ(interval["unseen_points"].as_int(), 77);
  EXPECT_DOUBLE_EQ(interval["tpot_ms_mean"][0].as_double(), 9);
  EXPECT_DOUBLE_EQ(interval["tpot_ms_mean"][1].as_double(), 12);
  EXPECT_DOUBLE_EQ(interval["ttft_ms_mean"][1].as_double(), 200);
  EXPECT_DOUBLE_EQ(interval["system_tps"][0].as_double(), 800);
  EXPECT_DOUBLE_EQ(interval["tps_per_gpu"][1].as_double(), 550);
}

TEST(Simulated, the_text_says_where_nine_of_ten_measurements_are_expected) {
  SimulatedCurve curve{.system = "x", .points = {doubted()}};
  const std::string text = simulated_text(curve);
  EXPECT_NE(text.find("9 of 10 measurements"), std::string::npos) << text;
  EXPECT_NE(text.find("800 – 1,100"), std::string::npos) << text;
  EXPECT_NE(text.find("9.00 ms – 12.0 ms"), std::string::npos) << text;
}

// Nothing is claimed where no points like it are known.
TEST(Simulated, without_a_doubt_no_interval_is_claimed) {
  SimulatedCurve curve{.system = "x", .points = {doubted()}};
  curve.points.front().doubt = {};
  EXPECT_TRUE(point_json(curve.points.front())["interval"].is_null());
  EXPECT_EQ(simulated_text(curve).find("9 of 10"), std::string::npos);
}

// Cards of one load beside each other, with what a kilowatt and a dollar give.
TEST(Simulated, cards_stand_beside_each_other_level_by_level) {
  SimulatedCurve one{.system = "on a", .hardware = "card-a", .points = {doubted(), doubted()}};
  SimulatedCurve two = one;
  two.hardware = "card-b";
  for (SimulatedCurve* card : {&one, &two}) {
    card->points[1].concurrency = 16;
    for (sim::SimPoint& p : card->points) p.watts_mean = 2000;
  }
  const std::string text = cards_text({one, two}, 3.6);
  const auto at = [&](const char* word, std::size_t from = 0) { return text.find(word, from); };
  EXPECT_LT(at("card-a"), at("card-b"));
  EXPECT_LT(at("card-b"), at("16.0"));      // both cards at 8 before any at 16
  EXPECT_NE(at("500"), std::string::npos);  // tokens a second and kilowatt
  // 2 x 3.6 dollars an hour over 1,000 x 3,600 tokens: two dollars a million.
  EXPECT_NE(at(" 2.00 "), std::string::npos) << text;
  EXPECT_EQ(cards_text({one}, 0).find("$"), std::string::npos);
}

}  // namespace
}  // namespace assay::report
