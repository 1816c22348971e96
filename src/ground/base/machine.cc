#include "base/machine.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include "base/files.h"
#include "base/format.h"
#include "base/latency_profile.h"
#include "base/text.h"

namespace assay {
namespace {

// The value of the first line that starts with `key`, behind `separator`, without quotes.
std::string value_of(std::string_view text, std::string_view key, char separator) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string_view::npos) continue;
    std::string_view value = trim(line.substr(at + 1));
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

}  // namespace

Machine this_machine() {
  Machine machine{.cores = static_cast<int>(usable_cores().size())};
  utsname name{};
  if (::uname(&name) == 0) {
    machine.host = name.nodename;
    machine.kernel = format("{} {}", name.sysname, name.release);
  }
  struct sysinfo info {};
  if (::sysinfo(&info) == 0) {
    machine.memory_bytes = std::uint64_t{info.totalram} * info.mem_unit;
  }
  if (const auto text = read_file("/etc/os-release")) {
    machine.system = value_of(*text, "PRETTY_NAME", '=');
  }
  if (const auto text = read_file("/proc/cpuinfo")) {
    machine.cpu = value_of(*text, "model name", ':');
    const std::string flags = " " + value_of(*text, "flags", ':') + " ";
    if (flags.find(" hypervisor ") != std::string::npos) machine.virtualisation = "hypervisor";
  }
  return machine;
}

}  // namespace assay
