// The answer over several systems, as `assay decide` prints it.
#include "decide/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::decide {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

metrics::Curve sweep_of(std::vector<std::pair<std::int64_t, double>> ttft_by_level) {
  metrics::Curve out;
  for (const auto& [level, ttft] : ttft_by_level) {
    metrics::CurvePoint point{.name = format("r{}", level), .concurrency = level};
    point.measured = true;
    point.run.system_tps = 10.0 * static_cast<double>(level);
    point.run.ttft_p90_ms = ttft;
    out.points.push_back(std::move(point));
  }
  return out;
}

Question within_a_second() { return {.limits = *parse_limits("ttft_p90<=1s")}; }

std::string told(const std::vector<std::pair<std::string, metrics::Curve>>& systems,
                 const Question& question) {
  std::vector<SystemAnswer> found;
  for (const auto& [text, curve] : systems) {
    found.push_back(*answer(*parse_system(text), curve, question));
  }
  return answers_text(rank_all(std::move(found)), 10'000);
}

const metrics::Curve kClosed = sweep_of({{8, 100}, {64, 900}, {128, 1500}});
const metrics::Curve kSmall = sweep_of({{8, 100}, {16, 2000}});
const metrics::Curve kOpen = sweep_of({{8, 100}, {512, 300}});

std::vector<SystemAnswer> answers_of(const std::vector<std::pair<std::string, metrics::Curve>>& all,
                                     const Question& question = within_a_second()) {
  std::vector<SystemAnswer> out;
  for (const auto& [text, curve] : all) {
    out.push_back(*answer(*parse_system(text), curve, question));
  }
  return out;
}

TEST(System, is_a_folder_with_what_a_run_cannot_know) {
  const System found =
      *parse_system("curves/a/,name=8 x H100,accelerators=8,accelerator=h100-sxm,kw=10.2,price=38");
  EXPECT_EQ(found.name, "8 x H100");
  EXPECT_EQ(found.accelerators, 8);
  EXPECT_EQ(found.kw, 10.2);
  EXPECT_EQ(found.price_per_hour, 38);
  EXPECT_EQ(parse_system("curves/a/")->name, "a");
  EXPECT_TRUE(parse_system("a,simulated=yes")->simulated);
  for (const char* const bad :
       {"", ",name=a", "a,b", "a,kw=x", "a,kw=0", "a,price=-1", "a,name=", "a,gpus=8",
        "a,simulated=maybe", "a,kw=inf", "a,name", "a,accelerator", "a,kw=yes", "a,price=no"}) {
    EXPECT_FALSE(parse_system(bad)) << bad;
  }
}

TEST(System, the_leader_stands_first_and_each_ones_binding_limit_after) {
  const std::string text = told({{"b", kSmall}, {"a", kClosed}}, within_a_second());
  EXPECT_EQ(text.find("  a serves the most users, 64 users."), 0U) << text;
  EXPECT_THAT(text, HasSubstr("8 users at once are served within ttft_p90<=1s (r8); at 16 users, "
                              "TTFT P90 is 2.00 s, limit 1.00 s; accuracy not scored."));
}

TEST(System, a_sweep_that_ended_has_no_winner) {
  EXPECT_THAT(told({{"a", kOpen}, {"b", kOpen}}, within_a_second()),
              AllOf(HasSubstr("which serves the most users is not known"),
                    HasSubstr("at least 512"), Not(HasSubstr("a serves the most"))));
}

TEST(System, without_a_price_no_dollar_is_printed) {
  Question question = within_a_second();
  question.inputs.users = 100;
  EXPECT_THAT(
      told({{"a,accelerators=16,kw=10", kClosed}, {"b,accelerators=1,kw=1", kSmall}}, question),
      AllOf(Not(HasSubstr("$")), HasSubstr("cost: 2 systems."),
            HasSubstr("b serves the most users per accelerator, 8.00 users"),
            HasSubstr("no price was given")));
}

TEST(System, a_price_is_the_users_own_or_of_the_users_table_with_its_date) {
  Question question = within_a_second();
  question.prices =
      *parse_prices("- {accelerator: h100, usd_per_hour: 2, as_of: 2026-11-01, source: quote 7}");
  const std::string text =
      told({{"a,accelerators=8,accelerator=h100", kClosed}, {"b,price=1", kSmall}}, question);
  EXPECT_THAT(text, AllOf(HasSubstr("rent of a system $16.0/h, 2026-11-01, quote 7"),
                          HasSubstr("rent of a system $1.00/h, given on the command line"),
                          HasSubstr("b costs the least per token, $3.47 a million tokens")));
}

TEST(System, simulated_and_unscored_stand_in_the_line_that_compares) {
  metrics::Curve scored = kClosed;
  scored.points[0].accuracy = {{.dataset = "d", .score = 0.5}};
  const std::string text = told({{"a", scored}, {"b,simulated=yes", kSmall}}, within_a_second());
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_EQ(first,
            "  a serves the most users, 64 users; measured systems stand beside simulated ones; "
            "their accuracy is not alike: a scored.");
  EXPECT_THAT(text, HasSubstr("simulated, not measured."));
}

TEST(System, where_none_serves_anybody_nobody_leads) {
  Question question{.limits = *parse_limits("ttft_p90<=1ms")};
  const std::string text = told({{"a", kClosed}, {"b,price=3", kSmall}}, question);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("most users")), Not(HasSubstr("least per token")),
                          HasSubstr("no measured point keeps ttft_p90<=1ms")));
  EXPECT_TRUE(rank_all(answers_of({{"a,kw=1", sweep_of({})}, {"b,price=3", sweep_of({})}}))
                  .rankings.empty())
      << "nor where none was measured";
}

