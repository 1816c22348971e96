#include "meter/machine_source.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "meter/command_source.h"
#include "meter/nvml_source.h"

namespace assay::meter {
namespace {

void put(const std::filesystem::path& file, std::string_view text) {
  ASSERT_TRUE(make_folders(file.parent_path()));
  ASSERT_TRUE(write_file_atomic(file, text));
}

// One of intel-rapl's folders, as the kernel has them.
void put_zone(const std::filesystem::path& folder, std::string_view name, std::uint64_t energy,
              std::uint64_t range) {
  put(folder / "name", std::string(name) + "\n");
  put(folder / "energy_uj", std::to_string(energy) + "\n");
  put(folder / "max_energy_range_uj", std::to_string(range) + "\n");
}

double value_of(const std::vector<SourceReading>& readings, std::string_view zone) {
  for (const observe::PrometheusSample& sample : readings.back().samples) {
    if (observe::label_of(sample.labels, "zone") == zone) return sample.value;
  }
  return -1;
}

TEST(RaplSource, a_counter_that_wraps_goes_on_and_each_zone_keeps_its_own) {
  const TempFolder tree;
  const std::filesystem::path package = tree.path() / "intel-rapl:0";
  const std::filesystem::path memory = tree.path() / "intel-rapl:0:1";
  put_zone(package, "package-0", 262'000'000'000, 262'143'328'850);
  put_zone(memory, "dram", 5'000'000, 65'532'610'987);
  put(tree.path() / "dtpm/name", "other");
  const SimClock clock;
  const auto source = rapl_source(tree.path(), 1_s);
  ASSERT_TRUE(source);
  const auto first = (*source)->read(clock);
  ASSERT_TRUE(first);
  EXPECT_DOUBLE_EQ(value_of(*first, "package"), 262'000);
  EXPECT_DOUBLE_EQ(value_of(*first, "dram"), 5);
  put(package / "energy_uj", "1000000\n");
  put(memory / "energy_uj", "6000000\n");
  const auto second = (*source)->read(clock);
  ASSERT_TRUE(second);
  EXPECT_DOUBLE_EQ(value_of(*second, "package"), 262'144.32885);
  EXPECT_DOUBLE_EQ(value_of(*second, "dram"), 6);
}

TEST(RaplSource, a_machine_without_counters_and_a_counter_that_cannot_be_read_are_errors) {
  const TempFolder tree;
  const SimClock clock;
  EXPECT_FALSE(rapl_source(tree.path(), 1_s));
  EXPECT_FALSE(rapl_source(tree.path() / "none", 1_s));
  put(tree.path() / "intel-rapl:0/name", "package-0");
  const auto source = rapl_source(tree.path(), 1_s);
  ASSERT_TRUE(source);
  const auto read = (*source)->read(clock);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("energy_uj"), std::string::npos);
}

TEST(HostSource, busy_time_is_without_waiting_and_stealing) {
  const TempFolder tree;
  put(tree.path() / "proc/stat", "cpu  100 20 30 9000 500 6 4 70 11 0\ncpu0 1 1 1 1\n");
  put(tree.path() / "proc/net/snmp",
      "Ip: Forwarding\nIp: 1\nTcp: RtoMin RetransSegs InErrs\nTcp: 200 42 0\n");
  const SimClock clock;
  const auto source = host_source(tree.path(), 1_s);
  const auto read = (*source)->read(clock);
  ASSERT_TRUE(read);
  const auto& samples = read->back().samples;
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_DOUBLE_EQ(samples[0].value, 1.6);
  EXPECT_DOUBLE_EQ(samples[1].value, 0.7);
  EXPECT_EQ(samples[2].value, 42);
  put(tree.path() / "proc/stat", "intr 1\n");
  EXPECT_FALSE((*source)->read(clock));
}

TEST(CommandSource, each_line_is_a_value_at_its_own_instant_and_the_end_is_an_error) {
  const OsClock clock;
  const auto source = command_source(
      "printf '%s\\n' '{\"ts\":1000.5,\"value\":400,\"label\":\"a\"}' 'no json' '{\"value\":\"x\"}'"
      " '{\"ts\":\"x\",\"value\":1}' '{\"value\":7,\"kind\":\"energy\"}'; printf '{\"value\": 9'",
      1_s, 900_s);
  ASSERT_TRUE(source);
  std::vector<SourceReading> all;
  for (;;) {
    const auto read = (*source)->read(clock);
    if (!read) {
      EXPECT_EQ(read.error().message, "the meter's command has ended");
      break;
    }
    all.insert(all.end(), read->begin(), read->end());
  }
  ASSERT_EQ(all.size(), 2U);  // a line without its end is none
  EXPECT_EQ(all[0].at, (Instant{100'500'000'000}));
  EXPECT_EQ(all[0].samples[0].name, "meter_power_watts");
  EXPECT_EQ(all[0].samples[0].value, 400);
  EXPECT_EQ(observe::label_of(all[0].samples[0].labels, "label"), "a");
  EXPECT_EQ(all[1].samples[0].name, "meter_energy_joules_total");
  EXPECT_EQ((*source)->unreadable(), 3U);
}

TEST(CommandSource, a_command_that_goes_on_is_ended_with_its_source) {
  const TempFolder folder;
  const std::string ended = (folder.path() / "ended").string();
  const OsClock clock;
  {
    const auto source = command_source(
        "trap 'echo x > " + ended + "; exit 0' TERM; echo '{\"value\":1}'; while :; do :; done",
        1_s, {});
    ASSERT_TRUE(source);
    for (bool begun = false; !begun;) {  // the trap stands before the line is printed
      const auto read = (*source)->read(clock);
      ASSERT_TRUE(read);
      begun = !read->empty();
    }
  }
  EXPECT_TRUE(std::filesystem::exists(ended));
}

TEST(NvmlSource, a_machine_without_the_library_is_an_error_that_names_it) {
  const auto none = nvml_source("/nowhere/libnvidia-ml.so.1", {}, 1_s);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
  const auto other = nvml_source("libc.so.6", {}, 1_s);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "libc.so.6: it lacks functions that every NVML has");
}

}  // namespace
}  // namespace assay::meter
