#include "campaign/run_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "campaign/dry_run.h"
#include "campaign/run_talk.h"

namespace assay::campaign {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RunSettings asked() {
  RunSettings out;
  out.set_flag("--endpoint", "http://localhost:1");
  out.set_flag("--model", "m");
  return out;
}

TEST(RunSettings, a_flag_that_the_command_decides_overrides_the_typed_one) {
  RunSettings settings = asked();
  settings.settings.push_back({.name = "--concurrency", .values = {"4"}});
  const auto typed = settings.load();
  ASSERT_TRUE(typed) << typed.error().message;
  EXPECT_EQ(typed->config.settings.load_pattern.target_concurrency, 4U);
  settings.set_flag("--concurrency", "9");
  const auto decided = settings.load();
  ASSERT_TRUE(decided) << decided.error().message;
  EXPECT_EQ(decided->config.settings.load_pattern.target_concurrency, 9U);
}

TEST(RunSettings, a_scenario_alone_is_a_test_only_where_tests_are_allowed) {
  RunSettings settings = asked();
  settings.scenario = "server";
  const auto refused = settings.load();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--scenario: needs --workload NAME"));
  settings.tests = true;
  const auto test = settings.scenario_test();
  ASSERT_TRUE(test) << test.error().message;
  ASSERT_TRUE(test->has_value());
  // With a load of its own there is none.
  settings.set_flag("--rate", "5");
  const auto own = settings.scenario_test();
  EXPECT_FALSE(own && own->has_value());
}

TEST(RunSettings, two_configs_are_one_too_many) {
  RunSettings settings = asked();
  settings.configs = {"a.yaml", "b.yaml"};
  const auto loaded = settings.load();
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("'a.yaml' and 'b.yaml': name one"));
}

TEST(ForecastAsked, a_price_needs_what_it_is_for) {
  EXPECT_TRUE(ForecastAsked{}.check(false));
  EXPECT_FALSE((ForecastAsked{.from = "run"}.check(false))) << "without --dry-run";
  EXPECT_TRUE((ForecastAsked{.from = "run"}.check(true)));
  EXPECT_FALSE((ForecastAsked{.cards = 8}.check(true))) << "without --from";
  EXPECT_FALSE((ForecastAsked{.from = "run", .card_hour = 2}.check(true))) << "without --cards";
  EXPECT_FALSE((ForecastAsked{.from = "run", .cards = 0}.check(true)));
  EXPECT_TRUE((ForecastAsked{.from = "run", .cards = 8, .card_hour = 2}.check(true)));
}

TEST(CommandOf, is_the_program_the_commands_words_and_its_arguments) {
  const std::vector<std::string> args{"--json", "a b"};
  EXPECT_THAT(command_of("safety run", args),
              ElementsAre("assay", "safety", "run", "--json", "a b"));
}

}  // namespace
}  // namespace assay::campaign