TEST(System,
     one_of_which_no_level_was_measured_is_unknown_and_one_that_serves_none_leads_in_nothing) {
  const std::string unknown = told({{"a,kw=2", sweep_of({})}, {"b", kSmall}}, within_a_second());
  EXPECT_THAT(unknown, AllOf(HasSubstr("b serves the most users, 8 users; nothing is known of a"),
                             Not(HasSubstr("per kW")), Not(HasSubstr("not alike"))));
  const std::string none =
      told({{"a,kw=2", sweep_of({{8, 5000}})}, {"b", kSmall}}, within_a_second());
  EXPECT_THAT(none, AllOf(HasSubstr("b serves the most users, 8 users"), Not(HasSubstr("per kW"))));
}

TEST(System, pictures_are_compared_beside_a_system_that_was_not_measured) {
  metrics::Curve pictures = sweep_of({{1, 100}, {2, 5000}});
  for (metrics::CurvePoint& point : pictures.points) {
    point.unit = "image";
    point.run.units_per_s = 1;
  }
  EXPECT_THAT(told({{"a", sweep_of({})}, {"b,price=3.6", pictures}}, within_a_second()),
              HasSubstr("b costs the least per image, $1.00 a thousand images; nothing is known "
                        "of a"));
}

TEST(System, one_that_fails_at_one_user_has_no_level_that_was_not_measured) {
  const auto first = [](const metrics::Curve& a) {
    const std::string text =
        told({{"a,accelerators=1", a}, {"b,accelerators=16", kSmall}}, within_a_second());
    const std::size_t at = text.find("per accelerator");
    return text.substr(at, text.find("\n\n") - at);
  };
  EXPECT_EQ(first(sweep_of({{1, 5000}})), "per accelerator, 0.500 users.");
  EXPECT_THAT(first(sweep_of({{2, 5000}})),
              HasSubstr("a was not measured between 0.00 users and 2.00 users"));
  // A curve has 0 for a figure that was not measured.
  EXPECT_THAT(first(sweep_of({{1, 0}})), HasSubstr("nothing is known of a"));
}

TEST(System, the_document_has_the_same_answers) {
  Question question = within_a_second();
  std::vector<SystemAnswer> found;
  found.push_back(*answer(*parse_system("a"), kOpen, question));
  found.push_back(*answer(*parse_system("b"), kSmall, question));
  const Json json = answers_json(rank_all(std::move(found)), question);
  EXPECT_EQ(json["systems"][0]["served"]["users"].as_int(), 512);
  EXPECT_TRUE(json["systems"][0]["served"]["at_least"].as_bool());
  EXPECT_EQ(json["rankings"][0]["lead"].as_string(), "sole");
  EXPECT_EQ(json["rankings"][0]["leaders"][0].as_string(), "a");
}

TEST(System, a_part_that_is_wrong_is_named_with_its_reason) {
  const auto why = [](const char* text) { return parse_system(text).error().message; };
  EXPECT_EQ(why("a,kw=0"), "'kw=0': must be above 0");
  EXPECT_EQ(why("a,kw=-1"), "'kw=-1': must be above 0");
  EXPECT_THAT(why("a,b"), testing::StartsWith("'b': a system is written FOLDER"));
  EXPECT_THAT(why("a,kw=inf"), testing::StartsWith("'kw=inf': a system is written"));
  EXPECT_THAT(why("a,accelerator="), testing::StartsWith("'accelerator=': a system is written"));
  const System found = *parse_system(" a/b// , capex = 5 , simulated = no , kw=0.5");
  EXPECT_EQ(found.folder, "a/b//");
  EXPECT_EQ(found.name, "b");
  EXPECT_EQ(found.capex, 5);
  EXPECT_EQ(found.kw, 0.5);
  EXPECT_FALSE(found.simulated);
  EXPECT_FALSE(found.price_per_hour);
  EXPECT_EQ(parse_system("/")->name, "");
  EXPECT_EQ(parse_system("a/")->name, "a");
}

