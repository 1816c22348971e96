#include "host/machine_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/text.h"
#include "host/control_groups.h"

namespace assay::host {
namespace {

std::optional<std::uint64_t> leading_number(std::string_view text) {
  const auto value = parse_uint(text.substr(0, text.find_first_not_of("0123456789")));
  return value ? std::optional(*value) : std::nullopt;
}

// "MemTotal:       16384 kB"
std::optional<std::uint64_t> machine_total(const std::filesystem::path& root) {
  constexpr std::string_view kName = "MemTotal:";
  const Result<std::string> text = read_file(root / "proc/meminfo");
  if (!text) return std::nullopt;
  const std::size_t at = text->find(kName);
  if (at == std::string::npos) return std::nullopt;
  const auto kib = leading_number(trim(std::string_view(*text).substr(at + kName.size())));
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

}  // namespace

std::uint64_t usable_memory(const std::filesystem::path& root) {
  constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t least = machine_total(root).value_or(kUnknown);
  const auto bound = [&least](const std::filesystem::path& file) {
    const Result<std::string> text = read_file(file);  // "max" in version 2: none
    const auto limit = text ? leading_number(*text) : std::nullopt;
    if (limit) least = std::min(least, *limit);
  };
  each_control_group(root, "memory", [&](const auto& folder) { bound(folder / "memory.max"); });
  each_control_group(root, "memory",
                     [&](const auto& folder) { bound(folder / "memory.limit_in_bytes"); });
  rlimit space{};
  static_assert(RLIM_INFINITY == kUnknown);
  if (::getrlimit(RLIMIT_AS, &space) == 0) least = std::min<std::uint64_t>(least, space.rlim_cur);
  return least == kUnknown ? 0 : least;
}

}  // namespace assay::host
