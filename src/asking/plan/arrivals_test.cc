#include "plan/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <vector>

namespace assay::plan {
namespace {

std::vector<std::int64_t> instants(Arrivals arrivals, int count) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < count; ++i) out.push_back(arrivals.next().ns);
  return out;
}

std::vector<std::int64_t> gaps(Arrivals arrivals, int count) {
  std::vector<std::int64_t> out = instants(std::move(arrivals), count);
  for (std::size_t i = out.size(); i-- > 1;) out[i] -= out[i - 1];
  return out;
}

using Ns = std::vector<std::int64_t>;

// Golden vectors: CPython 3.12 (spec/endpoints_client.md, appendix A).
TEST(Arrivals, poisson_equals_the_reference_clients_gaps) {
  EXPECT_EQ(gaps(Arrivals::poisson(100, 42), 8),
            (Ns{10200602, 253288, 3216240, 2525861, 13335926, 11291730, 22272880, 909524}));
  EXPECT_EQ(instants(Arrivals::poisson(100, 42), 5),
            (Ns{10200602, 10453890, 13670130, 16195991, 29531917}));
  EXPECT_EQ(gaps(Arrivals::poisson(100, 18209322760996052031U), 3),
            (Ns{18192404, 2153835, 8877952}));
  EXPECT_EQ(gaps(Arrivals::poisson(100, 14771362308971278857U), 3),
            (Ns{17863404, 789362, 1659364}));
  EXPECT_EQ(gaps(Arrivals::poisson(100, 16159082839903944936U), 3),
            (Ns{10104830, 24329931, 24295}));
  EXPECT_EQ(gaps(Arrivals::poisson(100, 2747215439041700203U), 3),
            (Ns{5564170, 16903791, 10270411}));
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments(const std::vector<std::int64_t>& values) {
  Moments out;
  for (const std::int64_t v : values) out.mean += static_cast<double>(v);
  out.mean /= static_cast<double>(values.size());
  for (const std::int64_t v : values) {
    out.variance += std::pow(static_cast<double>(v) - out.mean, 2);
  }
  out.variance /= static_cast<double>(values.size() - 1);
  return out;
}

TEST(Arrivals, gaps_have_the_mean_and_the_variance_asked_for) {
  constexpr int kGaps = 200'000;
  for (const double rate : {5.0, 1000.0}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      const Moments poisson = moments(gaps(Arrivals::poisson(rate, seed), kGaps));
      EXPECT_NEAR(poisson.mean * rate, 1e9, 1e7);
      EXPECT_NEAR(poisson.variance * rate * rate, 1e18, 3e16);
      for (const double k : {0.25, 1.0, 4.0, 100.0}) {
        const Moments gamma = moments(gaps(Arrivals::gamma(rate, k, seed), kGaps));
        EXPECT_NEAR(gamma.mean * rate, 1e9, 2e7) << k;
        EXPECT_NEAR(gamma.variance * rate * rate * k, 1e18, 5e16) << k;
      }
    }
  }
}

TEST(Arrivals, constant_gaps_add_up_without_error) {
  Arrivals thirds = Arrivals::constant(3);
  std::int64_t last = 0;
  for (int i = 1; i <= 3'000'000; ++i) last = thirds.next().ns;
  EXPECT_EQ(last, 1'000'000'000'000'000);
  EXPECT_EQ(instants(Arrivals::constant(4), 4), (Ns{250000000, 500000000, 750000000, 1000000000}));
}

TEST(Arrivals, ascend_and_stay_in_range_whatever_the_rate) {
  for (const double rate : {1e-9, 1e-3, 1.0, 1e6, 1e9, 1e12}) {
    for (Arrivals arrivals : {Arrivals::poisson(rate, 7), Arrivals::gamma(rate, 0.01, 7),
                              Arrivals::constant(rate), Arrivals::ramp({{{}, rate}}, 7)}) {
      Duration last{};
      for (int i = 0; i < 1000; ++i) {
        const Duration at = arrivals.next();
        ASSERT_GE(at, last);
        ASSERT_GT(at, Duration{});
        last = at;
      }
    }
  }
}

TEST(Arrivals, a_ramp_offers_each_levels_rate_in_its_own_time) {
  // 0, 100, 400 and 200 queries a second for 50 s each; the last level has no end.
  const std::vector<RateLevel> levels{{{}, 0}, {50_s, 100}, {100_s, 400}, {150_s, 200}};
  Arrivals arrivals = Arrivals::ramp(levels, 3);
  std::vector<double> counts(6);
  for (Duration at = arrivals.next(); at < 300_s; at = arrivals.next()) {
    counts[static_cast<std::size_t>(at.ns / Duration{50_s}.ns)] += 1;
  }
  EXPECT_EQ(counts[0], 0);
  // Four standard deviations of a Poisson count.
  const std::vector<double> expected{0, 5000, 20000, 10000, 10000, 10000};
  for (std::size_t i = 1; i < counts.size(); ++i) {
    EXPECT_NEAR(counts[i], expected[i], 4 * std::sqrt(expected[i])) << i;
  }
}

TEST(Arrivals, a_ramp_of_one_level_is_poisson) {
  // The same draws as areas under the rate: equal except for rounding.
  const Ns ramp = gaps(Arrivals::ramp({{{}, 100}}, 42), 8);
  const Ns poisson = gaps(Arrivals::poisson(100, 42), 8);
  for (std::size_t i = 0; i < ramp.size(); ++i) EXPECT_LE(std::abs(ramp[i] - poisson[i]), 1);
}

TEST(Arrivals, the_next_phase_goes_on_with_the_same_generator) {
  Arrivals arrivals = Arrivals::poisson(100, 42);
  for (int i = 0; i < 3; ++i) arrivals.next();
  arrivals.restart();
  EXPECT_EQ(arrivals.next().ns, 2525861);
  EXPECT_EQ(arrivals.next().ns, 2525861 + 13335926);
}

}  // namespace
}  // namespace assay::plan
