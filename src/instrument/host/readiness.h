// Readiness: what this machine grants for measuring and what it lacks, each with what follows and
// the command that mends it. `assay doctor` prints it. A run does not need it: a run records what
// it was granted and judges its own client.
//
//   good     granted
//   weak     a measurement works, and may be worse for it
//   missing  a part of Assay does not work here
//
// Reading (read_machine) and judging (judge_machine) are apart, so that each rule has a test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/latency_profile.h"

namespace assay::host {

struct MachineFacts {
  int cores = 0;                             // that this process may use
  std::optional<double> quota_cores{};       // of its control groups; absent: none
  std::string kernel{};                      // "6.1.0-18-amd64"
  std::string governor{};                    // of the first core; "" where there is none
  std::string clock_source{};                // "tsc"
  std::vector<std::string> clock_sources{};  // that there are
  double load = -1;                          // runnable threads over the last minute; < 0: unknown
  std::uint64_t memory_bytes = 0;            // usable; 0: unknown
  std::uint64_t swapped_bytes = 0;           // of the machine, in use
  std::int64_t ports = -1;                   // of net.ipv4.ip_local_port_range; < 0: unknown
  std::optional<bool> user_namespaces{};     // the jail for scored code needs them
  std::uint64_t open_files = 0;              // the hard limit
  std::uint64_t disk_bytes = 0;              // free where runs are written; 0: unknown
  std::optional<bool> receive_stamps{};      // the kernel stamps what arrives
  std::vector<LatencySetting> settings{};    // what LatencyProfile was granted
};

// `root` stands for "/": tests have their own. Fills what can be read below it; the rest
// (open_files, disk_bytes, receive_stamps, settings, cores) is the caller's.
MachineFacts read_machine(const std::filesystem::path& root);

enum class Ready : std::uint8_t { good, weak, missing };
std::string_view to_string(Ready ready);

struct Readiness {
  Ready ready = Ready::good;
  std::string name{};   // "open files"
  std::string found{};  // "1,024"
  std::string what{};   // what follows; "" for good
  std::string fix{};    // a command, or what to change; "" for good
};

// In a fixed order, one for each fact that is known.
std::vector<Readiness> judge_machine(const MachineFacts& facts);
// One line for each good one; consequence and command below each other one.
std::string readiness_text(const std::vector<Readiness>& list);
Json readiness_json(const std::vector<Readiness>& list);

}  // namespace assay::host
