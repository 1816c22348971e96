// What a machine grants and lacks, from folders that stand for "/".
#include "host/readiness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "host/testing_machine_files.h"

namespace assay::host {
namespace {

using testing::HasSubstr;

class ReadinessOf : public testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) { machine_.says(file, text); }
  MachineFacts facts() { return read_machine(machine_.root()); }
  MachineFiles machine_;
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
  EXPECT_EQ(none.swapped_bytes, 0U);
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

TEST_F(ReadinessOf, the_least_quota_of_all_groups_counts) {
  put("proc/self/cgroup", "0::/a/b\n4:cpu:/old\n");
  put("sys/fs/cgroup/a/b/cpu.max", "200000  100000\n");
  put("sys/fs/cgroup/a/cpu.max", "300000\t100000\n");
  EXPECT_DOUBLE_EQ(facts().quota_cores.value_or(0), 2);
  put("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "25000\n");
  put("sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "50000\n");
  EXPECT_DOUBLE_EQ(facts().quota_cores.value_or(0), 0.5) << "version 1";
  put("sys/fs/cgroup/a/cpu.max", "1 1");
  EXPECT_DOUBLE_EQ(facts().quota_cores.value_or(0), 0.5);
  put("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "-1\n");
  EXPECT_DOUBLE_EQ(facts().quota_cores.value_or(0), 1) << "1 µs of 1 µs";
  put("sys/fs/cgroup/a/cpu.max", "300000\t100000\n");
  EXPECT_DOUBLE_EQ(facts().quota_cores.value_or(0), 2) << "-1: none";
}

TEST_F(ReadinessOf, a_quota_of_nothing_or_of_other_words_is_none) {
  put("proc/self/cgroup", "0::/a\n");
  for (const char* words : {"0 100000", "100000 0", "-1 100000", "100000 -1", "max 100000",
                            "100000", "100000 x", "1 2 3", ""}) {
    put("sys/fs/cgroup/a/cpu.max", words);
    EXPECT_FALSE(facts().quota_cores) << words;
  }
}

TEST_F(ReadinessOf, a_fact_that_the_files_do_not_say_is_unknown) {
  for (const char* range : {"5", "5 x", "-5 x", "x 5", "6 5", "1 2 3"}) {
    put("proc/sys/net/ipv4/ip_local_port_range", range);
    EXPECT_EQ(facts().ports, -1) << range;
  }
  put("proc/sys/net/ipv4/ip_local_port_range", "5 5");
  EXPECT_EQ(facts().ports, 1);
  put("proc/loadavg", "many\n");
  EXPECT_EQ(facts().load, -1);
  for (const char* memory :
       {"SwapTotal: 100 kB\nSwapFree: 100 kB\n", "SwapFree: 7 kB\n",
        "SwapTotal: x kB\nSwapFree: 1 kB\n", "SwapTotal: x kB\nSwapFree: 0 kB\n", "SwapTotal:\n"}) {
    put("proc/meminfo", memory);
    EXPECT_EQ(facts().swapped_bytes, 0U) << memory;
  }
  put("proc/meminfo", "SwapTotal: 9 kB\n");
  EXPECT_EQ(facts().swapped_bytes, 9U * 1024);
  put("proc/meminfo", "SwapFree: 4\nSwapTotal: 9\n");
  EXPECT_EQ(facts().swapped_bytes, 5U * 1024) << "the unit need not be said";
  put("proc/meminfo", "MemTotal: 4194304 kB\n");
  EXPECT_EQ(facts().memory_bytes, std::uint64_t{4} << 30U);
  put("proc/sys/user/max_user_namespaces", "0\n");
  EXPECT_EQ(facts().user_namespaces, false);
  put("proc/sys/user/max_user_namespaces", "1\n");
  EXPECT_EQ(facts().user_namespaces, true);
  put("proc/sys/user/max_user_namespaces", "?\n");
  EXPECT_FALSE(facts().user_namespaces);
}

TEST(Readiness, at_its_limit_a_fact_is_good_and_below_it_weak) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  EXPECT_EQ(judged({.memory_bytes = 2 * kGiB - 1}, "memory").ready, Ready::weak);
  EXPECT_EQ(judged({.disk_bytes = kGiB - 1}, "disk").ready, Ready::weak);
  EXPECT_EQ(judged({.ports = 0}, "ports").ready, Ready::weak);
  EXPECT_EQ(judged({.open_files = 1}, "open files").what, "at most 0 connections at once");
  EXPECT_EQ(judged({.cores = 1, .load = 0}, "other load").ready, Ready::good);
  for (const char* clock :
       {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}) {
    EXPECT_EQ(judged({.clock_source = clock}, "clock").ready, Ready::good) << clock;
  }
}

TEST(Readiness, what_is_not_known_is_not_judged) {
  EXPECT_EQ(judged({.cores = 4}, "other load").name, "not judged");
  EXPECT_EQ(judged({.load = 1}, "other load").name, "not judged") << "on how many cores?";
  EXPECT_EQ(judged({.load = 1}, "cores").name, "not judged");
  EXPECT_EQ(judged({.clock_sources = {"tsc"}}, "clock").name, "not judged");
  const MachineFacts not_asked{.settings = {{.name = "timer_slack", .asked = false}}};
  EXPECT_EQ(judged(not_asked, "exact timers").name, "not judged");
  EXPECT_TRUE(judge_machine({.settings = {{.name = "another"}}}).empty());
}

TEST(Readiness, a_whole_machine_is_judged_in_a_fixed_order) {
  const MachineFacts all{.cores = 2,
                         .quota_cores = 1.5,
                         .kernel = "6.1.0",
                         .governor = "performance",
                         .clock_source = "tsc",
                         .load = 0.25,
                         .memory_bytes = std::uint64_t{4} << 30U,
                         .swapped_bytes = 1024,
                         .ports = 30'000,
                         .user_namespaces = true,
                         .open_files = 1024,
                         .disk_bytes = std::uint64_t{5} << 30U,
                         .receive_stamps = true,
                         .settings = {{.name = "timer_slack", .granted = true, .detail = "1 ns"}}};
  std::string names;
  for (const Readiness& one : judge_machine(all)) {
    names += format("{} {}: {}\n", to_string(one.ready), one.name, one.found);
  }
  EXPECT_EQ(names,
            "good cores: 2\n"
            "weak CPU quota: 1.50 cores\n"
            "good other load: 0.250 runnable threads on 2 cores\n"
            "good frequency governor: performance\n"
            "good clock: tsc\n"
            "good exact timers: 1 ns\n"
            "good kernel: 6.1.0\n"
            "good kernel's arrival stamps: granted\n"
            "good user namespaces: granted\n"
            "weak open files: 1,024\n"
            "good ports: 30,000\n"
            "good memory: 4.29 GB\n"
            "weak swap: 1.02 kB in use\n"
            "good disk: 5.37 GB free\n");
  EXPECT_EQ(judged(all, "open files").what, "at most 992 connections at once");
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
  const Json json = readiness_json(list);
  EXPECT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["name"].as_string(), "cores");
  EXPECT_EQ(json[0]["fix"].as_string(), "");
  EXPECT_EQ(json[1]["ready"].as_string(), "weak");
  EXPECT_EQ(json[1]["found"].as_string(), "10");
  EXPECT_EQ(json[1]["what"].as_string(), list[1].what);
  EXPECT_EQ(json[1]["fix"].as_string(), list[1].fix);
  EXPECT_EQ(to_string(Ready::missing), "missing");
}

TEST(Readiness, names_of_one_width_and_no_control_characters) {
  const std::string text = readiness_text(
      {{.name = "a", .found = "1\x1b[31m"}, {Ready::missing, "longer", "2", "so", "do"}});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("  good     a       1"), 0U) << text;
  EXPECT_THAT(text, HasSubstr("  missing  longer  2\n           so\n           mend: do\n"));
}

}  // namespace
}  // namespace assay::host
