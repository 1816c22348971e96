// The search against queues whose edge is known from theory.
#include "loadgen/rate_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/format.h"
#include "base/rng.h"

namespace assay::loadgen {
namespace {

// Servers with a fixed service time and Poisson arrivals (M/D/c): a query takes the server of the
// query `servers` places before it.
struct Queue {
  double service = 0.005;  // seconds
  double limit = 0.050;    // of the whole latency
  std::size_t servers = 1;

  RateProbe probe(double rate, std::uint64_t queries, std::uint64_t seed) const {
    Rng rng(seed);
    RateProbe out{.rate = rate, .queries = queries};
    std::vector<double> free(servers, 0.0);
    double at = 0;
    double end = 0;
    for (std::uint64_t i = 0; i < queries; ++i) {
      if (i > 0) at += rng.exponential(1 / rate);
      end = free[i % servers] = std::max(at, free[i % servers]) + service;
      if (end - at > limit + 1e-9) ++out.over;
    }
    out.completed_rate = static_cast<double>(queries) / end;
    out.arrived_rate = static_cast<double>(queries - 1) / at;
    return out;
  }

  // P(latency > limit) of one server at this rate (Erlang, 1909).
  double share_over(double rate) const {
    const double rho = rate * service;
    const double t = limit - service;
    double sum = 0;
    for (int k = 0; k * service <= t + 1e-12; ++k) {
      const double x = rate * (k * service - t);
      double term = std::exp(-x);
      for (int i = 1; i <= k; ++i) term *= x / i;
      sum += term;
    }
    return 1 - (1 - rho) * sum;
  }
  double edge() const {
    double low = 1;
    double high = 1 / service;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (share_over(middle) > 0.01 ? high : low) = middle;
    }
    return low;
  }
};

using MeasureRate = std::function<RateProbe(const RateSearch::Next&, std::uint64_t index)>;

RateSearch searched(const RateWish& wish, const MeasureRate& measure) {
  RateSearch search(wish);
  for (std::uint64_t i = 0; const auto next = search.next(); ++i) {
    EXPECT_LT(i, wish.short_max + wish.long_max);
    RateProbe probe = measure(*next, i);
    probe.is_long = next->is_long;
    search.tell(probe);
    if (i > 100) break;
  }
  return search;
}

std::string probes_text(const RateSearch& search) {
  std::string out;
  for (const RateProbe& probe : search.probes()) {
    out += format("\n{:.2f}/s: {} of {} over{}", probe.rate, probe.over, probe.queries,
                  probe.is_long ? "" : " (short)");
  }
  return out;
}

TEST(RateSearch, twenty_of_twenty_searches_find_the_edge_of_a_queue_within_3_percent) {
  const Queue queue;
  const double edge = queue.edge();
  EXPECT_NEAR(edge, 155, 6);
  int inside = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const RateSearch search = searched({.first = 10}, [&](const auto& next, std::uint64_t i) {
      return queue.probe(next.rate, next.is_long ? 60'000 : 12'000, seed * 1000 + i);
    });
    const RateFound found = search.found();
    EXPECT_NEAR(found.edge, edge, 0.03 * edge) << probes_text(search);
    EXPECT_LT(found.good, found.bad * 1.05);
    EXPECT_GT(found.good, 0.8 * edge);
    EXPECT_LE(search.probes().size(), 17U);
    if (found.low <= edge && edge <= found.high) ++inside;
  }
  // 95 % of such intervals hold it; 15 of 20 or fewer would be one chance in 400.
  EXPECT_GT(inside, 15);
}

// The share over the limit grows 60 times as fast as the rate here, so that a probe 2 % off has
// none or is overloaded. The edge is that of bench/find_rate.py (Franx, 2001).
TEST(RateSearch, twenty_of_twenty_searches_find_a_steep_edge) {
  const Queue queue{.service = 0.008, .limit = 0.040, .servers = 8};
  constexpr double kEdge = 932.5;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const RateSearch search = searched({.first = 100}, [&](const auto& next, std::uint64_t i) {
      return queue.probe(next.rate, next.is_long ? 60'000 : 12'000, seed * 1000 + i);
    });
    EXPECT_NEAR(search.found().edge, kEdge, 0.03 * kEdge) << probes_text(search);
  }
}

// A machine that stood still for a moment made one probe fail at a fifth of the edge.
TEST(RateSearch, one_disturbed_probe_does_not_keep_the_search_below_the_edge) {
  const Queue queue;
  for (std::uint64_t disturbed = 0; disturbed < 6; ++disturbed) {
    SCOPED_TRACE(disturbed);
    std::uint64_t asked = 0;
    const RateSearch search = searched({.first = 8}, [&](const auto& next, std::uint64_t i) {
      RateProbe out = queue.probe(next.rate, next.is_long ? 60'000 : 12'000, 311 + i);
      if (asked++ == disturbed) out.over += out.queries / 20;
      return out;
    });
    EXPECT_NEAR(search.found().edge, queue.edge(), 0.03 * queue.edge()) << probes_text(search);
    EXPECT_LE(search.found().good, search.found().bad * 1.05);
  }
}

