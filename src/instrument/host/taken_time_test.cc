#include "host/taken_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/format.h"
#include "host/self_audit.h"
#include "host/testing_machine_files.h"

namespace assay::host {
namespace {

struct Machine : MachineFiles {
  void stole(std::int64_t ticks) const {
    says("proc/stat",
         format("cpu  100 2 30 4000 5 0 6 {} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n", ticks));
  }
  TakenTime taken() const { return read_taken_time(root()); }
};

TEST(TakenTime, steal_is_the_eighth_number_of_the_machine_s_line) {
  Machine machine;
  machine.stole(7);
  EXPECT_EQ(machine.taken().stolen, 1_s / ::sysconf(_SC_CLK_TCK) * 7);
  EXPECT_LT(machine.taken().throttled.ns, 0);
}

TEST(TakenTime, version_2_counts_microseconds_and_a_group_above_throttles_too) {
  Machine machine;
  machine.says("proc/self/cgroup", "0::/user.slice/bench\n");
  machine.says("sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  machine.says("sys/fs/cgroup/user.slice/cpu.stat", "nr_throttled 2\nthrottled_usec 3000\n");
  machine.says("sys/fs/cgroup/user.slice/bench/cpu.stat", "nr_throttled 1\nthrottled_usec 500\n");
  EXPECT_EQ(machine.taken().throttled, 3500_us);
  EXPECT_EQ(machine.taken().throttled_periods, 3u);
}

TEST(TakenTime, version_1_counts_nanoseconds) {
  Machine machine;
  machine.says("proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/bench\n");
  machine.says("sys/fs/cgroup/cpu,cpuacct/bench/cpu.stat", "nr_throttled 4\nthrottled_time 900\n");
  EXPECT_EQ(machine.taken().throttled, 900_ns);
  EXPECT_EQ(machine.taken().throttled_periods, 4u);
}

TEST(TakenTime, a_path_that_only_the_host_sees_is_the_container_s_root) {
  Machine machine;
  machine.says("proc/self/cgroup", "0::/../../docker/abc\n");
  machine.says("sys/fs/cgroup/cpu.stat", "nr_throttled 1\nthrottled_usec 70\n");
  EXPECT_EQ(machine.taken().throttled, 70_us);
}

TEST(TakenTime, files_that_are_missing_or_damaged_say_nothing) {
  Machine machine;
  EXPECT_LT(machine.taken().stolen.ns, 0);
  machine.says("proc/stat", "cpu 1 2 x\n");
  machine.says("proc/self/cgroup", "no colon\n0:\n0::\n:::\n");
  EXPECT_LT(machine.taken().stolen.ns, 0);
  EXPECT_LT(machine.taken().throttled.ns, 0);
}

TEST(TakenTime, a_line_without_the_eighth_number_says_nothing) {
  Machine machine;
  machine.says("proc/stat", "cpu 1 2 3 4 5 6 7\n");
  EXPECT_LT(machine.taken().stolen.ns, 0);
  machine.says("proc/stat", "cpu 1 2 3 4 5 6 7 0\n");
  EXPECT_EQ(machine.taken().stolen, 0_ns);
  machine.says("proc/stat", "cpu 1 2 3 4 5 6 7 8x\n");
  EXPECT_LT(machine.taken().stolen.ns, 0);
}

TEST(TakenTime, a_group_that_never_was_throttled_says_0_and_not_unknown) {
  Machine machine;
  machine.says("proc/self/cgroup", "0::/a\n");
  machine.says("sys/fs/cgroup/a/cpu.stat",
               "usage_usec 7\nnr_periods 9\nnr_throttled 0\nthrottled_usec 0\n");
  EXPECT_EQ(machine.taken().throttled, 0_ns);
  EXPECT_EQ(machine.taken().throttled_periods, 0U);
  machine.says("sys/fs/cgroup/a/cpu.stat", "nr_throttled\nthrottled_usec 1 2\n");
  EXPECT_LT(machine.taken().throttled.ns, 0) << "lines of other than two words";
}

TEST(TakenTime, a_difference_needs_two_readings_and_a_counter_that_grows) {
  const TakenTime before{.stolen = 10_ms, .throttled = 20_ms, .throttled_periods = 4};
  const TakenTime after{.stolen = 13_ms, .throttled = 25_ms, .throttled_periods = 6};
  const TakenTime both = taken_between(before, after);
  EXPECT_EQ(both.stolen, 3_ms);
  EXPECT_EQ(both.throttled, 5_ms);
  EXPECT_EQ(both.throttled_periods, 2U);
  const TakenTime none = taken_between(before, before);
  EXPECT_EQ(none.stolen, 0_ns);
  EXPECT_EQ(none.throttled, 0_ns);
  EXPECT_EQ(none.throttled_periods, 0U);
  const TakenTime back = taken_between(after, before);  // another group, or a machine that moved
  EXPECT_LT(back.stolen.ns, 0);
  EXPECT_LT(back.throttled.ns, 0);
  EXPECT_EQ(back.throttled_periods, 0U);
  EXPECT_LT(taken_between({}, after).stolen.ns, 0);
  EXPECT_LT(taken_between(before, {}).throttled.ns, 0);
  const TakenTime zero{.stolen = 0_ns, .throttled = 0_ns};
  EXPECT_EQ(taken_between(zero, before).stolen, 10_ms);
}

TEST(ControlGroups, every_way_to_mount_them_is_found) {
  struct Row {
    const char* groups;
    const char* folder;
    const char* why;
  };
  for (const Row& row :
       {Row{"0::/a\n", "sys/fs/cgroup/a", "version 2"},
        Row{"9:memory:/m\n0::/a\n", "sys/fs/cgroup/unified/a", "version 2 beside version 1"},
        Row{"4:cpu,cpuacct:/a\n", "sys/fs/cgroup/cpu,cpuacct/a", "by the line's whole name"},
        Row{"4:cpuacct,cpu:/a\n", "sys/fs/cgroup/cpu/a", "by the controller's name"},
        Row{"4:cpu:/a\n", "sys/fs/cgroup/cpu/a", "alone"}}) {
    Machine machine;
    machine.says("proc/self/cgroup", row.groups);
    machine.says(format("{}/cpu.stat", row.folder), "throttled_time 7000\n");
    EXPECT_EQ(machine.taken().throttled, 7_us) << row.why;
  }
  Machine other;
  other.says("proc/self/cgroup", "4:cpuset:/a\n");
  other.says("sys/fs/cgroup/cpuset/a/cpu.stat", "throttled_time 7000\n");
  EXPECT_LT(other.taken().throttled.ns, 0) << "of another controller";
}

TEST(ControlGroups, a_line_without_a_path_is_passed_over_and_each_folder_is_visited_once) {
  for (const char* groups : {"0::/\n", "0::/.\n", "no colon\n0:\n0::/\n", "0:\n0::/a/..\n"}) {
    Machine machine;
    machine.says("proc/self/cgroup", groups);
    machine.says("sys/fs/cgroup/cpu.stat", "throttled_usec 70\n");
    EXPECT_EQ(machine.taken().throttled, 70_us) << groups;
  }
  Machine none;
  none.says("proc/self/cgroup", "no colon\n0:\n");
  none.says("sys/fs/cgroup/cpu.stat", "throttled_usec 70\n");
  EXPECT_LT(none.taken().throttled.ns, 0);
}

TEST(SelfAudit, tells_what_was_taken_between_its_start_and_its_end) {
  Machine machine;
  machine.stole(5);
  machine.says("proc/self/cgroup", "0::/\n");
  machine.says("sys/fs/cgroup/cpu.stat", "nr_throttled 10\nthrottled_usec 1000\n");
  SelfAudit audit(SelfAudit::Canary::no, machine.root());
  machine.stole(9);
  machine.says("sys/fs/cgroup/cpu.stat", "nr_throttled 12\nthrottled_usec 41000\n");
  ClientAudit figures;
  figures.stolen_step = {};
  audit.stop(figures);
  EXPECT_EQ(figures.stolen, 1_s / ::sysconf(_SC_CLK_TCK) * 4);
  EXPECT_EQ(figures.stolen_step, 1_s / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(figures.throttled, 40_ms);
  EXPECT_EQ(figures.throttled_periods, 2u);
}

}  // namespace
}  // namespace assay::host
