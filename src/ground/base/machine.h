// What machine this is, for the record of a result: read once, before or after a measurement, never
// during one. Fields that the system does not tell are empty or zero.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

struct Machine {
  std::string host{};
  std::string system{};  // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel{};  // "Linux 6.1.0-18-amd64"
  std::string cpu{};     // model name
  int cores = 0;         // that this process may use
  std::uint64_t memory_bytes = 0;
  std::string virtualisation{};  // "hypervisor" where the CPU says that there is one
};

Machine this_machine();

}  // namespace assay
