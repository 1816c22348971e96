#include "protocol/wake_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>

#include "base/rng.h"

namespace assay::protocol {
namespace {

constexpr Instant kWakeStart{5'000'000'000};

// A thread whose wall clock is spent in sleep, in waiting for a core and on it, as the test says.
class Thread {
 public:
  void run(Duration d) {
    now = now + d;
    books.ran += d;
  }
  void wait_for_core(Duration d) {
    now = now + d;
    books.waited += d;
  }
  // A wait that sleeps, is woken, and gets its core `late` afterwards.
  void doze(Duration d, Duration late) {
    watch.before_wait(now);
    now = now + d;
    woken = now;
    wait_for_core(late);
    ++books.voluntary_switches;
    run(3_us);
    watch.after_wait(now, false);
  }
  Duration off() { return woken - watch.slept_until(now); }

  Instant now = kWakeStart;
  Instant woken{};
  ThreadBooks books{.ran = 80_ms, .waited = 7_ms, .voluntary_switches = 500};
  int looks = 0;
  bool blind = false;
  WakeWatch watch{[this]() -> std::optional<ThreadBooks> {
    ++looks;
    return blind ? std::nullopt : std::optional(books);
  }};
};

// Allows for the wake itself, and for the time run since.
void expect_close(Duration off) {
  EXPECT_GE(off, Duration{});
  EXPECT_LE(off, WakeWatch::kToWake + 100_us);
}

TEST(WakeWatch, tells_when_the_thread_was_woken) {
  Thread thread;
  thread.doze(20_ms, 5_us);
  expect_close(thread.off());
}

TEST(WakeWatch, without_the_second_reading_it_says_nothing) {
  Thread thread;
  thread.doze(20_ms, 5_us);
  thread.blind = true;
  EXPECT_FALSE(thread.watch.slept_until(thread.now).known());
}

TEST(WakeWatch, a_core_that_came_late_is_seen_behind) {
  Thread thread;
  thread.doze(20_ms, 3_ms);
  expect_close(thread.off());
}

TEST(WakeWatch, what_ran_before_the_wait_is_not_taken_for_after) {
  Thread thread;
  thread.doze(100_us, 1_us);
  thread.run(800_us);
  thread.doze(300_us, 1_us);
  thread.run(400_us);
  const int looks = thread.looks;
  thread.doze(9_ms, 2_us);
  EXPECT_EQ(thread.looks, looks);  // the first reading is still used
  expect_close(thread.off());
}

TEST(WakeWatch, a_core_given_up_once_more_than_it_slept_says_nothing) {
  Thread thread;
  thread.doze(20_ms, 5_us);
  ++thread.books.voluntary_switches;  // stopped and continued
  EXPECT_FALSE(thread.watch.slept_until(thread.now).known());
}

TEST(WakeWatch, a_thread_that_was_preempted_is_bounded_by_the_time_it_was_ready) {
  Thread thread;
  thread.doze(300_us, 1_us);
  thread.wait_for_core(700_us);
  thread.doze(9_ms, 2_us);
  EXPECT_GE(thread.off(), Duration{});
  EXPECT_LE(thread.off(), 700_us + WakeWatch::kToWake + 100_us);
}

TEST(WakeWatch, a_stop_in_an_earlier_wait_counts_until_the_next_look) {
  Thread thread;
  thread.doze(300_us, 1_us);
  ++thread.books.voluntary_switches;
  thread.doze(300_us, 1_us);
  EXPECT_FALSE(thread.watch.slept_until(thread.now).known());
  thread.run(WakeWatch::kFresh);
  thread.doze(300_us, 1_us);
  expect_close(thread.off());
}

TEST(WakeWatch, a_wait_that_a_signal_cut_short_says_nothing) {
  Thread thread;
  thread.watch.before_wait(thread.now);
  thread.now = thread.now + 8_ms;
  ++thread.books.voluntary_switches;
  thread.watch.after_wait(thread.now, true);
  EXPECT_FALSE(thread.watch.slept_until(thread.now).known());
  // The next wait begins with a new reading, and those after it use that one.
  const int looks = thread.looks;
  thread.doze(1_ms, 5_us);
  EXPECT_EQ(thread.looks, looks + 1);
  expect_close(thread.off());
  thread.doze(500_us, 5_us);
  EXPECT_EQ(thread.looks, looks + 2) << "the one of the answer before";
  expect_close(thread.off());
}

TEST(WakeWatch, a_wait_that_did_not_sleep_says_nothing) {
  Thread thread;
  thread.watch.before_wait(thread.now);
  thread.run(1_us);
  thread.watch.after_wait(thread.now, false);
  EXPECT_FALSE(thread.watch.slept_until(thread.now).known());
}

TEST(WakeWatch, a_wait_as_long_as_the_shortest_sleep_slept_and_a_shorter_one_may_not_have) {
  for (const Duration less : {Duration{}, Duration{1}}) {
    Thread thread;
    thread.doze(WakeWatch::kSlept - 4_us - less, 1_us);  // 3 us on its core are of the wait
    EXPECT_EQ(thread.watch.slept_until(thread.now).known(), less == Duration{});
  }
}

// Streams in step: each token comes a few microseconds after the one before.
TEST(WakeWatch, after_a_wait_that_may_have_slept_or_not_it_reads_anew) {
  for (const bool sleeps : {false, true}) {
    Thread thread;
    thread.doze(300_us, 1_us);
    thread.watch.before_wait(thread.now);
    if (sleeps) ++thread.books.voluntary_switches;
    sleeps ? void(thread.now = thread.now + 4_us) : thread.run(4_us);
    thread.watch.after_wait(thread.now, false);
    EXPECT_FALSE(thread.watch.slept_until(thread.now).known());
    thread.doze(1_ms, 5_us);
    expect_close(thread.off());
  }
}

// Streams in step: the first token ends the sleep, a look finds the next ones.
TEST(WakeWatch, bounds_what_a_look_after_the_sleep_finds) {
  Thread thread;
  thread.doze(300_us, 1_us);
  thread.run(900_us);
  thread.doze(400_us, 1_us);
  thread.run(60_us);
  expect_close(thread.off());
  thread.wait_for_core(200_us);
  EXPECT_EQ(thread.watch.slept_until(thread.now), thread.watch.slept_until(kWakeStart));
}

TEST(WakeWatch, a_kernel_without_books_says_nothing) {
  WakeWatch watch{[] { return std::optional<ThreadBooks>{}; }};
  watch.before_wait(kWakeStart);
  watch.after_wait(kWakeStart + 5_ms, false);
  EXPECT_FALSE(watch.slept_until(kWakeStart + 5_ms).known());
}

TEST(WakeWatch, never_says_later_than_the_truth_whatever_the_thread_did) {
  int known = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    Thread thread;
    for (int i = 0; i < 40; ++i) {
      const auto some = [&](std::uint64_t us) {
        return Duration{static_cast<std::int64_t>(rng.below(us * 1'000))};
      };
      thread.run(some(400));
      if (rng.below(6) == 0) thread.wait_for_core(some(3'000));  // preempted, or throttled
      if (rng.below(12) == 0) {                                  // stopped
        thread.now = thread.now + 9_ms;
        ++thread.books.voluntary_switches;
      }
      thread.doze(some(5'000) + WakeWatch::kSlept, some(rng.below(4) == 0 ? 4'000 : 30));
      const Instant said = thread.watch.slept_until(thread.now);
      if (!said.known()) continue;
      ++known;
      ASSERT_LE(said, thread.woken) << "seed " << seed;
    }
  }
  EXPECT_GT(known, 4'000);
}

TEST(ThreadBooksReader, a_sleep_is_one_switch_and_being_ready_to_run_is_none) {
  ThreadBooksReader reader;
  const std::optional<ThreadBooks> first = reader.look();
  if (!first) return;  // this kernel has no counts
  ::sched_yield();
  EXPECT_EQ(reader.look()->voluntary_switches, first->voluntary_switches);
  ::poll(nullptr, 0, 1);
  EXPECT_GT(reader.look()->voluntary_switches, first->voluntary_switches);
}

TEST(ThreadBooksReader, time_on_the_core_grows_while_it_runs) {
  ThreadBooksReader reader;
  const std::optional<ThreadBooks> first = reader.look();
  if (!first) return;  // this kernel has no counts
  std::optional<ThreadBooks> last = reader.look();
  for (int i = 0; i < 1'000'000 && last->ran == first->ran; ++i) last = reader.look();
  EXPECT_GT(last->ran, first->ran);
  EXPECT_GE(last->waited, first->waited);
  EXPECT_GE(last->voluntary_switches, first->voluntary_switches);
}

}  // namespace
}  // namespace assay::protocol
