#include "host/self_audit.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/thread_books.h"
#include "host/testing_machine_files.h"

namespace assay::host {
namespace {

TEST(LagRecorder, one_stall_that_makes_many_late_is_counted_once) {
  LagRecorder lag;
  const Instant start{1'000'000'000};
  for (int i = 0; i < 64; ++i) lag.record(start, start + 20_ms);
  lag.record(start + 30_ms, start + 30_ms);
  lag.record(start + 40_ms, start + 60_ms);
  const LagFigures figures = lag.figures();
  EXPECT_EQ(figures.count, 66U);
  EXPECT_EQ(figures.stalls, 2U);
  EXPECT_EQ(figures.stalled, 40_ms);
  EXPECT_EQ(figures.holdups, 2);
  EXPECT_EQ(figures.max, 20_ms);
}

TEST(LagRecorder, a_hold_up_shorter_than_a_stall_is_counted_once_too) {
  LagRecorder lag;
  const Instant start{1'000'000'000};
  for (int i = 0; i < 200; ++i) lag.record(start + 1_us * i, start + 6_ms + 4_us * i);
  lag.record(start + 20_ms, start + 24_ms);  // late, but below kLate
  EXPECT_EQ(lag.figures().holdups, 1);
  EXPECT_EQ(lag.figures().stalls, 0U);
  lag.record(start + 30_ms, start + 35_ms);
  EXPECT_EQ(lag.figures().holdups, 2);
}

TEST(LagRecorder, what_is_done_before_its_time_is_not_late) {
  LagRecorder lag;
  lag.record(Instant{2'000'000'000}, Instant{1'000'000'000});
  EXPECT_EQ(lag.figures().max, Duration{});
  EXPECT_EQ(lag.figures().stalls, 0U);
}

TEST(LagRecorder, its_limits_are_5_ms_for_a_hold_up_and_more_than_10_ms_for_a_stall) {
  const Instant start{1'000'000'000};
  const auto lag_of = [&](Duration late) {
    LagRecorder lag;
    lag.record(start, start + late);
    return lag.figures();
  };
  EXPECT_EQ(lag_of(kLate - 1_ns).holdups, 0);
  EXPECT_EQ(lag_of(kLate).holdups, 1);
  EXPECT_EQ(lag_of(kStall).stalls, 0U);
  EXPECT_EQ(lag_of(kStall + 1_ns).stalls, 1U);
  EXPECT_EQ(lag_of(kStall + 1_ns).stalled, kStall + 1_ns);
}

TEST(LagRecorder, what_is_due_when_a_stall_ends_begins_another) {
  LagRecorder lag;
  const Instant start{1'000'000'000};
  lag.record(start, start + 20_ms);
  lag.record(start + 20_ms, start + 40_ms);
  EXPECT_EQ(lag.figures().stalls, 2U);
  EXPECT_EQ(lag.figures().holdups, 2);
  EXPECT_EQ(lag.figures().stalled, 40_ms);
  LagRecorder inside;
  inside.record(start, start + 20_ms);
  inside.record(start + 20_ms - 1_ns, start + 40_ms);
  EXPECT_EQ(inside.figures().stalls, 1U);
  EXPECT_EQ(inside.figures().holdups, 1);
  EXPECT_EQ(inside.figures().stalled, 40_ms);
}

TEST(LagRecorder, its_percentiles_are_of_all_lags) {
  LagRecorder lag;
  const Instant start{1'000'000'000};
  for (int i = 1; i <= 1000; ++i) lag.record(start, start + 1_us * i);
  const LagFigures figures = lag.figures();
  EXPECT_EQ(figures.count, 1000U);
  EXPECT_NEAR(figures.p50.seconds(), 500e-6, 5e-6);
  EXPECT_NEAR(figures.p99.seconds(), 990e-6, 8e-6);
  EXPECT_NEAR(figures.p999.seconds(), 999e-6, 8e-6);
  EXPECT_LT(figures.p99, figures.p999);
  EXPECT_EQ(figures.max, 1_ms);
}

// Tells the readings that it was given, one after the other, and no other.
class ScriptedClock final : public Clock {
 public:
  explicit ScriptedClock(std::vector<Duration> script) : script_(std::move(script)) {}
  Instant now() const override { return Instant{1'000'000'000} + script_.at(next_++); }
  void sleep_until(Instant until) override { slept = until - Instant{1'000'000'000}; }
  Duration spin_window() const override { return {}; }
  std::size_t read() const { return next_; }
  Duration slept{};

 private:
  std::vector<Duration> script_;
  mutable std::size_t next_ = 0;
};

TEST(Canary, a_burst_reads_the_clock_for_50_us_and_adds_what_is_longer) {
  const auto none = [] { return 7L; };
  CanaryFigures canary;
  ScriptedClock quiet({0_us, 10_us, 49_us, 50_us - 1_ns, 50_us, 900_us});
  canary_burst(canary, quiet, none);
  EXPECT_EQ(quiet.slept, 50_us + 10_ms);
  EXPECT_EQ(quiet.read(), 5U) << "it ends at its end";
  EXPECT_EQ(canary.watched, 50_us);
  EXPECT_EQ(canary.gaps_50us, 0U);
  // The gap at the end of each burst, and what is counted after it.
  struct Row {
    Duration gap{};
    std::uint64_t over_50us = 0;
    std::uint64_t over_1ms = 0;
    Duration longest{};
  };
  Duration watched = 50_us;
  for (const Row& row : {Row{50_us, 0, 0, {}}, Row{50_us + 1_ns, 1, 0, 50_us + 1_ns},
                         Row{1_ms, 2, 0, 1_ms}, Row{1_ms + 1_ns, 3, 1, 1_ms + 1_ns},
                         Row{80_us, 4, 1, 1_ms + 1_ns}, Row{9_ms, 5, 2, 9_ms}}) {
    ScriptedClock clock({0_us, 20_us, 20_us + row.gap});
    canary_burst(canary, clock, none);
    EXPECT_EQ(clock.slept, 20_us + row.gap + 10_ms);
    EXPECT_EQ(canary.watched, watched += 50_us);
    EXPECT_EQ(canary.gaps_50us, row.over_50us) << row.gap.ns;
    EXPECT_EQ(canary.gaps_1ms, row.over_1ms) << row.gap.ns;
    EXPECT_EQ(canary.gap_max, row.longest) << row.gap.ns;
  }
}

TEST(Canary, a_gap_in_which_its_thread_was_preempted_is_the_schedulers) {
  long preempted = 3;
  CanaryFigures canary;
  ScriptedClock clock({0_us, 9_ms});
  canary_burst(canary, clock, [&] { return preempted++; });
  EXPECT_EQ(canary.gaps_50us, 0U);
  EXPECT_EQ(canary.gap_max, 0_ns);
  EXPECT_EQ(canary.watched, 50_us);
}

Duration cpu_of_thread() {
  ThreadBooksReader reader;
  return reader.look().value_or(ThreadBooks{}).ran;
}

// Until the thread ran for this long, half of it in the kernel.
void work_for(Duration time) {
  const Duration start = cpu_of_thread();
  ASSERT_GT(start, 0_ns) << "no books";
  while (cpu_of_thread() - start < time) {
  }
}

rusage used_by_thread() {
  rusage used{};
  EXPECT_EQ(::getrusage(RUSAGE_THREAD, &used), 0);
  return used;
}

std::uint64_t preemptions_of_thread() {
  return static_cast<std::uint64_t>(used_by_thread().ru_nivcsw);
}

double cpu_by_ticks() {
  const rusage used = used_by_thread();
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// Two threads that never sleep, on one core: the scheduler has to preempt them.
TEST(ThreadWatch, its_figures_are_of_the_time_in_between_alone) {
  cpu_set_t before{};
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one{};
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> stopping{false};
  std::thread other([&] {
    while (!stopping) {
    }
  });
  const auto be_preempted = [](std::uint64_t until) {
    while (preemptions_of_thread() < until) {
    }
  };
  be_preempted(preemptions_of_thread() + 1);
  const OsClock clock;
  const double cpu_outside = cpu_by_ticks();
  const std::uint64_t outside = preemptions_of_thread();
  const Instant start_outside = clock.now();
  const ThreadWatch watch;
  const Instant start = clock.now();
  const std::uint64_t inside = preemptions_of_thread();
  const double cpu_inside = cpu_by_ticks();
  be_preempted(inside + 2);
  ThreadFigures figures;
  const double cpu = cpu_by_ticks() - cpu_inside;
  const std::uint64_t at_least = preemptions_of_thread() - inside;
  const double wall = (clock.now() - start).seconds();
  watch.finish(figures);
  const double wall_outside = (clock.now() - start_outside).seconds();
  EXPECT_GE(figures.preempted, at_least);
  EXPECT_LE(figures.preempted, preemptions_of_thread() - outside);
  EXPECT_GE(figures.cpu_share, cpu / wall_outside - 1e-9);
  EXPECT_LE(figures.cpu_share, (cpu_by_ticks() - cpu_outside) / wall + 1e-9);
  stopping = true;
  other.join();
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

// Its time in the kernel counts too.
TEST(ThreadWatch, its_share_is_the_cpu_time_of_the_thread_over_the_time_that_passed) {
  const OsClock clock;
  const Instant outer_start = clock.now();
  ThreadBooksReader reader;
  const auto waited = [&reader] { return reader.look().value_or(ThreadBooks{}).waited; };
  const Duration before = waited();
  const ThreadWatch watch;
  const Duration at_start = waited();
  work_for(80_ms);
  ThreadFigures figures{.cpu_share = -1, .run_queue_delay = Duration{-7}};
  const Duration at_end = waited();
  watch.finish(figures);
  EXPECT_GE(figures.run_queue_delay, at_end - at_start);
  EXPECT_LE(figures.run_queue_delay, waited() - before);
  const double wall = (clock.now() - outer_start).seconds();
  // The kernel brings the books of a thread up to date with each tick: up to 10 ms late.
  EXPECT_GE(figures.cpu_share * wall, 0.080 - 0.010);
  EXPECT_LE(figures.cpu_share, 1.15);
  EXPECT_LT(figures.preempted, 100'000U);
  EXPECT_LE(figures.run_queue_delay.seconds(), wall);
}

TEST(ThreadWatch, each_sleep_ends_with_a_wait_for_the_core) {
  std::array<int, 2> ask{};
  std::array<int, 2> answer{};
  ASSERT_EQ(::pipe(ask.data()) + ::pipe(answer.data()), 0);
  // The other answers when this thread sleeps, so that each answer ends a sleep.
  const std::string state = format("/proc/self/task/{}/stat", ::gettid());
  const auto asleep = [&state] {
    const std::string text = read_file(state).value_or("");
    const std::size_t at = text.rfind(") ");
    return at == std::string::npos || text[at + 2] == 'S';
  };
  std::thread other([&] {
    char byte = 0;
    while (::read(ask[0], &byte, 1) == 1) {
      while (!asleep()) std::this_thread::yield();
      EXPECT_EQ(::write(answer[1], &byte, 1), 1);
    }
  });
  ThreadBooksReader reader;
  const auto sleeps = [&reader] {
    return reader.look().value_or(ThreadBooks{}).voluntary_switches;
  };
  ThreadFigures figures;
  const ThreadWatch watch;
  const std::uint64_t before = sleeps();
  char byte = 'a';
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(::write(ask[1], &byte, 1), 1);
    EXPECT_EQ(::read(answer[0], &byte, 1), 1);  // sleeps until the other has answered
  }
  const auto slept = static_cast<std::int64_t>(sleeps() - before);
  watch.finish(figures);
  EXPECT_GE(slept, 200);
  EXPECT_GE(figures.run_queue_waits, slept);
  EXPECT_LE(figures.run_queue_waits, slept + static_cast<std::int64_t>(figures.preempted) + 20);
  ::close(ask[1]);
  other.join();
  for (const int end : {ask[0], answer[0], answer[1]}) ::close(end);
}

struct AuditedMachine : MachineFiles {
  void worked(int user, int nice, int system, int irq, int softirq) const {
    // Idle, waiting for a disk and stolen are no work, however much they grow.
    says("proc/stat", format("cpu  {} {} {} {} {} {} {} {} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n", user,
                             nice, system, 400'000 + user, 7'000 + user, irq, softirq, 9 + user));
  }
  void waited(int us) const {
    says("proc/pressure/cpu", format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"
                                     "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
                                     us));
  }
};

TEST(SelfAudit, work_of_others_is_what_the_machine_did_and_this_process_did_not) {
  AuditedMachine machine;
  machine.worked(100'000, 200, 30'000, 40, 50);
  machine.waited(2'000'000);
  machine.says("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  SelfAudit audit(SelfAudit::Canary::no, machine.root());
  machine.worked(200'000, 1'200, 40'000, 540, 150);
  machine.waited(5'000'000);
  work_for(20_ms);
  ClientAudit figures;
  audit.stop(figures);
  const double wall = figures.wall.seconds();
  ASSERT_GT(wall, 0);
  EXPECT_GE(figures.own_cpu, 0);
  const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double busy = (100'000 + 1'000 + 10'000 + 500 + 100) / ticks;
  EXPECT_NEAR((figures.foreign_cpu + figures.own_cpu) * wall, busy, 1e-6 * busy);
  EXPECT_NEAR(figures.pressure_share * wall, 3.0, 1e-6);
  EXPECT_EQ(figures.ports, 28'232U);
  EXPECT_GT(figures.descriptors_max, 0U);
}

TEST(SelfAudit, a_process_that_worked_more_than_the_machine_says_leaves_no_work_to_others) {
  AuditedMachine machine;
  machine.worked(1, 1, 1, 1, 1);
  const auto own = [] {
    rusage used{};
    EXPECT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
    return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  };
  const double before = own();
  SelfAudit audit(SelfAudit::Canary::no, machine.root());
  work_for(20_ms);
  ClientAudit figures;
  audit.stop(figures);
  EXPECT_EQ(figures.foreign_cpu, 0);
  EXPECT_GT(figures.own_cpu, 0);
  EXPECT_LE(figures.own_cpu * figures.wall.seconds(), own() - before + 1e-9);
  // The kernel brings the books up to date with each tick: 10 ms of the 20 may be missing.
  EXPECT_GE(figures.own_cpu * figures.wall.seconds(), 0.005);
}

// The kernel clears what it gives: the process's time is spent in the kernel.
TEST(SelfAudit, time_in_the_kernel_is_the_processes_own_too) {
  const auto own = [] {
    rusage used{};
    EXPECT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
    const double in_kernel = static_cast<double>(used.ru_stime.tv_sec) +
                             1e-6 * static_cast<double>(used.ru_stime.tv_usec);
    const double outside = static_cast<double>(used.ru_utime.tv_sec) +
                           1e-6 * static_cast<double>(used.ru_utime.tv_usec);
    return std::pair(outside, in_kernel);
  };
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(zeros, 0);
  std::vector<char> room(1 << 20);
  SelfAudit audit(SelfAudit::Canary::no);
  const auto before = own();
  auto after = before;
  while (after.second - before.second < 0.02) {
    ASSERT_GT(::read(zeros, room.data(), room.size()), 0);
    after = own();
  }
  ClientAudit figures;
  audit.stop(figures);
  ::close(zeros);
  const double used = after.first - before.first + after.second - before.second;
  EXPECT_GE(figures.own_cpu * figures.wall.seconds(), used - 1e-6);
}

TEST(SelfAudit, a_machine_that_has_just_begun_to_count_says_what_it_counted) {
  AuditedMachine machine;
  machine.worked(0, 0, 0, 0, 0);
  machine.waited(0);
  SelfAudit audit(SelfAudit::Canary::no, machine.root());
  machine.waited(400'000);
  ClientAudit figures;
  audit.stop(figures);
  EXPECT_NEAR(figures.pressure_share * figures.wall.seconds(), 0.4, 1e-7);
  EXPECT_EQ(figures.foreign_cpu, 0);
  // What has counted nothing has counted 0, and so has a text without its number.
  machine.waited(0);
  SelfAudit quiet(SelfAudit::Canary::no, machine.root());
  quiet.stop(figures);
  EXPECT_EQ(figures.pressure_share, 0);
  machine.says("proc/pressure/cpu", "some avg10=0.00 total=");
  SelfAudit broken(SelfAudit::Canary::no, machine.root());
  machine.waited(400'000);
  broken.stop(figures);
  EXPECT_NEAR(figures.pressure_share * figures.wall.seconds(), 0.4, 1e-7);
}

TEST(SelfAudit, what_the_system_does_not_say_is_unknown) {
  MachineFiles machine;
  const auto audited = [&] {
    SelfAudit audit(SelfAudit::Canary::no, machine.root());
    ClientAudit figures;
    audit.stop(figures);
    return figures;
  };
  const ClientAudit none = audited();
  EXPECT_LT(none.foreign_cpu, 0);
  EXPECT_LT(none.pressure_share, 0);
  EXPECT_EQ(none.ports, 0U);
  machine.says("proc/stat", "cpu 1 2 3 4 5 6\n");
  machine.says("proc/pressure/cpu", "some avg10=0.00\n");
  machine.says("proc/sys/net/ipv4/ip_local_port_range", "9 8\n");
  const ClientAudit few = audited();
  EXPECT_LT(few.foreign_cpu, 0) << "six of the seven numbers";
  machine.says("proc/stat", "cpu 1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7\n");
  EXPECT_GE(audited().foreign_cpu, 0) << "all seven";
  EXPECT_LT(few.pressure_share, 0);
  EXPECT_EQ(few.ports, 0U);
  machine.says("proc/sys/net/ipv4/ip_local_port_range", "9 9\n");
  EXPECT_EQ(audited().ports, 1U);
  for (const char* range : {"9\n", "x\n", "", "9 7\n"}) {
    machine.says("proc/sys/net/ipv4/ip_local_port_range", range);
    EXPECT_EQ(audited().ports, 0U) << range;
  }
}

TEST(SelfAudit, its_canary_watches_and_ends_with_it_asked_or_not) {
  CanaryFigures canary;
  // The canary gives way to all others: on a busy machine it may have no turn for a while.
  while (canary.watched <= Duration{}) {
    SelfAudit audit;
    work_for(2_ms);
    ClientAudit figures;
    audit.stop(figures);
    canary = figures.canary;
    EXPECT_LE(canary.watched, 50_us * (1 + figures.wall.ns / (10_ms).ns)) << "one each 10 ms";
  }
  EXPECT_LE(canary.gaps_1ms, canary.gaps_50us);
  EXPECT_LE(canary.gaps_50us, static_cast<std::uint64_t>(canary.watched.ns / (50_us).ns))
      << "a gap that is longer than a burst ends it";
  EXPECT_EQ(canary.gap_max > Duration{}, canary.gaps_50us > 0);
  { const SelfAudit never_asked; }
}

TEST(SelfAudit, without_a_canary_nothing_is_watched) {
  SelfAudit audit(SelfAudit::Canary::no);
  ClientAudit figures;
  audit.stop(figures);
  EXPECT_EQ(figures.canary.watched, Duration{});
  EXPECT_GT(figures.cores, 0);
}

}  // namespace
}  // namespace assay::host
