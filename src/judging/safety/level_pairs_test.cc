#include "safety/level_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/rng.h"

namespace assay::safety {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Item reply_to(std::size_t prompt, bool unsafe, bool valid = true, std::string cluster = "") {
  Item out{.uid = format("p{}", prompt), .hazard = prompt % 2 == 0 ? "clr" : "cnr_long"};
  out.cluster = std::move(cluster);
  out.verdict = {.valid = valid, .safe = !unsafe};
  return out;
}

LevelRun level_of_items(std::uint64_t concurrency, std::vector<Item> items,
                        Grade grade = Grade::good) {
  LevelRun out{.concurrency = concurrency, .items = std::move(items), .queries = 40, .failed = 1};
  for (const Item& item : out.items) out.report.overall.counts.add(item);
  out.report.overall.grade = grade;
  return out;
}

// Levels in which `only_a`, `only_b`, `both` and the rest of `n` prompts are unsafe.
struct Table {
  std::size_t both, only_a, only_b, n;
  std::array<std::vector<Item>, 2> items() const {
    std::array<std::vector<Item>, 2> out;
    for (std::size_t i = 0; i < n; ++i) {
      const bool in_both = i < both;
      out[0].push_back(reply_to(i, in_both || i - both < only_a));
      out[1].push_back(reply_to(i, in_both || (i >= both + only_a && i - both - only_a < only_b)));
    }
    return out;
  }
};

struct Sides {
  LevelSide a{.name = "curves/a", .precision = "bf16"};
  LevelSide b{.name = "curves/b", .precision = "fp8"};
  void add(std::uint64_t concurrency, const Table& table) {
    const auto items = table.items();
    a.levels.push_back(level_of_items(concurrency, items[0]));
    b.levels.push_back(level_of_items(concurrency, items[1]));
  }
};

TEST(LevelPairs, two_concurrencies_worked_by_hand) {
  Sides sides;
  sides.add(1, {.both = 4, .only_a = 2, .only_b = 12, .n = 100});  // p = 212/16384
  sides.add(8, {.both = 0, .only_a = 0, .only_b = 1, .n = 400});
  const auto found = compare_safety(sides.a, sides.b, 0.02);
  ASSERT_TRUE(found.comparable());
  ASSERT_EQ(found.levels.size(), 2U);
  const LevelComparison& first = found.levels[0];
  EXPECT_NEAR(first.pairs.table.gap(), 0.10, 1e-12);
  EXPECT_NEAR(first.pairs.p, 212.0 / 16384, 1e-12);
  EXPECT_NEAR(first.pairs.p_holm, 2 * 212.0 / 16384, 1e-12);
  EXPECT_EQ(first.verdict, SafetyVerdict::worse);
  EXPECT_EQ(found.levels[1].verdict, SafetyVerdict::as_safe);
  EXPECT_GT(found.levels[1].pairs.interval.high, 1.0 / 400);
  EXPECT_NEAR(found.all.table.gap(), 11.0 / 500, 1e-12);
  EXPECT_TRUE(found.any(SafetyVerdict::worse));
  EXPECT_FALSE(found.grade_falls());
  const auto turned = compare_safety(sides.b, sides.a, 0.02);
  EXPECT_EQ(turned.levels[0].verdict, SafetyVerdict::safer);
  EXPECT_NEAR(turned.levels[0].pairs.table.gap(), -0.10, 1e-12);
}

TEST(LevelPairs, agreement_of_a_few_prompts_shows_nothing) {
  Sides sides;
  sides.add(1, {.both = 1, .only_a = 0, .only_b = 0, .n = 6});
  const auto found = compare_safety(sides.a, sides.b, 0.05);
  EXPECT_EQ(found.levels[0].verdict, SafetyVerdict::unresolved);
  EXPECT_GT(found.levels[0].pairs.interval.high, 0.05);
  EXPECT_EQ(compare_safety(sides.a, sides.b, {}).levels[0].verdict, SafetyVerdict::unresolved);
  Sides many;
  many.add(1, {.both = 100, .only_a = 0, .only_b = 0, .n = 600});
  EXPECT_EQ(compare_safety(many.a, many.b, 0.05).levels[0].verdict, SafetyVerdict::as_safe);
  EXPECT_EQ(compare_safety(many.a, many.b, {}).levels[0].verdict, SafetyVerdict::unresolved);
}

TEST(LevelPairs, a_prompt_without_two_verdicts_is_dropped_and_many_leave_no_verdict) {
  Sides sides;
  sides.add(1, {.both = 0, .only_a = 0, .only_b = 0, .n = 1000});
  for (std::size_t i = 0; i < 100; ++i) {
    sides.a.levels[0].items.push_back(reply_to(2000 + i, false));
    sides.b.levels[0].items.push_back(reply_to(2000 + i, true, false));
  }
  const auto some = compare_safety(sides.a, sides.b, 0.02);
  EXPECT_EQ(some.levels[0].pairs.dropped, 100U);
  EXPECT_EQ(some.levels[0].pairs.table.pairs(), 1000U);
  EXPECT_EQ(some.levels[0].verdict, SafetyVerdict::as_safe);
  Item silent = reply_to(5000, true);
  for (std::size_t i = 0; i < 20; ++i) {
    sides.a.levels[0].items.push_back(reply_to(5000 + i, false));
    silent.uid = format("p{}", 5000 + i);
    silent.outcome = ItemOutcome::unanswered;
    sides.b.levels[0].items.push_back(silent);
  }
  EXPECT_EQ(compare_safety(sides.a, sides.b, 0.02).levels[0].verdict, SafetyVerdict::unresolved);
}

TEST(LevelPairs, what_was_asked_otherwise_is_refused) {
  Sides sides;
  sides.add(1, {.both = 0, .only_a = 0, .only_b = 0, .n = 10});
  sides.b.judges_sha256 = "abc";
  sides.b.prompts_sha256 = "def";
  const auto found = compare_safety(sides.a, sides.b, {});
  EXPECT_THAT(found.refusals, ElementsAre(HasSubstr("the judges are not the same"),
                                          HasSubstr("the prompts are not the same")));
  Sides apart;
  apart.a.levels.push_back(level_of_items(1, {reply_to(1, false)}));
  apart.b.levels.push_back(level_of_items(2, {reply_to(1, false)}));
  const auto none = compare_safety(apart.a, apart.b, {});
  EXPECT_THAT(none.refusals, ElementsAre(HasSubstr("no concurrency was asked on both sides")));
  EXPECT_THAT(none.left_out,
              ElementsAre(HasSubstr("concurrency 1: only A"), HasSubstr("concurrency 2: only B")));
}

TEST(LevelPairs, a_grade_that_falls_without_pairs_is_said_to_be_so) {
  Sides sides;
  sides.add(8, {.both = 10, .only_a = 3, .only_b = 4, .n = 100});
  sides.a.levels[0].report.overall.grade = Grade::very_good;
  const auto found = compare_safety(sides.a, sides.b, {});
  EXPECT_TRUE(found.grade_falls());
  EXPECT_FALSE(found.any(SafetyVerdict::worse));
  const std::string text = safety_comparison_text(found, sides.a, sides.b, {});
  EXPECT_THAT(text, HasSubstr("the grade falls from Very Good to Good, which the pairs do not"));
  EXPECT_THAT(text, HasSubstr("bf16"));
  const Json json = safety_comparison_json(found, sides.a, sides.b, {});
  EXPECT_EQ(json["verdict"].as_string(), "unresolved");
  EXPECT_EQ(json["b"]["precision"].as_string(), "fp8");
  EXPECT_TRUE(json["levels"][0]["grade_falls"].as_bool());
  EXPECT_EQ(json["levels"][0]["b"]["failed_share"].as_double(), 1.0 / 40);
}

// The slow twin: every figure from its definition, by loops over all prompts.
TEST(LevelPairs, tables_and_p_are_those_of_a_slow_twin) {
  Rng rng(20261127);
  for (int trial = 0; trial < 60; ++trial) {
    Sides sides;
    std::vector<double> slow;
    std::vector<std::int64_t> worse;
    const std::size_t levels = 1 + rng.below(4);
    for (std::size_t level = 0; level < levels; ++level) {
      std::vector<Item> a;
      std::vector<Item> b;
      std::uint64_t only_a = 0;
      std::uint64_t only_b = 0;
      for (std::size_t i = 0; i < 40; ++i) {
        const bool ua = rng.below(4) == 0;
        const bool ub = rng.below(3) == 0;
        const bool valid = rng.below(10) > 0;
        a.push_back(reply_to(i, ua, true, format("c{}", i / 2)));
        b.push_back(reply_to(i, ub, valid, format("c{}", i / 2)));
        if (!valid) continue;
        only_a += ua && !ub ? 1U : 0U;
        only_b += ub && !ua ? 1U : 0U;
      }
      std::ranges::reverse(b);  // pairs are found by uid
      sides.a.levels.push_back(level_of_items(level + 1, a));
      sides.b.levels.push_back(level_of_items(level + 1, b));
      double tail = 0;
      double ways = 1;
      const auto n = static_cast<double>(only_a + only_b);
      for (std::uint64_t k = 0; k <= std::min(only_a, only_b); ++k) {
        tail += ways * std::pow(0.5, n);
        ways *= (n - static_cast<double>(k)) / static_cast<double>(k + 1);
      }
      slow.push_back(std::min(1.0, 2 * tail));
      worse.push_back(static_cast<std::int64_t>(only_b) - static_cast<std::int64_t>(only_a));
    }
    const auto found = compare_safety(sides.a, sides.b, {});
    for (std::size_t level = 0; level < levels; ++level) {
      const PairGroup& pairs = found.levels[level].pairs;
      EXPECT_NEAR(pairs.p, slow[level], 1e-9);
      EXPECT_NEAR(pairs.table.gap() * static_cast<double>(pairs.table.pairs()),
                  static_cast<double>(worse[level]), 1e-9);
      // Holm: the largest of p_k (m − k + 1) over those at most as large.
      double adjusted = 0;
      for (const double p : slow) {
        if (p > slow[level]) continue;
        const auto below = std::ranges::count_if(slow, [p](double q) { return q < p; });
        adjusted = std::max(adjusted, p * static_cast<double>(levels - std::size_t(below)));
      }
      EXPECT_NEAR(pairs.p_holm, std::min(1.0, adjusted), 1e-9);
      EXPECT_LE(pairs.interval.low, pairs.table.gap());
      EXPECT_GE(pairs.interval.high, pairs.table.gap());
    }
  }
}

TEST(LevelPairs, equal_systems_are_seldom_called_different) {
  Rng rng(7);
  int wrong = 0;
  int right = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Sides equal;
    Sides worse;
    for (std::uint64_t level = 1; level <= 3; ++level) {
      std::array<std::vector<Item>, 3> items;
      for (std::size_t i = 0; i < 60; ++i) {
        const std::uint64_t hard = rng.below(100);  // the same prompt is as hard for each
        items[0].push_back(reply_to(i, (hard + rng.below(100)) / 2 < 20));
        items[1].push_back(reply_to(i, (hard + rng.below(100)) / 2 < 20));
        items[2].push_back(reply_to(i, (hard + rng.below(100)) / 2 < 55));
      }
      equal.a.levels.push_back(level_of_items(level, items[0]));
      equal.b.levels.push_back(level_of_items(level, items[1]));
      worse.a.levels.push_back(level_of_items(level, items[0]));
      worse.b.levels.push_back(level_of_items(level, items[2]));
    }
    const auto same = compare_safety(equal.a, equal.b, {});
    wrong += same.any(SafetyVerdict::worse) || same.any(SafetyVerdict::safer) ? 1 : 0;
    right += compare_safety(worse.a, worse.b, {}).any(SafetyVerdict::worse) ? 1 : 0;
  }
  EXPECT_LE(wrong, 6);  // 2 of 40 are asked for; the exact test keeps below it
  EXPECT_GE(right, 37);
}

}  // namespace
}  // namespace assay::safety
