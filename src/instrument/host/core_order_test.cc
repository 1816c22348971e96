#include "host/core_order.h"

#include <gmock/gmock.h>

#include "base/format.h"
#include "host/testing_machine_files.h"

namespace assay::host {
namespace {

using testing::ElementsAre;

struct CoresMachine : MachineFiles {
  void core(int number, int node, int package, int physical, int speed = 0) const {
    const std::string folder = format("sys/devices/system/cpu/cpu{}/", number);
    says(format("{}node{}/cpulist", folder, node), "");
    says(folder + "topology/physical_package_id", format("{}\n", package));
    says(folder + "topology/core_id", format("{}\n", physical));
    if (speed > 0) says(folder + "cpufreq/cpuinfo_max_freq", format("{}\n", speed));
  }
};

TEST(CoreOrder, threads_get_cores_of_their_own_before_they_share_one) {
  CoresMachine machine;
  for (int core = 0; core < 4; ++core) machine.core(core, 0, 0, core / 2);
  EXPECT_THAT(in_order_of_use({0, 1, 2, 3}, machine.root()), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(in_order_of_use({3, 1, 2}, machine.root()), ElementsAre(1, 2, 3))
      << "cores that may not be used are not siblings";
}

TEST(CoreOrder, the_node_of_the_fastest_core_comes_first_then_its_fastest_cores) {
  CoresMachine machine;
  machine.core(0, 0, 0, 0, 2'000);
  machine.core(1, 0, 0, 1, 2'000);
  machine.core(2, 1, 1, 0, 1'000);  // the same core_id in another package is another core
  machine.core(3, 1, 1, 1, 3'000);
  EXPECT_THAT(in_order_of_use({0, 1, 2, 3}, machine.root()), ElementsAre(3, 2, 0, 1));
}

TEST(CoreOrder, a_node_is_as_fast_as_its_fastest_core_wherever_that_stands) {
  for (const int fast : {2, 3, 4}) {
    CoresMachine machine;
    for (const int core : {0, 1}) machine.core(core, 0, 0, core, 2'000);
    for (const int core : {2, 3, 4}) machine.core(core, 1, 1, core, core == fast ? 3'000 : 1'000);
    std::vector<int> order{fast};
    for (const int core : {2, 3, 4}) {
      if (core != fast) order.push_back(core);
    }
    order.insert(order.end(), {0, 1});
    EXPECT_EQ(in_order_of_use({0, 1, 2, 3, 4}, machine.root()), order);
  }
}

TEST(CoreOrder, of_all_that_stands_beside_a_cores_node_nothing_is_one) {
  CoresMachine machine;
  machine.core(0, 1, 0, 0);
  machine.core(1, 0, 0, 1);
  for (const char* name : {"edge0", "edge9", "x", "abcd", "power", "cache", "node", "nodes"}) {
    for (const int core : {0, 1}) {
      machine.says(format("sys/devices/system/cpu/cpu{}/{}/f", core, name), "");
    }
  }
  EXPECT_THAT(in_order_of_use({0, 1}, machine.root()), ElementsAre(1, 0)) << "by their nodes";
}

TEST(CoreOrder, of_the_measures_of_speed_the_first_that_any_core_has_counts_for_all) {
  CoresMachine machine;
  for (const int core : {0, 1, 2}) machine.core(core, 0, 0, core, 1'000 * (1 + core));
  const auto shows = [&](int core, const char* file, const char* value) {
    machine.says(format("sys/devices/system/cpu/cpu{}/{}", core, file), value);
  };
  shows(1, "cpu_capacity", "7\n");
  EXPECT_THAT(in_order_of_use({0, 1, 2}, machine.root()), ElementsAre(1, 0, 2));
  shows(0, "acpi_cppc/highest_perf", "9\n");
  EXPECT_THAT(in_order_of_use({0, 1, 2}, machine.root()), ElementsAre(0, 1, 2));
}

TEST(CoreOrder, others_get_the_cores_that_measuring_threads_leave) {
  CoresMachine machine;
  for (int core = 0; core < 4; ++core) machine.core(core, 0, 0, core / 2);
  EXPECT_THAT(cores_left({0, 1, 2, 3}, 0, machine.root()), ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(cores_left({0, 1, 2, 3}, 1, machine.root()), ElementsAre(2, 1, 3));
  EXPECT_THAT(cores_left({0, 1, 2, 3}, 4, machine.root()), ElementsAre());
  EXPECT_THAT(cores_left({0, 1}, 5, machine.root()), ElementsAre());
}

TEST(CoreOrder, nodes_of_one_speed_are_not_mixed) {
  CoresMachine machine;
  for (int core = 0; core < 8; ++core) machine.core(core, core % 2, core % 2, core / 2 % 2);
  EXPECT_THAT(in_order_of_use({0, 1, 2, 3, 4, 5, 6, 7}, machine.root()),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

// A core for which the kernel shows less than for others.
TEST(CoreOrder, what_is_not_shown_of_a_core_counts_as_0) {
  CoresMachine nodes;
  nodes.core(0, 1, 0, 0);
  nodes.says("sys/devices/system/cpu/cpu1/topology/core_id", "1\n");
  EXPECT_THAT(in_order_of_use({0, 1}, nodes.root()), ElementsAre(1, 0)) << "its node";
  MachineFiles packages;
  packages.says("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
  for (const int core : {0, 1, 2}) {
    packages.says(format("sys/devices/system/cpu/cpu{}/topology/core_id", core),
                  core == 2 ? "1\n" : "0\n");
  }
  EXPECT_THAT(in_order_of_use({0, 1, 2}, packages.root()), ElementsAre(0, 2, 1)) << "its package";
  MachineFiles speeds;
  speeds.says("sys/devices/system/cpu/cpu0/cpu_capacity", "0\n");
  EXPECT_THAT(in_order_of_use({0, 1}, speeds.root()), ElementsAre(0, 1)) << "its speed";
}

TEST(CoreOrder, a_machine_that_shows_nothing_keeps_the_numbers_in_order) {
  MachineFiles machine;
  EXPECT_THAT(in_order_of_use({4, 0, 2}, machine.root()), ElementsAre(0, 2, 4));
  machine.says("sys/devices/system/cpu/cpu0/topology/core_id", "many\n");
  machine.says("sys/devices/system/cpu/cpu0/nodeless/x", "");
  EXPECT_THAT(in_order_of_use({2, 0}, machine.root()), ElementsAre(0, 2));
  EXPECT_THAT(in_order_of_use({}, machine.root()), ElementsAre());
}

}  // namespace
}  // namespace assay::host
