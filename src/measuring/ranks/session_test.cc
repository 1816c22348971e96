#include "ranks/session.h"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <latch>
#include <thread>

#include "base/clock.h"
#include "base/format.h"
#include "net/socket.h"
#include "ranks/line.h"

namespace assay::ranks {
namespace {

constexpr Duration kShort = 300_ms;

std::uint16_t free_port() {
  const auto address = net::Address::numeric("127.0.0.1", 0);
  const auto listener = net::listen_on(*address, {});
  return net::local_address(*listener)->port();
}

RankPlace place_of(std::uint32_t index, std::uint32_t count, std::uint16_t port,
                   Duration patience = 20_s) {
  return {.index = index, .count = count, .host = "127.0.0.1", .port = port, .patience = patience};
}

struct Seen {
  std::string error{};
  std::string run_id{};
  Instant start{};
  std::vector<record::ClockProbe> probes{};
  std::vector<LostRank> lost{};
};

// For a run in which one rank dies: when all have started, and before the others' load has ended.
struct Death {
  std::uint32_t rank;
  std::latch started;
  std::latch gone{1};
};

// One rank's whole life, or until its death: then its connection closes without a word.
Seen live(const RankPlace& place, const Agreement& mine, Death* death = nullptr) {
  Seen out;
  const run::Control control;
  auto session = RankSession::join(place, mine, format("run of rank {}", place.index), control);
  if (!session) {
    out.error = session.error().message;
    return out;
  }
  out.run_id = (*session)->run_id();
  const auto start = (*session)->start(control);
  if (!start) {
    out.error = start.error().message;
    return out;
  }
  out.start = *start;
  if (death != nullptr) {
    death->started.arrive_and_wait();
    if (death->rank == place.index) {
      session->reset();
      death->gone.count_down();
      return out;
    }
    death->gone.wait();
  }
  out.probes = (*session)->after_load();
  out.lost = (*session)->leave({RunState::complete, ""}, control);
  return out;
}

std::vector<Seen> together(const std::vector<RankPlace>& places,
                           const std::vector<Agreement>& agreements,
                           std::optional<std::uint32_t> dies = {}) {
  std::vector<Seen> out(places.size());
  Death death{.rank = dies.value_or(0),
              .started = std::latch(static_cast<std::ptrdiff_t>(places.size()))};
  Death* const at = dies ? &death : nullptr;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < places.size(); ++i) {
    threads.emplace_back([&, i] { out[i] = live(places[i], agreements[i], at); });
  }
  for (std::thread& thread : threads) thread.join();
  return out;
}

const Agreement kMine{.version = "1", .plan_digest = "abc", .threads = 2};

TEST(RankSession, ranks_start_at_one_instant_of_one_run) {
  const std::uint16_t port = free_port();
  const auto seen = together(
      {place_of(0, 4, port), place_of(1, 4, port), place_of(2, 4, port), place_of(3, 4, port)},
      {kMine, kMine, kMine, kMine});
  for (const Seen& one : seen) {
    ASSERT_EQ(one.error, "");
    EXPECT_EQ(one.run_id, "run of rank 0");
    EXPECT_TRUE(one.lost.empty());
  }
  EXPECT_TRUE(seen[0].probes.empty());
  for (std::size_t i = 1; i < 4; ++i) {
    ASSERT_GE(seen[i].probes.size(), 16u + 8u + 16u);
    // All threads of this process have one clock, so the truth is an offset of 0.
    const auto map = record::ClockMap::make(seen[i].probes);
    ASSERT_TRUE(map.has_value()) << map.error().message;
    const Duration offset = map->offset(seen[i].start);
    const Duration bound = map->bound(seen[i].start);
    EXPECT_LE(std::abs(offset.ns), bound.ns);
    // It was computed with fewer probes, so with a wider bound.
    const auto before =
        record::ClockMap::make({seen[i].probes.begin(), seen[i].probes.begin() + 24});
    EXPECT_LE(std::abs((seen[i].start - seen[0].start).ns),
              before->bound(seen[i].start).ns + 2'000'000);
  }
}

TEST(RankSession, another_plan_version_or_number_of_threads_ends_all) {
  Agreement plan = kMine;
  plan.plan_digest = "abd";
  Agreement version = kMine;
  version.version = "2";
  Agreement threads = kMine;
  threads.threads = 3;
  for (const auto& [other, words] :
       {std::pair{plan, "another plan"}, {version, "is Assay 2"}, {threads, "--threads 3"}}) {
    const std::uint16_t port = free_port();
    const auto seen = together({place_of(0, 2, port), place_of(1, 2, port)}, {kMine, other});
    for (const Seen& one : seen) {
      EXPECT_NE(one.error.find(words), std::string::npos) << one.error << " / " << words;
    }
  }
}

TEST(RankSession, a_rank_that_does_not_come_is_named_on_every_rank) {
  const std::uint16_t port = free_port();
  const auto seen = together({place_of(0, 3, port, 2_s), place_of(1, 3, port)}, {kMine, kMine});
  EXPECT_NE(seen[0].error.find("rank 2 did not come"), std::string::npos) << seen[0].error;
  EXPECT_NE(seen[0].error.find("--rank-timeout"), std::string::npos);
  EXPECT_NE(seen[1].error.find("rank 2 did not come"), std::string::npos) << seen[1].error;
}

TEST(RankSession, without_rank_0_the_others_give_up) {
  const auto seen = live(place_of(1, 2, free_port(), kShort), kMine);
  EXPECT_NE(seen.error.find("cannot reach rank 0"), std::string::npos) << seen.error;
}

TEST(RankSession, one_place_is_taken_once) {
  const std::uint16_t port = free_port();
  const auto seen = together({place_of(0, 3, port), place_of(1, 3, port), place_of(1, 3, port)},
                             {kMine, kMine, kMine});
  for (const Seen& one : seen) {
    EXPECT_NE(one.error.find("rank 1 came twice"), std::string::npos) << one.error;
  }
}

TEST(RankSession, a_rank_that_dies_is_lost_and_the_others_end_whole) {
  const std::uint16_t port = free_port();
  const auto seen = together({place_of(0, 3, port), place_of(1, 3, port), place_of(2, 3, port)},
                             {kMine, kMine, kMine}, 2);
  ASSERT_EQ(seen[0].lost.size(), 1u);
  EXPECT_EQ(seen[0].lost[0].rank, 2u);
  EXPECT_NE(seen[0].lost[0].why.find("closed"), std::string::npos) << seen[0].lost[0].why;
  EXPECT_TRUE(seen[1].lost.empty());
  EXPECT_GE(seen[1].probes.size(), 40u);
}

TEST(RankSession, the_others_go_on_without_rank_0) {
  const std::uint16_t port = free_port();
  const auto seen = together({place_of(0, 2, port), place_of(1, 2, port)}, {kMine, kMine}, 0);
  EXPECT_EQ(seen[1].error, "");
  ASSERT_EQ(seen[1].lost.size(), 1u);
  EXPECT_EQ(seen[1].lost[0].rank, 0u);
  EXPECT_GE(seen[1].probes.size(), 24u) << "those before the start stay";
}

TEST(RankSession, a_request_to_stop_ends_the_wait) {
  run::Control control;
  control.ask_to_stop();
  const auto leader = RankSession::join(place_of(0, 2, free_port()), kMine, "x", control);
  ASSERT_FALSE(leader.has_value());
  EXPECT_NE(leader.error().message.find("asked to stop"), std::string::npos);
  const auto other = RankSession::join(place_of(1, 2, free_port()), kMine, "", control);
  ASSERT_FALSE(other.has_value());
  EXPECT_NE(other.error().message.find("asked to stop"), std::string::npos);
}

net::Fd connect_to(std::uint16_t port) {
  for (;;) {
    auto fd = net::start_connect(*net::Address::numeric("127.0.0.1", port));
    if (!fd) continue;
    pollfd wanted{.fd = fd->get(), .events = POLLOUT, .revents = 0};
    ::poll(&wanted, 1, 1000);
    if (net::connect_result(*fd) == 0) return *std::move(fd);
  }
}

// Anybody may knock at the port.
TEST(RankSession, strangers_are_sent_away_and_disturb_nobody) {
  const std::uint16_t port = free_port();
  std::vector<Seen> seen(2);
  std::thread leader([&] { seen[0] = live(place_of(0, 2, port), kMine); });
  std::vector<net::Fd> strangers;
  for (const char* words : {"GET / HTTP/1.1\r\n\r\n", "{}\n", "[1]\n", "{\"hello\":2}\n", "\n"}) {
    strangers.push_back(connect_to(port));
    EXPECT_GT(::send(strangers.back().get(), words, std::string_view(words).size(), MSG_NOSIGNAL),
              0);
  }
  strangers.push_back(connect_to(port));
  const std::string endless(200'000, 'x');
  static_cast<void>(::send(strangers.back().get(), endless.data(), endless.size(), MSG_NOSIGNAL));
  seen[1] = live(place_of(1, 2, port), kMine);
  leader.join();
  EXPECT_EQ(seen[0].error, "");
  EXPECT_EQ(seen[1].error, "");
}

}  // namespace
}  // namespace assay::ranks
