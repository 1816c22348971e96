#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace assay {
namespace {

TEST(MemoryBudget, gives_no_more_than_it_has_and_remembers_the_most) {
  MemoryBudget budget(100);
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(41));
  EXPECT_TRUE(budget.take(40));
  EXPECT_FALSE(budget.take(~std::uint64_t{0}));
  EXPECT_EQ(budget.in_use(), 100U);
  budget.give_back(70);
  EXPECT_FALSE(budget.crowded());
  EXPECT_EQ(budget.in_use(), 30U);
  EXPECT_EQ(budget.peak(), 100U);
}

TEST(MemoryBudget, is_kept_though_many_threads_take_at_once) {
  static constexpr std::uint64_t kMax = 1000;
  MemoryBudget budget(kMax);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([&budget, t] {
      for (int i = 0; i < 20'000; ++i) {
        if (!budget.take(97 * t)) continue;
        EXPECT_LE(budget.in_use(), kMax);
        budget.give_back(97 * t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.in_use(), 0U);
  EXPECT_LE(budget.peak(), kMax);
  EXPECT_GE(budget.peak(), 4 * 97U);
}

TEST(BudgetedText, asks_before_it_grows_and_is_as_it_was_where_it_may_not) {
  MemoryBudget budget(500'000);
  BudgetedText text(&budget);
  std::string twin;
  while (text.append("0123456789")) {
    twin += "0123456789";
    ASSERT_GE(budget.in_use(), text.size() + BudgetedText::kPadding);
    ASSERT_LE(budget.peak(), budget.bytes_max());
  }
  EXPECT_EQ(text.view(), twin);
  // During the copy the old and the new text both exist.
  EXPECT_GT(text.size(), 150'000U);
  EXPECT_FALSE(text.append(std::string(450'000, 'x')));
  EXPECT_EQ(text.view(), twin);
  text.release();
  EXPECT_EQ(budget.in_use(), 0U);
  EXPECT_TRUE(text.append("again"));
  EXPECT_EQ(text.view(), "again");
}

TEST(BudgetedText, keeps_a_little_for_the_next_one_unless_others_need_it) {
  MemoryBudget budget(100'000);
  BudgetedText text(&budget);
  ASSERT_TRUE(text.append(std::string(5000, 'a')));
  const std::uint64_t held = budget.in_use();
  text.release();
  EXPECT_EQ(budget.in_use(), held);
  EXPECT_TRUE(text.empty());
  ASSERT_TRUE(text.append(std::string(5000, 'a')));
  EXPECT_EQ(budget.peak(), held);  // nothing was allocated for it
  ASSERT_TRUE(budget.take(60'000));
  text.release();
  EXPECT_EQ(budget.in_use(), 60'000U);
}

TEST(BudgetedText, gives_all_back_when_it_ends_and_needs_no_budget) {
  MemoryBudget budget(10'000);
  {
    BudgetedText text(&budget);
    ASSERT_TRUE(text.append(std::string(3000, 'a')));
    text.cut(7);
    EXPECT_EQ(text.view(), "aaaaaaa");
  }
  EXPECT_EQ(budget.in_use(), 0U);
  BudgetedText free;
  ASSERT_TRUE(free.append(std::string(1'000'000, 'a')));
  free.release();
  EXPECT_TRUE(free.empty());
}

}  // namespace
}  // namespace assay
