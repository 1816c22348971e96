#include "sim/fixed_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace assay::sim {
namespace {

std::vector<Emission> run_out(Engine& engine) {
  std::vector<Emission> out;
  while (engine.next() != Instant::max()) engine.advance(engine.next(), out);
  return out;
}

TEST(Delay, reads_and_writes_what_users_write) {
  for (const std::string_view text :
       {"0", "50ms", "250us", "normal:50ms,5ms", "lognormal:50ms,0.5", "exponential:2ms"}) {
    const auto delay = parse_delay(text);
    ASSERT_TRUE(delay) << delay.error().message;
    EXPECT_EQ(to_string(*delay), text);
  }
  EXPECT_EQ(*parse_delay("50"), Delay::fixed(50_ms));
  EXPECT_EQ(*parse_delay("1.5s"), Delay::fixed(1500_ms));
  for (const std::string_view text :
       {"", "fast", "-5ms", "normal:50ms", "normal:50ms,x", "50ms,5ms", "lognormal:50ms,-1",
        "lognormal:50ms,5ms", "gamma:1ms,2ms"}) {
    EXPECT_FALSE(parse_delay(text)) << text;
  }
}

TEST(Delay, draws_have_the_moments_that_were_asked_for) {
  constexpr int kDraws = 100'000;
  const auto mean_and_deviation = [](const Delay& delay) {
    Rng rng(1);
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double ms = draw_delay(delay, rng).ms();
      sum += ms;
      squares += ms * ms;
    }
    const double mean = sum / kDraws;
    return std::pair(mean, std::sqrt(squares / kDraws - mean * mean));
  };
  const auto [normal_mean, normal_deviation] = mean_and_deviation(*parse_delay("normal:50ms,5ms"));
  EXPECT_NEAR(normal_mean, 50, 0.1);
  EXPECT_NEAR(normal_deviation, 5, 0.1);
  // Mean of a lognormal: median × exp(sigma² / 2).
  EXPECT_NEAR(mean_and_deviation(*parse_delay("lognormal:50ms,0.5")).first, 56.66, 0.6);
  const auto [mean, deviation] = mean_and_deviation(*parse_delay("exponential:10ms"));
  EXPECT_NEAR(mean, 10, 0.2);
  EXPECT_NEAR(deviation, 10, 0.2);
}

TEST(DueQueue, is_a_stable_sort) {
  Rng rng(3);
  DueQueue queue;
  std::multimap<std::int64_t, std::uint32_t> wanted;  // keeps the order of insertion among equals
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    // Mostly ascending, like delays; sometimes not. Now and then the earliest is removed.
    const auto at = static_cast<std::int64_t>(i / 4 + rng.below(rng.below(8) == 0 ? 1000 : 2));
    queue.push({at}, i, 0);
    wanted.emplace(at, i);
    if (rng.below(3) != 0) continue;
    ASSERT_EQ(queue.front().slot, wanted.begin()->second);
    queue.pop();
    wanted.erase(wanted.begin());
  }
  EXPECT_EQ(queue.size(), wanted.size());
  for (const auto& [at, slot] : wanted) {
    ASSERT_EQ(queue.front().at.ns, at);
    ASSERT_EQ(queue.front().slot, slot);
    queue.pop();
  }
  EXPECT_TRUE(queue.empty());
}

TEST(FixedEngine, keeps_its_times_to_the_nanosecond) {
  FixedEngine engine({.ttft = Delay::fixed(50_ms), .itl = Delay::fixed(10_ms)});
  engine.admit({.id = 7, .prompt_tokens = 5, .output_tokens = 4}, Instant{1000});
  const auto out = run_out(engine);
  ASSERT_EQ(out.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out[i].at, Instant{1000} + 50_ms + 10_ms * static_cast<std::int64_t>(i));
    EXPECT_EQ(out[i].request, 7u);
    EXPECT_EQ(out[i].last, i == 3);
  }
}

TEST(FixedEngine, several_tokens_an_event_and_a_remainder) {
  FixedEngine engine({.itl = Delay::fixed(1_ms), .tokens_per_event = 4});
  engine.admit({.id = 1, .output_tokens = 10}, Instant{});
  std::vector<std::uint32_t> tokens;
  for (const Emission& emission : run_out(engine)) tokens.push_back(emission.tokens);
  EXPECT_THAT(tokens, testing::ElementsAre(4, 4, 2));
}

TEST(FixedEngine, the_line_is_first_come_first_served) {
  FixedEngine engine({.ttft = Delay::fixed(10_ms), .running_max = 2});
  for (std::uint64_t id = 0; id < 6; ++id) engine.admit({.id = id, .output_tokens = 1}, Instant{});
  EXPECT_EQ(engine.stats().running, 2u);
  EXPECT_EQ(engine.stats().waiting, 4u);
  const auto out = run_out(engine);
  ASSERT_EQ(out.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(out[i].request, i);
    EXPECT_EQ(out[i].at, Instant{} + 10_ms * static_cast<std::int64_t>(i / 2 + 1));
  }
  EXPECT_EQ(engine.stats().running, 0u);
  EXPECT_EQ(engine.stats().waiting, 0u);
}

TEST(FixedEngine, without_delays_requests_take_turns) {
  FixedEngine engine({});
  for (std::uint64_t id = 0; id < 3; ++id) engine.admit({.id = id, .output_tokens = 2}, Instant{5});
  std::vector<Emission> out;
  engine.advance(Instant{5}, out);
  std::vector<std::uint64_t> order;
  for (const Emission& emission : out) order.push_back(emission.request);
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_EQ(engine.next(), Instant::max());
}

