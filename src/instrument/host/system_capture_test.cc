#include "host/system_capture.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "host/testing_machine_files.h"

namespace assay::host {
namespace {

TEST(SystemCapture, ReadsWhatTheKernelSays) {
  const MachineFiles machine;
  const auto put = [&](const std::string& path, const std::string& text) {
    machine.says(path, text);
  };
  std::string cpus;
  for (int i = 0; i < 8; ++i) {
    cpus +=
        format("processor\t: {}\nmodel name\t: Example CPU\nphysical id\t: {}\ncore id\t: {}\n\n",
               i, i / 4, i % 2);
  }
  put("proc/cpuinfo", cpus);
  put("proc/meminfo", "MemTotal:       2097152 kB\nMemFree: 1 kB\n");
  put("proc/mounts", "none /proc proc rw 0 0\n/dev/sda1 / ext4 rw 0 0\n");
  put("etc/os-release", "ID=x\nPRETTY_NAME=\"Example OS 1\"\n");
  put("proc/sys/kernel/osrelease", "6.1.0\n");
  put("sys/class/net/lo/speed", "");
  put("sys/class/net/eth0/speed", "100000\n");
  put("sys/class/net/eth0/device/vendor", "");
  for (const char* gpu : {"a", "b"}) {
    put(format("proc/driver/nvidia/gpus/{}/information", gpu), "Model: \t\t Example GPU\nIRQ: 1\n");
  }
  put("proc/driver/nvidia/version", "NVRM version: Example Module 590.10\nGCC: x\n");
  const Json node = capture_node(machine.root());
  EXPECT_EQ(node["host_processor_model_name"].as_string(), "Example CPU");
  EXPECT_EQ(node["host_processors_per_node"].as_int(), 2);
  EXPECT_EQ(node["host_processor_core_count"].as_int(), 2);
  EXPECT_EQ(node["host_processor_vcpu_count"].as_int(), 8);
  EXPECT_EQ(node["filesystem"].as_string(), "ext4");
  EXPECT_EQ(node["operating_system"].as_string(), "Example OS 1, Linux 6.1.0");
  EXPECT_EQ(node["host_network_card_count"].as_string(), "1x 100 GbE");
  EXPECT_EQ(node["accelerator_info"].size(), 1U);
  EXPECT_EQ(node["accelerator_info"][0]["accelerators_per_node"].as_int(), 2);
  EXPECT_EQ(node["driver"].as_string(), "Example Module 590.10");
  EXPECT_EQ(capture_node(machine.root() / "nowhere").find("driver"), nullptr);
}

struct Node : MachineFiles {
  Json captured() const { return capture_node(root()); }
};

TEST(SystemCapture, what_no_file_says_is_left_out) {
  const Json node = Node().captured();
  EXPECT_EQ(node.dump(), R"({"system_node_ensemble_id":0,"number_of_nodes":1})");
}

// Arm's kernels name neither sockets nor cores.
TEST(SystemCapture, a_machine_without_sockets_is_one_and_its_cores_stay_unknown) {
  Node machine;
  machine.says("proc/cpuinfo", "processor : 0\nmodel name : A\nprocessor : 1\nmodel name : B\n");
  const Json node = machine.captured();
  EXPECT_EQ(node["host_processor_model_name"].as_string(), "A") << "the first";
  EXPECT_EQ(node["host_processors_per_node"].as_int(), 1);
  EXPECT_EQ(node["host_processor_vcpu_count"].as_int(), 2);
  EXPECT_EQ(node.find("host_processor_core_count"), nullptr);
}

TEST(SystemCapture, a_machine_of_one_core_is_a_machine) {
  Node machine;
  machine.says("proc/cpuinfo", "processor:0\nmodel name:A\nphysical id:0\ncore id:0\n");
  machine.says("proc/mounts", "/dev/x / xfs\n");
  const Json node = machine.captured();
  EXPECT_EQ(node["host_processor_model_name"].as_string(), "A");
  EXPECT_EQ(node["host_processors_per_node"].as_int(), 1);
  EXPECT_EQ(node["host_processor_core_count"].as_int(), 1);
  EXPECT_EQ(node["host_processor_vcpu_count"].as_int(), 1);
  EXPECT_EQ(node["filesystem"].as_string(), "xfs");
}

TEST(SystemCapture, threads_of_one_core_count_once_and_equal_numbers_in_two_sockets_twice) {
  Node machine;
  std::string cpus;
  for (int thread = 0; thread < 12; ++thread) {
    cpus +=
        format("processor : {}\nphysical id : {}\ncore id : {}\n", thread, thread / 6, thread % 3);
  }
  machine.says("proc/cpuinfo", cpus);
  EXPECT_EQ(machine.captured()["host_processors_per_node"].as_int(), 2);
  EXPECT_EQ(machine.captured()["host_processor_core_count"].as_int(), 3);
  EXPECT_EQ(machine.captured()["host_processor_vcpu_count"].as_int(), 12);
}

TEST(SystemCapture, network_cards_are_counted_by_their_speed) {
  Node machine;
  for (const auto& [card, speed] : {std::pair{"eth0", "25000"},
                                    {"eth1", "25000"},
                                    {"ib0", "400000"},
                                    {"eth2", "-1"},
                                    {"serial0", "1"},
                                    {"eth3", "0"}}) {
    machine.says(format("sys/class/net/{}/speed", card), speed);
    machine.says(format("sys/class/net/{}/device/vendor", card), "");
  }
  machine.says("sys/class/net/docker0/speed", "10000");
  const Json node = machine.captured();
  EXPECT_EQ(node["host_network_card_count"].as_string(),
            "1x 0.00100 GbE, 2x 25.0 GbE, 1x 400 GbE, 2x speed not told");
  EXPECT_EQ(node["host_networking"].as_string(), "Ethernet");
}

TEST(SystemCapture, amds_accelerators_are_the_nodes_with_a_graphics_target) {
  Node machine;
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes";
  machine.says(nodes + "/0/name", "cpu\n");
  machine.says(nodes + "/0/gpu_id", "0\n");
  for (const char* at : {"/1", "/2"}) {
    machine.says(nodes + at + "/name", "gfx942\n");
    machine.says(nodes + at + "/gpu_id", "5\n");
  }
  machine.says(nodes + "/3/gpu_id", "6\n");
  machine.says("sys/module/amdgpu/version", "6.7.0\n");
  const Json node = machine.captured();
  ASSERT_EQ(node["accelerator_info"].size(), 1U);
  EXPECT_EQ(node["accelerator_info"][0]["accelerator_model_name"].as_string(), "AMD gfx942");
  EXPECT_EQ(node["accelerator_info"][0]["accelerators_per_node"].as_int(), 2);
  EXPECT_EQ(node["driver"].as_string(), "amdgpu 6.7.0");
}

TEST(SystemCapture, system_and_file_system_are_read_where_they_are_said) {
  Node machine;
  machine.says("etc/os-release", "PRETTY_NAME=\"Example OS 1\"\n");
  machine.says("proc/mounts", "/dev/x /\n/dev/y /home xfs rw\n");
  machine.says("proc/meminfo", "MemTotal: unknown\nMemFree: 5 kB\n");
  const Json node = machine.captured();
  EXPECT_EQ(node["operating_system"].as_string(), "Example OS 1");
  EXPECT_EQ(node.find("filesystem"), nullptr);
  EXPECT_EQ(node.find("host_memory_capacity"), nullptr);
  machine.says("proc/meminfo", "MemFree: 5 kB\nMemTotal:       2097152 kB\nSwapTotal: 9 kB\n");
  EXPECT_EQ(machine.captured()["host_memory_capacity"].as_string(), "2.15 GB");
}

}  // namespace
}  // namespace assay::host
