#include "plan/unasked_fields.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::plan {
namespace {

bool may_leave_out(const Config& config, std::string_view field) {
  return std::ranges::count(unasked_fields(config), field) > 0;
}

TEST(UnaskedFields, what_the_config_asks_for_is_never_left_out) {
  Config config;
  EXPECT_TRUE(may_leave_out(config, "ignore_eos"));
  config.model_params.ignore_eos = true;
  EXPECT_FALSE(may_leave_out(config, "ignore_eos"));
  EXPECT_TRUE(may_leave_out(config, "min_tokens"));
  config.model_params.min_new_tokens = 4;
  EXPECT_FALSE(may_leave_out(config, "min_tokens"));
  EXPECT_TRUE(may_leave_out(config, "stream_options"));
  config.model_params.extra_body = Json::object().set("stream_options", Json::object());
  EXPECT_FALSE(may_leave_out(config, "stream_options"));
}

TEST(UnaskedFields, a_field_of_a_datasets_own_extra_body_stays) {
  PlanBundle bundle;
  bundle.datasets.resize(2);
  bundle.datasets[1].generation.extra_body = Json::object().set("ignore_eos", true);
  leave_out({"ignore_eos"}, bundle);
  const Json* const left = bundle.datasets[0].generation.extra_body.find("ignore_eos");
  ASSERT_NE(left, nullptr);
  EXPECT_TRUE(left->is_null()) << "null takes it out of the request";
  EXPECT_TRUE(bundle.datasets[1].generation.extra_body["ignore_eos"].as_bool());
}

}  // namespace
}  // namespace assay::plan
