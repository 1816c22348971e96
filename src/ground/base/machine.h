// Machine: the machine's facts for the record of a result. Read them once, before or after a
// measurement, never during one. Fields that the system does not report are empty or zero.
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
  std::string virtualisation{};  // "hypervisor" where the CPU reports one
};

Machine this_machine();

}  // namespace assay
