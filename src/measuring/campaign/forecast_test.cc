#include "campaign/forecast.h"

#include <gtest/gtest.h>

namespace assay::campaign {
namespace {

TEST(Forecast, a_long_name_keeps_its_distance_from_the_load) {
  PhasePlan phase;
  phase.name = "shopify_product_catalogue::q3vl";
  phase.limits = {{.in_flight_max = 1024}};
  phase.stop.queries_min = phase.stop.queries_max = 6;
  plan::PlanBundle bundle;
  bundle.plan.phases.push_back(phase);
  const std::string text = plan_text(bundle);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "  shopify_product_catalogue::q3vl 1,024 in flight   6 queries");
}

}  // namespace
}  // namespace assay::campaign
