// The words about drawn machines, each fact at a limit or beside it.
#include <gtest/gtest.h>

#include "base/format.h"
#include "base/testing_drawn.h"
#include "base/testing_golden.h"
#include "host/readiness.h"

namespace assay::host {
namespace {

class DrawnMachine : Drawn {
 public:
  using Drawn::Drawn;

  MachineFacts facts() {
    MachineFacts out;
    out.cores = pick<int>({0, 1, 2, 16});
    if (one_in(3)) out.quota_cores = pick<double>({0.5, 3});
    if (one_in(2)) out.kernel = "6.1.0";
    out.governor = pick<const char*>({"", "performance", "powersave"});
    out.clock_source = pick<const char*>(
        {"", "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "hpet"});
    out.clock_sources = pick<std::vector<std::string>>({{}, {"hpet"}, {"hpet", "tsc"}});
    out.load = pick<double>({-1, 0, 0.5, 0.51, 1, 1.01, 8, 8.1});
    out.memory_bytes = pick<std::uint64_t>({0, 1, (2ULL << 30) - 1, 2ULL << 30});
    out.swapped_bytes = pick<std::uint64_t>({0, 0, 4096});
    out.ports = pick<std::int64_t>({-1, 0, 27'999, 28'000});
    if (one_in(2)) out.user_namespaces = one_in(2);
    out.open_files = pick<std::uint64_t>({0, 31, 33, 65'535, 65'536});
    out.disk_bytes = pick<std::uint64_t>({0, 1, (1ULL << 30) - 1, 1ULL << 30});
    if (one_in(2)) out.receive_stamps = one_in(2);
    for (const char* const name :
         {"cpu_wake_latency", "timer_slack", "short_slice", "descriptors"}) {
      if (one_in(2)) continue;
      out.settings.push_back({.name = name, .asked = !one_in(3), .granted = one_in(2)});
      out.settings.back().detail = out.settings.back().granted ? "in force" : "refused";
    }
    return out;
  }
};

TEST(ReadinessTable, what_is_said_of_drawn_machines_is_what_was_read) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Readiness> found = judge_machine(DrawnMachine(seed).facts());
    table += format("{}:\n{}", seed, readiness_text(found));
    if (seed <= 2) table += readiness_json(found).dump() + "\n";
  }
  expect_golden("host/readiness.txt", table);
}

}  // namespace
}  // namespace assay::host
