// Eight processes write at once and are killed at random; nothing may be lost, doubled or halved.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>

#include "base/check.h"
#include "base/format.h"
#include "base/rng.h"
#include "base/testing_temp_folder.h"
#include "store/open_store.h"
#include "store/testing_postgres.h"

namespace assay::store {
namespace {

constexpr int kWriters = 8;
constexpr int kCurves = 12;  // of each writer
constexpr int kPoints = 9;   // of each curve

// Written to the pipe after put() has returned; short, so that one write is one message.
struct Ack {
  int writer = 0;
  int curve = 0;
};

CurveRecord curve_of(int writer, int number) {
  const std::string id = format("w{}-{:02}", writer, number);
  // All share one system, so that they meet in its row.
  CurveRecord out{.id = id, .system = {"sys", "System", "{}"}, .model = "m", .dataset = "d"};
  out.document = format(R"({{"id":"{}"}})", id);
  for (int i = 0; i < kPoints; ++i) {
    out.points.push_back({.id = format("{}-{}", id, i),
                          .concurrency = double(i + 1),
                          .system_tps = double(i),
                          .document = "{}",
                          .run = std::string(2000, 'x')});
  }
  return out;
}

[[noreturn]] void write_curves(const std::string& where, int writer, int first, int pipe) {
  auto store = open_store(where);
  if (!store) _exit(3);
  for (int number = first; number < kCurves; ++number) {
    if (!(*store)->put(curve_of(writer, number))) _exit(4);
    const Ack ack{writer, number};
    if (::write(pipe, &ack, sizeof ack) != sizeof ack) _exit(5);
  }
  _exit(0);
}

void kill_writers(const std::string& where, std::uint64_t seed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::array<pid_t, kWriters> pids{};
  std::array<int, kWriters> next{};  // the first curve not acknowledged
  const auto start = [&](int writer) {
    pids[static_cast<std::size_t>(writer)] = ::fork();
    if (pids[static_cast<std::size_t>(writer)] == 0) {
      ::close(ends[0]);
      write_curves(where, writer, next[static_cast<std::size_t>(writer)], ends[1]);
    }
  };
  for (int writer = 0; writer < kWriters; ++writer) start(writer);

  Rng rng(seed);
  int kills = 0;
  int open = kWriters;
  Ack ack;
  while (open > 0) {
    ASSERT_EQ(::read(ends[0], &ack, sizeof ack), ssize_t{sizeof ack});
    const auto from = static_cast<std::size_t>(ack.writer);
    // A writer killed after its write restarts at the next curve, or again at the same one.
    next[from] = std::max(next[from], ack.curve + 1);
    if (next[from] == kCurves && ack.curve + 1 == kCurves) {
      int status = 0;
      if (pids[from] != 0 && ::waitpid(pids[from], &status, 0) == pids[from]) {
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ack.writer;
        pids[from] = 0;
        --open;
      }
      continue;
    }
    if (rng.below(3) != 0) continue;
    const auto victim = static_cast<std::size_t>(rng.below(kWriters));
    if (pids[victim] == 0 || next[victim] >= kCurves - 1) continue;
    ::kill(pids[victim], SIGKILL);
    ASSERT_EQ(::waitpid(pids[victim], nullptr, 0), pids[victim]);
    ++kills;
    start(static_cast<int>(victim));
  }
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_GT(kills, 5);

  auto store = open_store(where);
  ASSERT_TRUE(store) << store.error().message;
  const auto page = (*store)->find_curves({.limit = 1000});
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->total, kWriters * kCurves);
  for (const FoundCurve& curve : page->curves) {
    EXPECT_EQ(curve.points_total, kPoints) << curve.id;
    EXPECT_EQ(curve.points.size(), std::size_t{kPoints}) << curve.id;
    EXPECT_EQ(curve.peak_tps, double(kPoints - 1)) << curve.id;
  }
}

TEST(Writers, eight_that_are_killed_at_random_lose_and_double_nothing_in_sqlite) {
  const TempFolder folder;
  kill_writers((folder.path() / "store.db").string(), 7);
}

TEST(Writers, eight_that_are_killed_at_random_lose_and_double_nothing_in_postgresql) {
  kill_writers(TestPostgres::shared().fresh_url(), 7);
}

}  // namespace
}  // namespace assay::store
