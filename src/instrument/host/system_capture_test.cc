#include "host/system_capture.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/format.h"
#include "base/testing_temp_folder.h"

namespace assay::host {
namespace {

TEST(SystemCapture, ReadsWhatTheKernelSays) {
  const TempFolder folder;
  const auto put = [&](const std::string& path, std::string_view text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
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
  const Json node = capture_node(folder.path());
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
  EXPECT_EQ(capture_node(folder.path() / "nowhere").find("driver"), nullptr);
}

}  // namespace
}  // namespace assay::host