// Both short probes of a rate were disturbed: the long ones refute them, and the search goes on.
TEST(RateSearch, long_probes_without_a_late_query_refute_short_ones) {
  const Queue queue;
  const RateSearch search = searched({.first = 16}, [&](const auto& next, std::uint64_t i) {
    RateProbe out = queue.probe(next.rate, next.is_long ? 60'000 : 12'000, 77 + i);
    if (next.rate == 64 && !next.is_long) out.over += out.queries / 20;
    return out;
  });
  EXPECT_NEAR(search.found().edge, queue.edge(), 0.03 * queue.edge()) << probes_text(search);
}

TEST(RateSearch, it_makes_no_difference_where_it_begins) {
  const Queue queue;
  for (const double first : {0.5, 40.0, 150.0, 200.0, 5000.0}) {
    SCOPED_TRACE(first);
    const RateSearch search = searched({.first = first}, [&](const auto& next, std::uint64_t i) {
      return queue.probe(next.rate, next.is_long ? 60'000 : 12'000, 77 + i);
    });
    EXPECT_NEAR(search.found().edge, queue.edge(), 0.03 * queue.edge());
  }
}

// A system that is fast up to a rate and useless above it has no line to draw.
TEST(RateSearch, a_step_is_halved_until_it_is_narrow) {
  const RateSearch search = searched({.first = 1}, [](const auto& next, std::uint64_t) {
    return RateProbe{.rate = next.rate, .queries = 1000, .over = next.rate > 137 ? 1000U : 0U};
  });
  const RateFound found = search.found();
  EXPECT_NEAR(found.edge, 137, 1.37);
  EXPECT_LE(found.low, 137);
  EXPECT_GE(found.high, 137);
  EXPECT_LE(found.good, 137);
  EXPECT_GT(found.bad, 137);
}

TEST(RateSearch, an_overloaded_probe_shows_the_capacity_and_saves_probes) {
  const auto measure = [](bool known) {
    return [known](const auto& next, std::uint64_t) {
      return RateProbe{.rate = next.rate,
                       .queries = 1000,
                       .over = next.rate > 90 ? 900U : 0U,
                       .completed_rate = known ? std::min(next.rate, 100.0) : 0};
    };
  };
  const auto knowing = searched({.first = 100'000}, measure(true));
  const auto halving = searched({.first = 100'000}, measure(false));
  EXPECT_LT(knowing.probes().size() + 4, halving.probes().size());
  EXPECT_NEAR(knowing.found().edge, 90, 1);
}

TEST(RateSearch, a_system_that_never_holds_its_limits_has_no_edge) {
  const auto search = searched({.first = 8}, [](const auto& next, std::uint64_t) {
    return RateProbe{.rate = next.rate, .queries = 100, .over = 100};
  });
  EXPECT_EQ(search.found().edge, 0);
  EXPECT_EQ(search.found().good, 0);
  EXPECT_GT(search.found().bad, 0);
  EXPECT_EQ(search.probes().size(), 14U);
}

TEST(RateSearch, a_system_that_holds_every_rate_has_an_open_end) {
  const auto search = searched({.first = 8}, [](const auto& next, std::uint64_t) {
    return RateProbe{.rate = next.rate, .queries = 1000};
  });
  EXPECT_TRUE(search.found().open_end);
  EXPECT_EQ(search.found().good, 8 * std::pow(2, 13));
}

TEST(RateSearch, good_is_what_loadgens_rule_of_early_stopping_calls_good) {
  RateSearch search({.first = 1});
  search.tell({.rate = 10, .queries = 1000, .over = 2});
  search.tell({.rate = 20, .queries = 1000, .over = 3});  // 998 + 3 are needed
  search.tell({.rate = 30, .queries = 1000, .over = 11});
  EXPECT_EQ(search.found().good, 10);
  EXPECT_EQ(search.found().bad, 30);
}

TEST(RateSearch, a_probe_counts_the_worse_of_two_limits_and_each_failure) {
  loadgen::Test test{.name = "server", .edition = "none"};
  test.requested.scenario = Scenario::Server;
  test.requested.server_target_qps = 50;
  test.requested.use_token_latencies = true;
  test.requested.server_ttft_latency = 10'000'000;
  test.requested.server_tpot_latency = 1'000'000;
  test.library = {.total = 10, .performance = 10};
  std::vector<MeasuredSample> samples;
  for (std::uint32_t i = 0; i < 100; ++i) {
    MeasuredSample one{.index = i, .ok = true, .due = i * 20'000'000LL};
    one.first_token = one.due + (i < 5 ? 11'000'000 : 9'000'000);
    one.done = one.first_token + (i < 60 && i >= 52 ? 30'000'000 : 10'000'000);
    one.tokens = 21;
    samples.push_back(one);
  }
  samples[99].ok = false;
  const auto judged = judge(test, samples, {});
  ASSERT_TRUE(judged) << judged.error().message;
  const RateProbe probe = probe_of(*judged);
  EXPECT_EQ(probe.rate, 50);
  EXPECT_EQ(probe.queries, 100U);
  EXPECT_EQ(probe.over, 8U + 1U);
  EXPECT_NEAR(probe.completed_rate, 99 / 1.979, 1e-9);
}

}  // namespace
}  // namespace assay::loadgen