TEST(System, the_document_has_what_was_said_of_each_system) {
  Question question = within_a_second();
  std::vector<SystemAnswer> found;
  found.push_back(
      *answer(*parse_system("c/a,accelerators=8,accelerator=h,kw=10"), kClosed, question));
  found.push_back(*answer(*parse_system("b,simulated=yes"), kSmall, question));
  const Json json = answers_json(rank_all(std::move(found)), question);
  EXPECT_EQ(json["limits"].as_string(), "ttft_p90<=1s");
  const Json& first = json["systems"][0];
  EXPECT_EQ(first["name"].as_string(), "a");
  EXPECT_EQ(first["folder"].as_string(), "c/a");
  EXPECT_EQ(first["accelerator"].as_string(), "h");
  EXPECT_EQ(first["accelerators"].as_double(), 8);
  EXPECT_EQ(first["power_kw"].as_double(), 10);
  EXPECT_FALSE(first["simulated"].as_bool(true));
  EXPECT_EQ(first["accuracy"].as_string(), "not scored");
  EXPECT_FALSE(first["cost"].is_null());
  EXPECT_TRUE(json["systems"][1]["simulated"].as_bool());
  EXPECT_TRUE(json["systems"][1]["power_kw"].is_null());
  std::vector<std::string> by;
  for (const Json& one : json["rankings"].items()) by.emplace_back(one["by"].as_string());
  // No price was given: there is no order by dollars.
  EXPECT_EQ(by, (std::vector<std::string>{"serves the most users",
                                          "serves the most users per accelerator",
                                          "serves the most users per kW"}));
  EXPECT_THAT(
      json["rankings"][1]["answer"].as_string(),
      HasSubstr("a serves the most users per accelerator, 8.00 users; nothing is known of b"));
}

TEST(System, what_is_bought_is_not_rented_too) {
  Question question = within_a_second();
  question.inputs.years = 4;
  question.prices =
      *parse_prices("- {accelerator: h100, usd_per_hour: 2, as_of: 2026-11-01, source: quote 7}");
  for (const char* system :
       {"a,capex=100,accelerators=8,accelerator=h100", "a,capex=100,accelerator=h100"}) {
    const auto bought = answer(*parse_system(system), kClosed, question);
    ASSERT_TRUE(bought) << bought.error().message;
    EXPECT_TRUE(bought->cost.usd_per_hour);
  }
  EXPECT_FALSE(answer(*parse_system("a,accelerator=h100"), kClosed, question)->cost.usd_per_hour)
      << "of how many?";
  EXPECT_FALSE(answer(*parse_system("a,accelerators=8,accelerator=b200"), kClosed, question)
                   ->cost.usd_per_hour);
}

TEST(System, one_system_alone_is_not_ranked) {
  std::vector<SystemAnswer> one;
  one.push_back(*answer(*parse_system("a"), kClosed, within_a_second()));
  EXPECT_TRUE(rank_all(std::move(one)).rankings.empty());
}

// A hundred users on systems of 64 that cost $2 an hour each.
TEST(System, the_cost_names_each_figure_and_a_lower_bound_of_users_is_an_upper_one_of_it) {
  Question question = within_a_second();
  question.inputs.users = 100;
  EXPECT_THAT(told({{"a,price=2", kClosed}}, question),
              HasSubstr("cost: 2 systems; $4.00 an hour; $0.0400 a user-hour; $"));
  question.inputs.users = 512;
  EXPECT_THAT(told({{"a,price=2", kOpen}}, question),
              HasSubstr("cost: at most 1 system; $2.00 an hour; $0.00391 a user-hour; $"));
}

std::string rank_of(std::vector<SystemAnswer> systems, std::string_view by) {
  for (const auto& [ranking, words] : rank_all(std::move(systems)).rankings) {
    if (words.most == by) return rank_text(ranking, words);
  }
  return {};
}

TEST(System, a_level_whose_figure_is_unknown_above_the_answer_leaves_the_answer) {
  EXPECT_EQ(rank_of(answers_of({{"a", sweep_of({{8, 100}, {9, 0}})}, {"b", kSmall}}),
                    "serves the most users"),
            "a tie for which serves the most users: a, b, 8 users");
}

