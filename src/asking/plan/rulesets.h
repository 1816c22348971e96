// The rulesets that a config may name, and the seeds that each one fixes (spec, section 9.1). Data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::plan {

struct Ruleset {
  std::string_view name{};
  std::uint64_t scheduler_seed = 0;
  std::uint64_t sample_index_seed = 0;  // sample order and warm-up
};

std::optional<Ruleset> find_ruleset(std::string_view name);
std::vector<std::string_view> ruleset_names();

}  // namespace assay::plan
