#include "host/machine_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "host/testing_machine_files.h"

namespace assay::host {
namespace {

struct MemoryFiles : MachineFiles {
  std::uint64_t usable() const { return usable_memory(root()); }
};

TEST(UsableMemory, is_the_machine_s_where_no_group_has_less) {
  MemoryFiles machine;
  machine.says("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(machine.usable(), 16384U * 1024);
  machine.says("proc/self/cgroup", "0::/user.slice/bench\n");
  machine.says("sys/fs/cgroup/user.slice/bench/memory.max", "max\n");
  machine.says("sys/fs/cgroup/user.slice/memory.max", "99999999999999\n");
  EXPECT_EQ(machine.usable(), 16384U * 1024);
}

TEST(UsableMemory, a_group_above_limits_too) {
  MemoryFiles machine;
  machine.says("proc/meminfo", "MemTotal:       16384 kB\n");
  machine.says("proc/self/cgroup", "0::/user.slice/bench\n");
  machine.says("sys/fs/cgroup/user.slice/bench/memory.max", "max\n");
  machine.says("sys/fs/cgroup/user.slice/memory.max", "4194304\n");
  EXPECT_EQ(machine.usable(), 4194304U);
  // Inside a container, only the host may see the path.
  machine.says("proc/self/cgroup", "0::/../../docker/abc\n");
  machine.says("sys/fs/cgroup/memory.max", "2097152\n");
  EXPECT_EQ(machine.usable(), 2097152U);
}

TEST(UsableMemory, a_group_above_limits_a_group_that_has_no_limits_of_its_own) {
  MemoryFiles machine;
  machine.says("proc/meminfo", "MemTotal:       16384 kB\n");
  machine.says("proc/self/cgroup", "0::/user.slice/bench\n");
  machine.says("sys/fs/cgroup/user.slice/memory.max", "4194304\n");
  machine.says("sys/fs/cgroup/user.slice/bench/cgroup.procs", "1\n");
  EXPECT_EQ(machine.usable(), 4194304U);
}

TEST(UsableMemory, version_1_has_a_mount_of_its_own) {
  MemoryFiles machine;
  machine.says("proc/meminfo", "MemTotal:       16384 kB\n");
  machine.says("proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/bench\n");
  machine.says("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1048576\n");
  machine.says("sys/fs/cgroup/cpu,cpuacct/bench/memory.limit_in_bytes", "5\n");
  EXPECT_EQ(machine.usable(), 1048576U);
}

TEST(UsableMemory, the_least_of_all_groups_counts_wherever_it_stands) {
  for (const bool inner : {false, true}) {
    MemoryFiles machine;
    machine.says("proc/meminfo", "MemTotal:       16384 kB\n");
    machine.says("proc/self/cgroup", "0::/a/b\n");
    machine.says("sys/fs/cgroup/a/b/memory.max", inner ? "1048576\n" : "3145728\n");
    machine.says("sys/fs/cgroup/a/memory.max", inner ? "3145728\n" : "1048576\n");
    EXPECT_EQ(machine.usable(), 1048576U);
  }
}

TEST(UsableMemory, what_cannot_be_read_bounds_nothing_and_nothing_at_all_is_0) {
  MemoryFiles machine;
  EXPECT_EQ(machine.usable(), 0U);
  machine.says("proc/meminfo", "MemFree: 5 kB\n");
  EXPECT_EQ(machine.usable(), 0U);
  machine.says("proc/meminfo", "MemTotal: some kB\n");
  EXPECT_EQ(machine.usable(), 0U);
  machine.says("proc/self/cgroup", "0::/a\n");
  machine.says("sys/fs/cgroup/a/memory.max", "2097152\n");
  EXPECT_EQ(machine.usable(), 2097152U) << "the group's, though the machine's is unknown";
}

TEST(UsableMemory, the_limit_of_the_address_space_counts_too) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit less = before;
  less.rlim_cur = rlim_t{1} << 46U;  // more than any process or sanitizer takes
  if (before.rlim_cur < less.rlim_cur) less = before;
  MemoryFiles machine;
  machine.says("proc/meminfo", "MemTotal: 137438953472 kB\n");  // 2^47 bytes
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
  EXPECT_EQ(machine.usable(), less.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
}

TEST(UsableMemory, is_known_of_this_machine) { EXPECT_GT(usable_memory("/"), 16U << 20); }

}  // namespace
}  // namespace assay::host
