// What a machine grants and lacks, from folders that stand for "/".
#include "host/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::host {
namespace {

using testing::HasSubstr;

class ReadinessOf : public testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) {
    const auto path = folder_.path() / file;
    ASSERT_TRUE(make_folders(path.parent_path()));
    ASSERT_TRUE(write_file_atomic(path, text));
  }
  MachineFacts facts() { return read_machine(folder_.path()); }
  TempFolder folder_;
};

Readiness judged(const MachineFacts& facts, std::string_view name) {
  const auto list = judge_machine(facts);
  const auto at = std::ranges::find(list, name, &Readiness::name);
  return at == list.end() ? Readiness{.name = "not judged"} : *at;
}

TEST_F(ReadinessOf, an_unknown_machine_is_judged_on_nothing) {
  const MachineFacts none = facts();
  EXPECT_FALSE(none.quota_cores || none.user_namespaces);
  EXPECT_EQ(none.ports, -1);
  EXPECT_LT(none.load, 0);
  EXPECT_TRUE(judge_machine(MachineFacts{}).empty());
}

TEST_F(ReadinessOf, each_fact_is_read_from_its_file) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  put("proc/sys/kernel/osrelease", "6.1.0\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  put("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n");
  put("proc/loadavg", "1.52 0.7 0.5 1/100 77\n");
  put("proc/meminfo", "MemTotal: 4194304 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n");
  put("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  put("proc/sys/user/max_user_namespaces", "100\n");
  const MachineFacts found = facts();
  EXPECT_DOUBLE_EQ(found.quota_cores.value_or(0), 1.5) << "of a group above, too";
  EXPECT_EQ(found.kernel, "6.1.0");
  EXPECT_EQ(found.governor, "powersave");
  EXPECT_EQ(found.clock_source, "hpet");
  EXPECT_EQ(found.clock_sources.size(), 3U);
  EXPECT_DOUBLE_EQ(found.load, 1.52);
  EXPECT_EQ(found.swapped_bytes, 60U * 1024);
  EXPECT_EQ(found.ports, 28'232);
  EXPECT_EQ(found.user_namespaces, true);
  put("proc/sys/kernel/unprivileged_userns_clone", "0\n");
  EXPECT_EQ(facts().user_namespaces, false);
  put("proc/sys/kernel/unprivileged_userns_clone", "1\n");
  put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
  EXPECT_EQ(facts().user_namespaces, false);
}

TEST(Readiness, what_is_weak_names_its_consequence_and_the_command) {
  struct Row {
    MachineFacts good{};
    MachineFacts weak{};
    const char* name = "";
    const char* fix = "";
  };
  const Row rows[] = {
      {{.cores = 2}, {.cores = 1}, "cores", "taskset"},
      {{.cores = 4, .load = 2}, {.cores = 4, .load = 2.1}, "other load", "top"},
      {{.governor = "performance"}, {.governor = "powersave"}, "frequency governor", "cpupower"},
      {{.clock_source = "tsc"},
       {.clock_source = "hpet", .clock_sources = {"tsc", "hpet"}},
       "clock",
       "tee /sys/devices"},
      {{.clock_source = "kvm-clock"}, {.clock_source = "acpi_pm"}, "clock", "dmesg"},
      {{.open_files = 65'536}, {.open_files = 65'535}, "open files", "ulimit"},
      {{.ports = 28'000}, {.ports = 27'999}, "ports", "ip_local_port_range"},
      {{.memory_bytes = std::uint64_t{2} << 30}, {.memory_bytes = 1 << 30}, "memory", "--memory"},
      {{.disk_bytes = 1 << 30}, {.disk_bytes = 1 << 20}, "disk", "--report-dir"},
      {{.receive_stamps = true}, {.receive_stamps = false}, "kernel's arrival stamps", "gVisor"},
      {{.settings = {{.name = "short_slice", .granted = true}}},
       {.settings = {{.name = "short_slice"}}},
       "short time slices",
       "6.12"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(judged(row.good, row.name).ready, Ready::good) << row.name;
    EXPECT_EQ(judged(row.good, row.name).fix, "") << row.name;
    const Readiness weak = judged(row.weak, row.name);
    EXPECT_EQ(weak.ready, Ready::weak) << row.name;
    EXPECT_THAT(weak.fix, HasSubstr(row.fix)) << row.name;
    EXPECT_NE(weak.what, "") << row.name;
  }
  EXPECT_EQ(judged({.quota_cores = 1.5}, "CPU quota").ready, Ready::weak);
  EXPECT_EQ(judged({.swapped_bytes = 1}, "swap").ready, Ready::weak);
  EXPECT_EQ(judged({.user_namespaces = false}, "user namespaces").ready, Ready::missing);
  EXPECT_EQ(judged({.user_namespaces = true}, "user namespaces").ready, Ready::good);
}

TEST(Readiness, a_good_line_is_short_and_a_weak_one_says_how_to_mend_it) {
  const auto list = judge_machine({.cores = 8, .ports = 10});
  const std::string text = readiness_text(list);
  EXPECT_THAT(text, HasSubstr("  good     cores  8\n"));
  EXPECT_THAT(text, HasSubstr("  weak     ports  10\n           at most 10 connections to one "
                              "address\n           mend: sudo sysctl"));
  EXPECT_EQ(readiness_json(list)[1]["ready"].as_string(), "weak");
}

}  // namespace
}  // namespace assay::host
