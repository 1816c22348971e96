// Who leads, and whether it is known: by hand, and against a slow twin.
#include "decide/rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/rng.h"

namespace assay::decide {
namespace {

using testing::HasSubstr;
using testing::Not;

const RankWords kUsers{.most = "serves the most users", .after = " users", .whole = true};
const RankWords kDollars{
    .most = "costs the least per token", .before = "$", .after = " a million tokens"};

Contender contender(const std::string& name, std::optional<double> value, bool open = false) {
  return {.name = name, .value = value, .open = open, .accuracy = "scored"};
}

std::string text_of(const std::vector<Contender>& contenders, Better better = Better::higher,
                    const RankWords& words = kUsers) {
  return rank_text(rank(contenders, better), words);
}

TEST(Rank, a_sole_leader_is_named_with_its_figure) {
  EXPECT_EQ(text_of({contender("A", 64), contender("B", 48)}), "A serves the most users, 64 users");
  EXPECT_EQ(text_of({contender("A", 2), contender("B", 1.5)}, Better::lower, kDollars),
            "B costs the least per token, $1.50 a million tokens");
  EXPECT_EQ(text_of({contender("A", 512, true), contender("B", 64)}),
            "A serves the most users, at least 512 users")
      << "whatever its end is, it is above the other's";
}

TEST(Rank, equals_are_a_tie) {
  EXPECT_EQ(text_of({contender("A", 64), contender("B", 64), contender("C", 8)}),
            "a tie for which serves the most users: A, B, 64 users");
  EXPECT_EQ(text_of({contender("A", 1e9), contender("B", 999'999'999)}),
            "a tie for which serves the most users: A, B, 1,000,000,000 users")
      << "a part in 10^9 is not a lead";
  EXPECT_EQ(text_of({contender("A", 1e9), contender("B", 999'999'998)}),
            "A serves the most users, 1,000,000,000 users");
  for (const double sign : {1, -1}) {
    for (const Better better : {Better::higher, Better::lower}) {
      const auto lead = [&](double a, double b) {
        return rank(std::vector{contender("A", sign * a), contender("B", sign * b)}, better).lead;
      };
      EXPECT_EQ(lead(1e9, 999'999'999), Lead::tie) << "a part of the larger one";
      EXPECT_EQ(lead(1e9, 999'999'998), Lead::sole);
    }
  }
  EXPECT_EQ(rank(std::vector{contender("A", 0.1 + 0.2), contender("B", 0.3)}, Better::lower).lead,
            Lead::tie)
      << "however the sum rounds";
}

TEST(Rank, where_a_sweep_ended_nobody_leads) {
  EXPECT_EQ(text_of({contender("A", 512, true), contender("B", 512, true)}),
            "which serves the most users is not known: A at least 512 users, B at least 512 users, "
            "not measured further");
  EXPECT_EQ(text_of({contender("A", 600), contender("B", 512, true)}),
            "which serves the most users is not known: B at least 512 users, not measured further; "
            "A 600 users");
  EXPECT_EQ(text_of({contender("A", 512, true), contender("B", 512), contender("C", 300, true)}),
            "which serves the most users is not known: A at least 512 users, C at least 300 users, "
            "not measured further; B 512 users");
  EXPECT_THAT(text_of({contender("A", 2, true), contender("B", 1)}, Better::lower, kDollars),
              HasSubstr("A at most $2.00"));
}

TEST(Rank, an_interval_that_reaches_above_the_leader_is_named) {
  std::vector<Contender> two{contender("A", 64), contender("B", 48)};
  two[1].beyond = 96;
  EXPECT_EQ(text_of(two),
            "A serves the most users, 64 users; B was not measured between 48 users and 96 users");
  two[1].beyond = 64;
  EXPECT_THAT(text_of(two), Not(HasSubstr("not measured")));
}

TEST(Rank, one_user_is_not_in_the_plural) {
  EXPECT_EQ(text_of({contender("A", 1)}), "A serves the most users, 1 user");
  EXPECT_EQ(text_of({contender("A", 1)}, Better::higher,
                    {.most = "leads", .after = " at once", .whole = true}),
            "A leads, 1 at once");
}

TEST(Rank, who_has_no_figure_is_named_and_neither_wins_nor_loses) {
  EXPECT_EQ(text_of({contender("A", 64), contender("B", std::nullopt)}),
            "A serves the most users, 64 users; nothing is known of B");
  EXPECT_EQ(text_of({contender("B", std::nullopt)}),
            "which serves the most users is not known: no system has the figure");
  EXPECT_EQ(rank({}, Better::higher).lead, Lead::none);
  const Ranking unknown = rank(std::vector{contender("B", std::nullopt)}, Better::lower);
  ASSERT_EQ(unknown.unknown.size(), 1U);
  EXPECT_EQ(unknown.unknown[0].name, "B");
  EXPECT_EQ(unknown.better, Better::lower);
}

TEST(Rank, measured_beside_simulated_and_unlike_accuracy_are_in_the_same_sentence) {
  std::vector<Contender> two{contender("A", 64), contender("B", 48)};
  two[0].simulated = true;
  EXPECT_EQ(text_of(two),
            "A (simulated) serves the most users, 64 users; measured systems stand beside "
            "simulated ones");
  two[1].simulated = true;
  EXPECT_EQ(text_of(two), "A (simulated) serves the most users, 64 users");
  two[0].simulated = two[1].simulated = false;
  two[0].accuracy = "not scored";
  EXPECT_EQ(text_of(two),
            "A serves the most users, 64 users; their accuracy is not alike: A not scored");
}

// The slow twin: asks of each contender whether every other is known to be worse.
Lead slow_lead(const std::vector<Contender>& all, Better better) {
  const auto beats = [better](double a, double b) {
    return better == Better::higher ? a > b : a < b;
  };
  bool any = false;
  std::size_t unbeaten = 0;
  bool rival_open = false;
  for (const Contender& one : all) {
    if (!one.value) continue;
    any = true;
    bool beaten = false;
    for (const Contender& other : all) {
      if (other.value && beats(*other.value, *one.value)) beaten = true;
    }
    unbeaten += beaten ? 0U : 1U;
  }
  if (!any) return Lead::none;
  for (const Contender& one : all) {
    if (!one.value || !one.open) continue;
    bool beaten = false;
    for (const Contender& other : all) {
      if (other.value && beats(*other.value, *one.value)) beaten = true;
    }
    if (beaten || unbeaten > 1) rival_open = true;
  }
  if (rival_open) return Lead::open;
  return unbeaten > 1 ? Lead::tie : Lead::sole;
}

TEST(Rank, agrees_with_the_slow_twin_in_whatever_order) {
  const std::uint64_t seed = 87;
  SCOPED_TRACE(format("seed {}", seed));
  Rng chance(seed);
  for (int round = 0; round < 5000; ++round) {
    std::vector<Contender> all;
    for (std::uint64_t i = chance.below(6); i > 0; --i) {
      std::optional<double> value;
      if (chance.below(6) != 0) value = static_cast<double>(chance.below(4));
      all.push_back(contender(format("S{}", i), value, chance.below(4) == 0));
    }
    for (const Better better : {Better::higher, Better::lower}) {
      const Ranking ranking = rank(all, better);
      ASSERT_EQ(ranking.lead, slow_lead(all, better)) << round;
      ASSERT_FALSE(rank_text(ranking, kUsers).empty());
      std::vector<Contender> turned = all;
      std::ranges::reverse(turned);
      ASSERT_EQ(rank(turned, better).lead, ranking.lead) << round;
    }
  }
}

TEST(Rank, each_whose_accuracy_is_not_alike_is_named_once) {
  std::vector<Contender> three{contender("A", 64, true), contender("B", 48), contender("C", 48)};
  three[1].beyond = three[2].beyond = 96;
  three[2].accuracy = "not scored";
  EXPECT_THAT(text_of(three), HasSubstr("; their accuracy is not alike: A scored, B scored, C not "
                                        "scored"));
  std::vector<Contender> open{contender("A", 64), contender("B", 48, true)};
  open[1].accuracy = "not scored";
  EXPECT_EQ(
      text_of(open),
      "which serves the most users is not known: B at least 48 users, not measured further; A "
      "64 users; their accuracy is not alike: A scored, B not scored");
}

TEST(Rank, where_less_is_better_no_interval_reaches_beyond) {
  std::vector<Contender> two{contender("A", 1), contender("B", 2)};
  two[1].beyond = 96;
  EXPECT_TRUE(rank(two, Better::lower).near.empty());
  two[1].open = true;
  two[1].value = 0.5;
  EXPECT_TRUE(rank(two, Better::higher).near.empty()) << "an open one is named as such";
}

TEST(Rank, the_document_has_the_groups_and_the_sentence) {
  std::vector<Contender> all{contender("A", 64), contender("B", 48, true), contender("C", {})};
  const auto lead = [&] {
    return std::string(rank_json(rank(all, Better::higher), kUsers)["lead"].as_string());
  };
  const Json json = rank_json(rank(all, Better::higher), kUsers);
  EXPECT_EQ(json["leaders"].dump(), R"(["A"])");
  EXPECT_EQ(json["open"].dump(), R"(["B"])");
  EXPECT_EQ(json["unknown"].dump(), R"(["C"])");
  EXPECT_EQ(json["answer"].as_string(), text_of(all));
  EXPECT_EQ(lead(), "open");
  all[1].open = false;
  EXPECT_EQ(lead(), "sole");
  all[1].value = 64;
  EXPECT_EQ(lead(), "tie");
  all.erase(all.begin(), all.begin() + 2);
  EXPECT_EQ(lead(), "none");
}

// No figure of today is below zero; a caller's own may be.
TEST(Rank, figures_below_zero_are_compared_as_those_above) {
  const std::vector<Contender> two{contender("A", -48), contender("B", -48)};
  EXPECT_EQ(rank(two, Better::higher).lead, Lead::tie);
  const std::vector<Contender> apart{contender("A", -48), contender("B", -96)};
  EXPECT_EQ(rank(apart, Better::higher).leaders[0].name, "A");
  EXPECT_EQ(rank(apart, Better::lower).leaders[0].name, "B");
}

}  // namespace
}  // namespace assay::decide
