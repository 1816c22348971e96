#include "record/clock_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <utility>

#include "base/rng.h"

namespace assay::record {
namespace {

// Probes of a true offset, with ways there and back of random length up to `way`.
std::vector<ClockProbe> probes_of(const std::function<double(double)>& truth,
                                  const std::vector<std::int64_t>& at, std::int64_t way,
                                  std::uint64_t seed) {
  Rng rng(seed);
  std::vector<ClockProbe> out;
  for (const std::int64_t asked : at) {
    const auto there = static_cast<std::int64_t>(rng.uniform() * static_cast<double>(way));
    const auto back = static_cast<std::int64_t>(rng.uniform() * static_cast<double>(way));
    const auto in_reference = [&](std::int64_t own) {
      return Instant{own + std::llround(truth(static_cast<double>(own)))};
    };
    const std::int64_t heard_there = asked + there;
    const std::int64_t answered = heard_there + 1'000;
    out.push_back({Instant{asked}, in_reference(heard_there), in_reference(answered),
                   Instant{answered + back}});
  }
  return out;
}

TEST(ClockMap, of_the_reference_moves_nothing) {
  const ClockMap map;
  EXPECT_EQ(map.offset(Instant{5}), Duration{});
  EXPECT_EQ(map.bound(Instant{5}), Duration{});
  EXPECT_EQ(map.bound_max(Instant{0}, Instant{9}), Duration{});
  EXPECT_EQ(map.drift(), 0);
}

TEST(ClockMap, one_probe_halves_what_the_way_leaves_open) {
  // 1,000 ns there and back, 40 of them spent at the reference; offset between 460 and 1,420.
  const auto map = ClockMap::make({{Instant{0}, Instant{1'420}, Instant{1'460}, Instant{1'000}}});
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->bound(Instant{0}).ns, 481) << "480, and 1,000 ppm of 1,000 ns";
  EXPECT_NEAR(static_cast<double>(map->offset(Instant{500}).ns), 940, 1);
  EXPECT_EQ(map->drift(), 0);
}

// The limits by their definition: each probe bounds the offset at each instant, less the drift in
// between.
struct SlowMap {
  std::vector<ClockProbe> probes{};
  double slope = 0;

  std::pair<double, double> limits(std::int64_t own) const {
    double low = -1e18;
    double high = 1e18;
    const auto away = [&](Instant at) {
      return slope * std::abs(static_cast<double>(own - at.ns));
    };
    for (const ClockProbe& one : probes) {
      low = std::max(low, static_cast<double>((one.answered - one.heard).ns) - away(one.heard));
      high = std::min(high, static_cast<double>((one.received - one.asked).ns) + away(one.asked));
    }
    return {low, high};
  }
  double offset(std::int64_t own) const { return (limits(own).first + limits(own).second) / 2; }
  double bound(std::int64_t own) const { return (limits(own).second - limits(own).first) / 2; }
};

TEST(ClockMap, its_offset_its_bound_and_its_largest_bound_are_those_of_the_definition) {
  constexpr double kSlope = 0.05;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Rng rng(seed);
    const double drift = (rng.uniform() - 0.5) * kSlope;
    const double start = (rng.uniform() - 0.5) * 1e6;
    std::vector<std::int64_t> asked;
    for (std::uint64_t i = 0; i < 1 + seed % 6; ++i) {
      asked.push_back(static_cast<std::int64_t>(rng.below(20'000)));
    }
    const auto truth = [&](double own) { return start + drift * own; };
    const SlowMap slow{probes_of(truth, asked, 2'000, seed), kSlope};
    const auto map = ClockMap::make(slow.probes, kSlope);
    ASSERT_TRUE(map.has_value()) << seed << map.error().message;
    for (std::int64_t own = -3'000; own < 30'000; own += 97) {
      EXPECT_NEAR(static_cast<double>(map->offset(Instant{own}).ns), slow.offset(own), 0.51);
      EXPECT_NEAR(static_cast<double>(map->bound(Instant{own}).ns), slow.bound(own) + 0.5, 0.51);
    }
    const auto from = static_cast<std::int64_t>(rng.below(10'000));
    const auto to = from + static_cast<std::int64_t>(rng.below(15'000));
    double most = 0;
    for (std::int64_t own = from; own <= to; ++own) most = std::max(most, slow.bound(own));
    EXPECT_NEAR(static_cast<double>(map->bound_max(Instant{from}, Instant{to}).ns), most + 0.5, 0.6)
        << seed;
    Instant first = slow.probes[0].asked;
    Instant last = slow.probes[0].heard;
    for (const ClockProbe& one : slow.probes) {
      first = std::min(first, one.asked);
      last = std::max(last, one.heard);
    }
    const double moved = static_cast<double>((map->offset(last) - map->offset(first)).ns);
    EXPECT_DOUBLE_EQ(map->drift(),
                     asked.size() == 1 ? 0 : moved / static_cast<double>((last - first).ns));
  }
}

// Both clocks are far from 0 and from one another, and the probes are most of a year apart: a
// double has no room for the nanoseconds of any of these numbers.
TEST(ClockMap, an_exact_offset_is_exact_however_far_the_clocks_are_apart) {
  constexpr std::int64_t kApart = 123'456'789'012'345'677;
  const auto probe = [](std::int64_t own) {
    const Instant there{own + kApart};
    return ClockProbe{Instant{own}, there, there, Instant{own}};
  };
  constexpr std::int64_t kFirst = 500'000'000'000'000'003;
  constexpr std::int64_t kLast = kFirst + 20'000'000'000'000'001;
  const auto map = ClockMap::make({probe(kFirst), probe(kLast)});
  ASSERT_TRUE(map.has_value()) << map.error().message;
  for (const std::int64_t own : {kFirst, kLast}) {
    EXPECT_EQ(map->offset(Instant{own}).ns, kApart);
    EXPECT_EQ(map->bound(Instant{own}).ns, 0);
  }
}

TEST(ClockMap, the_truth_is_within_the_bound_whatever_the_ways_and_the_drift) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const double start = (rng.uniform() - 0.5) * 1e17;  // three years apart
    const double slope = (rng.uniform() - 0.5) * 1.8e-3;
    const double wave = rng.uniform() * 1e4;
    const auto truth = [&](double own) { return start + slope * own + wave * std::sin(own / 1e9); };
    std::vector<std::int64_t> at;
    for (std::int64_t t = 0; t < 60'000'000'000; t += 1'000'000'000) {
      at.push_back(t + static_cast<std::int64_t>(rng.uniform() * 3e8));
    }
    const auto map = ClockMap::make(probes_of(truth, at, 20'000'000, seed));
    ASSERT_TRUE(map.has_value()) << map.error().message;
    const Duration most = map->bound_max(Instant{0}, Instant{60'000'000'000});
    for (int i = 0; i < 500; ++i) {
      const Instant own{static_cast<std::int64_t>(rng.uniform() * 6e10)};
      const double error =
          std::abs(static_cast<double>(map->offset(own).ns) - truth(static_cast<double>(own.ns)));
      EXPECT_LE(error, static_cast<double>(map->bound(own).ns) + 32) << seed << " at " << own.ns;
      EXPECT_LE(map->bound(own), most);
    }
    EXPECT_LT(most.ns, 12'000'000) << "half of the longest ways, and a second's drift";
    EXPECT_NEAR(map->drift(), slope, 5e-4);
  }
}

TEST(ClockMap, later_probes_only_narrow_what_is_known) {
  const auto truth = [](double own) { return 5e8 + own * 2e-5; };
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < 40; ++i) at.push_back(i * 100'000'000);
  const auto probes = probes_of(truth, at, 5'000'000, 7);
  Duration before = Duration::max();
  for (std::size_t n = 1; n <= probes.size(); ++n) {
    const auto map = ClockMap::make({probes.begin(), probes.begin() + static_cast<long>(n)});
    ASSERT_TRUE(map.has_value());
    const Duration now = map->bound(Instant{2'000'000'000});
    EXPECT_LE(now, before) << n;
    before = now;
  }
}

TEST(ClockMap, the_largest_bound_is_found_between_the_probes) {
  const auto truth = [](double) { return 1'000.0; };
  const auto map =
      ClockMap::make(probes_of(truth, {0, 3'000'000'000, 10'000'000'000}, 1'000'000, 3));
  ASSERT_TRUE(map.has_value());
  const Duration most = map->bound_max(Instant{0}, Instant{10'000'000'000});
  Duration seen{};
  for (std::int64_t t = 0; t <= 10'000'000'000; t += 1'000'000) {
    seen = std::max(seen, map->bound(Instant{t}));
  }
  EXPECT_GE(most, seen);
  EXPECT_NEAR(static_cast<double>(most.ns), static_cast<double>(seen.ns), 2'000);
}

TEST(ClockMap, the_largest_bound_is_of_the_asked_time_alone) {
  const auto truth = [](double) { return 0.0; };
  const auto map = ClockMap::make(probes_of(truth, {0, 10'000'000'000, 11'000'000'000}, 1'000, 3));
  ASSERT_TRUE(map.has_value());
  EXPECT_GT(map->bound_max(Instant{0}, Instant{11'000'000'000}).ns, 4'000'000);
  EXPECT_LT(map->bound_max(Instant{10'000'000'000}, Instant{11'000'000'000}).ns, 600'000)
      << "the gap before it is wider";
  EXPECT_LT(map->bound_max(Instant{0}, Instant{100'000'000}).ns, 200'000);
}

TEST(ClockMap, two_probes_show_a_drift_and_two_of_one_instant_none) {
  const auto probe = [](std::int64_t own, std::int64_t there) {
    return ClockProbe{Instant{own}, Instant{there}, Instant{there}, Instant{own}};
  };
  const auto drifting = ClockMap::make({probe(0, 0), probe(1'000'000'000, 1'000'500'000)});
  ASSERT_TRUE(drifting.has_value());
  EXPECT_NEAR(drifting->drift(), 5e-4, 1e-9);
  const auto still = ClockMap::make({probe(5, 9), probe(5, 9)});
  ASSERT_TRUE(still.has_value());
  EXPECT_EQ(still->drift(), 0);
  EXPECT_EQ(still->offset(Instant{5}).ns, 4);
}

TEST(ClockMap, a_clock_that_was_set_is_found) {
  const auto truth = [](double own) { return own < 5e9 ? 0.0 : 3e7; };
  const auto map = ClockMap::make(
      probes_of(truth, {0, 1'000'000'000, 9'000'000'000, 9'500'000'000}, 1'000'000, 5));
  ASSERT_FALSE(map.has_value());
  EXPECT_NE(map.error().message.find("a clock was set"), std::string::npos);
  const auto exact = [](std::int64_t own, std::int64_t there) {
    return ClockProbe{Instant{own}, Instant{there}, Instant{there}, Instant{own}};
  };
  EXPECT_EQ(ClockMap::make({exact(0, 0), exact(1'000'000, 2'000'000)}, 2e-3).error().message,
            "the probes of the clocks contradict one another by 998 µs: a clock was set during the "
            "run, or drifted more than 2000 ppm");
  EXPECT_FALSE(ClockMap::make({}).has_value());
  EXPECT_FALSE(ClockMap::make({{Instant{5}, Instant{5}, Instant{5}, Instant{4}}}).has_value());
  EXPECT_FALSE(ClockMap::make({{Instant{5}, Instant{5}, Instant{4}, Instant{6}}}).has_value());
}

std::vector<RankClock> two_ranks() {
  return {{.rank = 0, .host = "a", .shard_first = 0, .threads = 2},
          {.rank = 1,
           .host = "b",
           .shard_first = 2,
           .threads = 2,
           .probes = {{Instant{1}, Instant{-2}, Instant{3}, Instant{4}}},
           .lost = "it died"}};
}

TEST(RankClocks, come_back_from_their_file) {
  const Json json = to_json(two_ranks());
  const auto back = rank_clocks_from_json(json);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(to_json(*back).dump(), json.dump());
  EXPECT_EQ((*back)[1].lost, "it died");
  EXPECT_EQ((*back)[1].probes.front().received, Instant{-2});
}

TEST(RankClocks, numbers_are_taken_up_to_their_limits_and_not_at_them) {
  const auto reads = [](const char* text) {
    return rank_clock_from_json(Json::parse(text).value()).has_value();
  };
  EXPECT_TRUE(reads(R"({"rank":1048575,"shard_first":1048575,"threads":1048575})"));
  EXPECT_TRUE(reads(R"({"rank":0,"shard_first":0,"threads":1})"));
  EXPECT_FALSE(reads(R"({"rank":1048576,"shard_first":0,"threads":1})"));
  EXPECT_FALSE(reads(R"({"rank":0,"shard_first":1048576,"threads":1})"));
  EXPECT_FALSE(reads(R"({"rank":0,"shard_first":0,"threads":1048576})"));
  EXPECT_FALSE(reads(R"({"rank":0,"shard_first":0,"threads":0})"));
  EXPECT_FALSE(reads(R"({"shard_first":0,"threads":1})"));
  EXPECT_FALSE(reads(R"({"rank":0,"threads":1})"));
  EXPECT_FALSE(reads(R"({"rank":0,"shard_first":0})"));
  const auto probe = [&](const char* instant) {
    return reads((std::string(R"({"rank":0,"shard_first":0,"threads":1,"probes":[[1,2,3,)") +
                  instant + "]]}")
                     .c_str());
  };
  EXPECT_TRUE(probe("1152921504606846975"));
  EXPECT_FALSE(probe("1152921504606846976"));
  EXPECT_TRUE(probe("-1152921504606846975"));
  EXPECT_FALSE(probe("-1152921504606846976"));
  EXPECT_FALSE(probe("4,5"));
}

TEST(RankClocks, what_does_not_fit_together_is_refused) {
  const auto broken = [](const char* from, const char* to) {
    std::string text = to_json(two_ranks()).dump();
    const std::size_t at = text.rfind(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, std::string_view(from).size(), to);
    const auto json = Json::parse(text);
    EXPECT_TRUE(json.has_value()) << text;
    const auto read = rank_clocks_from_json(*json);
    return read ? std::string() : read.error().message;
  };
  EXPECT_NE(broken("assay-clocks", "assay-clock"), "");
  EXPECT_NE(broken("\"version\":1", "\"version\":2"), "");
  EXPECT_NE(broken("\"rank\":1", "\"rank\":2"), "");
  EXPECT_NE(broken("\"shard_first\":2", "\"shard_first\":1"), "");
  EXPECT_NE(broken("\"threads\":2", "\"threads\":0"), "");
  EXPECT_NE(broken("\"threads\":2", "\"threads\":-1"), "");
  EXPECT_NE(broken("[1,-2,3,4]", "[1,-2,3]"), "");
  EXPECT_NE(broken("[1,-2,3,4]", "[1,-2,3,\"4\"]"), "");
  EXPECT_NE(broken("[1,-2,3,4]", "[1,-2,3,9000000000000000000]"), "");
  EXPECT_FALSE(rank_clocks_from_json(Json::object()).has_value());
}

}  // namespace
}  // namespace assay::record
