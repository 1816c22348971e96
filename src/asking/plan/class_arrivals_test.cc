#include "plan/class_arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/hash.h"
#include "dataset/mix.h"
#include "plan/arrivals.h"

namespace assay::plan {
namespace {

std::vector<dataset::SyntheticClass> classes_of(const std::vector<std::string>& texts) {
  std::vector<dataset::SyntheticClass> out;
  for (const std::string& text : texts) out.push_back(dataset::parse_class(text).value());
  return out;
}

ClassSchedule schedule(const std::vector<std::string>& texts, Duration time,
                       std::uint64_t queries = 0) {
  return class_schedule(classes_of(texts), 1000, 7, queries, time, 1'000'000).value();
}

// The instants and rows of one class.
std::vector<std::pair<std::int64_t, std::uint32_t>> of_class(const ClassSchedule& from,
                                                             const TrafficMix& mix,
                                                             std::size_t wanted) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> out;
  for (std::size_t i = 0; i < from.at.size(); ++i) {
    if (class_of(mix, from.rows[i]) == wanted) out.emplace_back(from.at[i].ns, from.rows[i]);
  }
  return out;
}

struct Gaps {
  double mean = 0;
  double variation = 0;  // standard deviation ÷ mean
};

Gaps gaps_of(const std::vector<std::pair<std::int64_t, std::uint32_t>>& queries) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 1; i < queries.size(); ++i) {
    const double gap = static_cast<double>(queries[i].first - queries[i - 1].first) * 1e-9;
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(queries.size() - 1);
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(squares / n - mean * mean, 0.0)) / mean};
}

TEST(ClassArrivals, each_class_has_its_own_rate_and_law) {
  const std::vector<std::string> texts = {"even,rate=20,law=constant", "chat,rate=30",
                                          "spiky,rate=10,law=gamma/0.25",
                                          "batch,rate=40,law=burst/8"};
  const TrafficMix mix = dataset::mix_of(classes_of(texts));
  const ClassSchedule all = schedule(texts, Duration::from_seconds(1000));
  EXPECT_TRUE(std::ranges::is_sorted(all.at));
  const double rates[] = {20, 30, 10, 40};
  const double variations[] = {0, 1, 2, std::sqrt(2 * 8 - 1)};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Gaps gaps = gaps_of(of_class(all, mix, i));
    EXPECT_NEAR(gaps.mean * rates[i], 1, 0.06) << texts[i];
    EXPECT_NEAR(gaps.variation, variations[i], 0.08 * variations[i] + 1e-6) << texts[i];
  }
}

TEST(ClassArrivals, a_class_comes_the_same_whatever_stands_beside_it) {
  const std::vector<std::string> both = {"chat,rate=30,share=3", "batch,rate=10,share=1"};
  const TrafficMix mix = dataset::mix_of(classes_of(both));
  const auto together = of_class(schedule(both, 100_s), mix, 0);
  const auto alone = schedule({"chat,rate=30,share=3", "batch,rate=0,share=1"}, 100_s);
  EXPECT_EQ(of_class(alone, mix, 0), together);
  EXPECT_EQ(alone.at.size(), together.size());
}

TEST(ClassArrivals, a_class_with_a_concurrency_is_a_loop_of_its_rows) {
  const std::vector<std::string> texts = {"chat,rate=30", "users,concurrency=10,think=2s",
                                          "gone,share=5,concurrency=0"};
  const TrafficMix mix = dataset::mix_of(classes_of(texts));
  const ClassSchedule made = schedule(texts, 10_s);
  EXPECT_EQ(of_class(made, mix, 0).size(), made.at.size());
  ASSERT_EQ(made.loops.size(), 1U);
  EXPECT_EQ(made.loops[0].users, 10U);
  EXPECT_EQ(made.loops[0].think, 2_s);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < 1000; ++row) {
    if (class_of(mix, row) == 1) rows.push_back(row);
  }
  EXPECT_EQ(made.loops[0].rows, rows);
  // Users alone need no arrival.
  const ClassSchedule alone = schedule({"users,concurrency=1"}, 1_ms);
  EXPECT_TRUE(alone.at.empty());
  EXPECT_EQ(alone.loops.size(), 1U);
}

TEST(ClassArrivals, a_poisson_class_is_the_runs_own_poisson_with_a_seed_of_its_own) {
  const ClassSchedule one = schedule({"chat,rate=30"}, {}, 50);
  ASSERT_EQ(one.at.size(), 50U);
  Arrivals twin = Arrivals::poisson(30, 7 ^ xxh3("chat"));
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(one.at[i], twin.next());
    EXPECT_EQ(one.rows[i], i);
  }
}

TEST(ClassArrivals, what_cannot_be_scheduled_is_an_error) {
  const auto wrong = [](const std::vector<std::string>& texts, std::uint32_t rows = 1000) {
    return class_schedule(classes_of(texts), rows, 1, 0, 10_s, 1000).error().message;
  };
  EXPECT_NE(wrong({"a,rate=0,share=1"}).find("all 0"), std::string::npos);
  EXPECT_NE(wrong({"a,rate=1,share=1", "b,rate=1,share=1e-6"}, 10).find("class b"),
            std::string::npos);
  EXPECT_NE(wrong({"a,rate=1e6"}).find("more than 1,000"), std::string::npos);
  EXPECT_NE(wrong({"a,rate=0.0001"}).find("due within"), std::string::npos);
  for (const std::string_view law : {"uniform", "gamma", "gamma/0", "burst/0", "constant/2"}) {
    EXPECT_FALSE(check_law(law)) << law;
  }
  for (const std::string_view law : {"", "poisson", "constant", "gamma/0.5", "burst/4"}) {
    EXPECT_TRUE(check_law(law)) << law;
  }
}

}  // namespace
}  // namespace assay::plan
