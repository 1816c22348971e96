// What `assay simulate` and `assay twin` have in common: flags that describe a system and its load,
// and how points are printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/cli/flags.h"
#include "base/json.h"
#include "sim/scenario.h"
#include "sim/simulate.h"

namespace assay::cli {

struct SystemFlags {
  sim::Scenario scenario{};
  std::string file{};  // a scenario file, in place of the flags that describe the system
  std::int64_t gpus = 0;
  std::optional<std::int64_t> mtp{};
  std::int64_t decode_batch = 0;
  std::string acceptance{};
  std::string isl = "1024";
  std::string osl = "1024";
  std::int64_t seed = 42;  // as `assay run --run-seed`
  std::vector<std::string> catalogue{};
  bool no_prefix_cache = false;

  void add_to(Flags& flags);
  Result<sim::Scenario> resolve() const;
  Result<sim::Workload> workload() const;
  Result<sim::Catalogue> read_catalogue() const;
};

Json point_json(const sim::SimPoint& point);
std::string points_table(const std::vector<sim::SimPoint>& points);
// 4,16,64 or sweep.
Result<std::vector<std::uint32_t>> concurrency_levels(const std::string& text);

}  // namespace assay::cli
