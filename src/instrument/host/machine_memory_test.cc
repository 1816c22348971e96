#include "host/machine_memory.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::host {
namespace {

class MemoryFiles {
 public:
  void says(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder.path() / file;
    ASSERT_TRUE(make_folders(path.parent_path()));
    ASSERT_TRUE(write_file_atomic(path, text));
  }
  std::uint64_t usable() const { return usable_memory(folder.path()); }

  TempFolder folder{};
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

TEST(UsableMemory, version_1_has_a_mount_of_its_own) {
  MemoryFiles machine;
  machine.says("proc/meminfo", "MemTotal:       16384 kB\n");
  machine.says("proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/bench\n");
  machine.says("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "1048576\n");
  machine.says("sys/fs/cgroup/cpu,cpuacct/bench/memory.limit_in_bytes", "5\n");
  EXPECT_EQ(machine.usable(), 1048576U);
}

TEST(UsableMemory, is_known_of_this_machine) { EXPECT_GT(usable_memory("/"), 16U << 20); }

}  // namespace
}  // namespace assay::host
