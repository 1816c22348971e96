#include "campaign/calibrate/proxy_cost.h"

#include <gtest/gtest.h>

namespace assay::campaign {
namespace {

audit::CalibratedLevel level(std::int64_t first, std::int64_t last) {
  audit::CalibratedLevel out{.events_per_second = 5000, .replies = 100};
  out.arrival.ttft = {.count = 100, .p50 = first, .p99 = 3 * first};
  out.arrival.latency = {.count = 100, .p50 = last, .p99 = 2 * last};
  return out;
}

TEST(ProxyCost, what_is_added_is_the_median_of_the_rounds_differences) {
  ProxyCost cost{.streams = 1000,
                 .rounds = {{level(10'000, 20'000), level(25'000, 50'000)},
                            {level(10'000, 20'000), level(500'000, 600'000)},
                            {level(10'000, 20'000), level(24'000, 45'000)}}};
  cost.asked.flags = {"--spin"};
  add_up(cost);
  EXPECT_EQ(cost.first_token.p50, 15'000);
  EXPECT_EQ(cost.first_token.p99, 45'000);
  EXPECT_EQ(cost.last_event.p50, 30'000);
  EXPECT_EQ(cost.last_event.p99, 60'000);
  cost.rounds[1].through.unmatched = 2;
  EXPECT_EQ(proxy_cost_text(cost),
            "assay proxy --spin at 5,000 events/s in 1,000 streams, 3 rounds with and without it "
            "in turns\n"
            "  it adds to a first token      P50 +15.0 µs   P99 +45.0 µs\n"
            "  and to a reply's last event   P50 +30.0 µs   P99 +60.0 µs\n"
            "  2 of 100 replies do not match the endpoint's own log\n");
  const Json json = proxy_cost_json(cost);
  EXPECT_EQ(json["first_token_added_ns"]["p99"].as_int(), 45'000);
  EXPECT_EQ(json["rounds"][2]["through"]["last_event_ns"]["p50"].as_int(), 45'000);
  cost.rounds.pop_back();
  add_up(cost);
  EXPECT_EQ(cost.first_token.p50, 15'000) << "of two, the lower";
}

}  // namespace
}  // namespace assay::campaign
