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

TEST(UnaskedFields, the_limit_has_another_name_unless_the_user_named_one) {
  Config config;
  config.endpoint_config.api_type = Api::openai;
  EXPECT_EQ(other_limit_field(config), "max_tokens");
  config.endpoint_config.api_type = Api::openai_completions;
  EXPECT_EQ(other_limit_field(config), "max_completion_tokens");
  config.model_params.extra_body = Json::object().set("max_completion_tokens", 4);
  EXPECT_EQ(other_limit_field(config), "");
  config.model_params.extra_body = Json();
  config.endpoint_config.api_type = Api::sglang;
  EXPECT_EQ(other_limit_field(config), "");
}

TEST(UnaskedFields, a_recorded_run_s_plan_is_adapted_as_it_was) {
  const Json facts =
      *Json::parse(R"({"outcome":"ok","left_out":["ignore_eos"],"limit_field":"max_tokens"})");
  EXPECT_EQ(adaptation_of(facts),
            (Adaptation{.left_out = {"ignore_eos"}, .limit_field = "max_tokens"}));
  EXPECT_EQ(adaptation_of(Json()), Adaptation{});
  PlanBundle bundle;
  bundle.datasets.resize(1);
  const std::string before = plan_digest(bundle);
  adapt({}, bundle);
  EXPECT_EQ(plan_digest(bundle), before);
  adapt(adaptation_of(facts), bundle);
  EXPECT_EQ(bundle.datasets[0].generation.limit_field, "max_tokens");
  EXPECT_NE(plan_digest(bundle), before);
}

}  // namespace
}  // namespace assay::plan