TEST(System, one_of_which_nothing_can_be_divided_is_unknown) {
  std::vector<SystemAnswer> two =
      answers_of({{"a,accelerators=1", kClosed}, {"b,accelerators=1", kSmall}});
  two[0].system.accelerators = 0;
  EXPECT_EQ(rank_of(two, "serves the most users per accelerator"),
            "b serves the most users per accelerator, 8.00 users; nothing is known of a");
}

// 64 users of a system of $2 an hour, and 8 of one of $1, of a fleet of two and of thirteen.
TEST(System, users_for_each_dollar_are_those_of_one_system) {
  Question question = within_a_second();
  const std::vector<std::pair<std::string, metrics::Curve>> two = {{"a,price=2", kClosed},
                                                                   {"b,price=1", kSmall}};
  const std::string by = "serves the most users per dollar an hour";
  const std::string most = "a " + by + ", 32.0 users";
  EXPECT_EQ(rank_of(answers_of(two, question), by), most);
  question.inputs.users = 100;
  EXPECT_EQ(rank_of(answers_of(two, question), by), most);
}

TEST(System, power_is_a_divisor_and_part_of_the_bill) {
  Question question = within_a_second();
  question.inputs.usd_per_kwh = 0.5;
  const auto found = answers_of({{"a,price=2,kw=4", kClosed}, {"b,price=1", kSmall}}, question);
  EXPECT_EQ(*found[0].cost.usd_per_hour, 4);
  EXPECT_EQ(rank_of(found, "serves the most users per kW"),
            "a serves the most users per kW, 16.0 users; nothing is known of b");
}

TEST(System, a_promised_speed_is_what_its_users_pay_for) {
  Question question{.limits = *parse_limits("ttft_p90<=1s,tps_per_user>=5")};
  metrics::Curve curve = kClosed;
  for (metrics::CurvePoint& point : curve.points) point.run.tps_per_user = 10;
  question.inputs.users = 64;
  const auto one = answers_of({{"a,price=3.6", curve}}, question);
  EXPECT_NEAR(*one[0].cost.usd_per_mtok, 1e6 * 3.6 / 3600 / (64 * 5), 1e-9);
}

TEST(System, of_pictures_beside_tokens_no_price_is_compared) {
  metrics::Curve pictures = sweep_of({{1, 100}});
  pictures.points[0].unit = "image";
  pictures.points[0].run.units_per_s = 2;
  const std::string by = "costs the least per image";
  EXPECT_EQ(rank_of(answers_of({{"a,price=3.6", pictures}, {"b,price=7.2", pictures}}), by),
            "which costs the least per image is not known: a at most $0.500 a thousand images, b "
            "at most $1.00 a thousand images, not measured further");
  EXPECT_EQ(rank_of(answers_of({{"a,price=3.6", pictures}, {"b,price=7.2", kSmall}}), by), "");
  EXPECT_EQ(
      rank_of(answers_of({{"a,price=3.6", pictures}, {"b,price=7.2", sweep_of({{8, 5000}})}}), by),
      "")
      << "nor where the other serves nobody";
}

TEST(System, what_a_fleet_is_priced_with_stands_below_it) {
  Question question = within_a_second();
  EXPECT_THAT(told({{"a", kClosed}}, question), Not(HasSubstr("inputs:")));
  question.inputs.users = 100;
  EXPECT_THAT(told({{"a", kClosed}}, question), HasSubstr("inputs: users per system 64;"));
  question.inputs.users.reset();
  const std::string priced = told({{"a,price=2", kClosed}}, question);
  EXPECT_EQ(priced.find("a\n"), 0U) << "one alone has no ranking above it";
  EXPECT_THAT(priced, AllOf(HasSubstr("inputs: users per system 64;"),
                            HasSubstr(". Not given, so without effect: derate 1.00; ")));
}

TEST(System, an_input_that_is_refused_is_of_the_system_that_gave_it) {
  const auto both = answer(*parse_system("a,price=1,capex=5"), kClosed, within_a_second());
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().message, "a: a system is rented (price) or bought (capex), not both");
}

TEST(System, a_curve_may_say_itself_that_it_is_simulated) {
  metrics::Curve curve = kClosed;
  curve.simulated = true;
  const auto found = answers_of({{"a", curve}, {"b", kClosed}, {"c,simulated=yes", kClosed}});
  EXPECT_TRUE(found[0].simulated);
  EXPECT_FALSE(found[1].simulated);
  EXPECT_TRUE(found[2].simulated);
}

}  // namespace
}  // namespace assay::decide
