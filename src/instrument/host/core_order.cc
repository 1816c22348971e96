#include "host/core_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::host {
namespace {

struct Core {
  int number = 0;
  std::int64_t node = 0;
  std::int64_t package = 0;
  std::int64_t physical = 0;
  std::int64_t speed = 0;    // in any unit; higher is faster
  std::int64_t sibling = 0;  // how many of the same physical core come before it
};

std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file);
  const auto value = text ? parse_int(*text) : Result<std::int64_t>(Error{});
  return value ? std::optional(*value) : std::nullopt;
}

// cpuN/node1 is a link to the memory node of that core.
std::int64_t node_of(const std::filesystem::path& folder) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("node")) continue;
    if (const auto node = parse_int(std::string_view(name).substr(4))) return *node;
  }
  return 0;
}

}  // namespace

std::vector<int> in_order_of_use(std::vector<int> cores, const std::filesystem::path& root) {
  const auto folder_of = [&](int core) {
    return root / format("sys/devices/system/cpu/cpu{}", core);
  };
  std::vector<Core> all;
  for (const int core : cores) {
    const auto topology = folder_of(core) / "topology";
    all.push_back({.number = core,
                   .node = node_of(folder_of(core)),
                   .package = number_in(topology / "physical_package_id").value_or(0),
                   .physical = number_in(topology / "core_id").value_or(core)});
  }
  for (const std::string_view measure :
       {"acpi_cppc/highest_perf", "cpu_capacity", "cpufreq/cpuinfo_max_freq"}) {
    bool known = false;
    for (Core& core : all) {
      const auto speed = number_in(folder_of(core.number) / measure);
      core.speed = speed.value_or(0);
      known = known || speed.has_value();
    }
    if (known) break;
  }
  // A node is as fast as its fastest core.
  std::map<std::int64_t, std::int64_t> fastest;
  for (const Core& core : all) {
    std::int64_t& speed = fastest[core.node];
    speed = std::max(speed, core.speed);
  }
  std::ranges::sort(all, {}, &Core::number);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
  for (Core& core : all) core.sibling = seen[{core.package, core.physical}]++;
  std::ranges::stable_sort(all, {}, [&](const Core& core) {
    return std::tuple(core.sibling, -fastest[core.node], core.node, -core.speed);
  });
  cores.clear();
  for (const Core& core : all) cores.push_back(core.number);
  return cores;
}

std::vector<int> cores_left(std::vector<int> cores, std::size_t threads,
                            const std::filesystem::path& root) {
  cores = in_order_of_use(std::move(cores), root);
  cores.erase(cores.begin(),
              cores.begin() + static_cast<std::ptrdiff_t>(std::min(threads, cores.size())));
  return cores;
}

}  // namespace assay::host
