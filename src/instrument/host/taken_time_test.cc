#include "host/taken_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "host/self_audit.h"

namespace assay::host {
namespace {

// A machine's files as the kernel shows them.
class Machine {
 public:
  void says(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder.path() / file;
    ASSERT_TRUE(make_folders(path.parent_path()));
    ASSERT_TRUE(write_file_atomic(path, text));
  }
  void stole(std::int64_t ticks) {
    says("proc/stat",
         format("cpu  100 2 30 4000 5 0 6 {} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n", ticks));
  }
  TakenTime taken() const { return read_taken_time(folder.path()); }

  TempFolder folder{};
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
  machine.says("proc/self/cgroup", "no colon\n0:\n:::\n");
  EXPECT_LT(machine.taken().stolen.ns, 0);
  EXPECT_LT(machine.taken().throttled.ns, 0);
}

TEST(SelfAudit, tells_what_was_taken_between_its_start_and_its_end) {
  Machine machine;
  machine.stole(5);
  machine.says("proc/self/cgroup", "0::/\n");
  machine.says("sys/fs/cgroup/cpu.stat", "nr_throttled 10\nthrottled_usec 1000\n");
  SelfAudit audit(SelfAudit::Canary::no, machine.folder.path());
  machine.stole(9);
  machine.says("sys/fs/cgroup/cpu.stat", "nr_throttled 12\nthrottled_usec 41000\n");
  ClientAudit figures;
  audit.stop(figures);
  EXPECT_EQ(figures.stolen, 1_s / ::sysconf(_SC_CLK_TCK) * 4);
  EXPECT_EQ(figures.stolen_step, 1_s / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(figures.throttled, 40_ms);
  EXPECT_EQ(figures.throttled_periods, 2u);
}

}  // namespace
}  // namespace assay::host