TEST(FixedEngine, cancelling_frees_a_place_whether_running_or_waiting) {
  FixedEngine engine({.ttft = Delay::fixed(10_ms), .running_max = 1});
  for (std::uint64_t id = 0; id < 4; ++id) engine.admit({.id = id, .output_tokens = 1}, Instant{});
  engine.cancel(2, Instant{});          // in the line
  engine.cancel(0, Instant{} + 5_ms);   // running: 1 starts now
  engine.cancel(99, Instant{} + 5_ms);  // unknown
  const auto out = run_out(engine);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].request, 1u);
  EXPECT_EQ(out[0].at, Instant{} + 15_ms);
  EXPECT_EQ(out[1].request, 3u);
  EXPECT_EQ(out[1].at, Instant{} + 25_ms);
  EXPECT_EQ(engine.stats().waiting, 0u);
}

TEST(FixedEngine, kv_usage_is_what_is_resident) {
  FixedEngine engine({.itl = Delay::fixed(1_ms), .kv_tokens = 100});
  engine.admit({.id = 1, .prompt_tokens = 20, .output_tokens = 10}, Instant{});
  std::vector<Emission> out;
  engine.advance(Instant{} + 4_ms, out);
  EXPECT_DOUBLE_EQ(engine.stats().kv_usage, 0.25);
  engine.advance(Instant{} + 20_ms, out);
  EXPECT_DOUBLE_EQ(engine.stats().kv_usage, 0);
  EXPECT_EQ(engine.stats().prefix_query_tokens, 20u);
}

// One random life of an engine, as emissions.
std::vector<Emission> random_life(std::uint64_t seed, std::set<std::uint64_t>& cancelled,
                                  std::map<std::uint64_t, std::uint32_t>& asked) {
  Rng rng(seed);
  FixedEngine engine({.ttft = *parse_delay("lognormal:20ms,0.5"),
                      .itl = *parse_delay("normal:2ms,1ms"),
                      .tokens_per_event = static_cast<std::uint32_t>(1 + rng.below(3)),
                      .running_max = static_cast<std::uint32_t>(1 + rng.below(20)),
                      .seed = seed});
  std::vector<Emission> out;
  Instant now{};
  for (std::uint64_t id = 0; id < 200; ++id) {
    now = now + Duration{static_cast<std::int64_t>(rng.below(3'000'000))};
    engine.advance(now, out);
    const auto tokens = static_cast<std::uint32_t>(1 + rng.below(30));
    engine.admit({.id = id, .prompt_tokens = 3, .output_tokens = tokens}, now);
    asked[id] = tokens;
    if (rng.below(10) != 0) continue;
    const std::uint64_t victim = rng.below(id + 1);
    engine.cancel(victim, now);
    cancelled.insert(victim);
  }
  while (engine.next() != Instant::max()) engine.advance(engine.next(), out);
  EXPECT_EQ(engine.stats().running, 0u);
  EXPECT_EQ(engine.stats().waiting, 0u);
  EXPECT_EQ(engine.stats().kv_usage, 0);
  return out;
}

TEST(FixedEngine, conserves_tokens_keeps_order_and_replays) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::set<std::uint64_t> cancelled;
    std::map<std::uint64_t, std::uint32_t> asked;
    const auto out = random_life(seed, cancelled, asked);
    std::map<std::uint64_t, std::uint32_t> made;
    std::set<std::uint64_t> ended;
    Instant before{};
    for (const Emission& emission : out) {
      ASSERT_LE(before, emission.at) << "seed " << seed;
      before = emission.at;
      ASSERT_FALSE(ended.contains(emission.request)) << "seed " << seed;
      made[emission.request] += emission.tokens;
      if (emission.last) ended.insert(emission.request);
    }
    for (const auto& [id, tokens] : asked) {
      if (ended.contains(id)) {
        ASSERT_EQ(made[id], tokens) << "seed " << seed << ", request " << id;
      } else {
        ASSERT_TRUE(cancelled.contains(id)) << "seed " << seed << ", request " << id;
      }
    }
    std::set<std::uint64_t> cancelled_again;
    std::map<std::uint64_t, std::uint32_t> asked_again;
    const auto again = random_life(seed, cancelled_again, asked_again);
    ASSERT_EQ(again.size(), out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(again[i].at, out[i].at);
      ASSERT_EQ(again[i].request, out[i].request);
    }
  }
}

// M/M/1: exponential service of mean 1 ms at load 0.5 → a mean time in the system of 2 ms.
TEST(FixedEngine, waits_as_queueing_theory_says) {
  FixedEngine engine({.ttft = *parse_delay("exponential:1ms"), .running_max = 1, .seed = 11});
  Rng rng(12);
  std::vector<Emission> out;
  std::vector<Instant> arrived;
  Instant now{};
  constexpr int kRequests = 200'000;
  for (std::uint64_t id = 0; id < kRequests; ++id) {
    now = now + Duration{static_cast<std::int64_t>(rng.exponential(2e6))};
    engine.advance(now, out);
    engine.admit({.id = id, .output_tokens = 1}, now);
    arrived.push_back(now);
  }
  while (engine.next() != Instant::max()) engine.advance(engine.next(), out);
  double total_ms = 0;
  for (const Emission& emission : out) total_ms += (emission.at - arrived[emission.request]).ms();
  EXPECT_NEAR(total_ms / kRequests, 2.0, 0.05);
}

}  // namespace
}  // namespace assay::sim
