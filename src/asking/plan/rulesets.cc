#include "plan/rulesets.h"

#include <array>

namespace assay::plan {
namespace {

constexpr std::array<Ruleset, 5> kRulesets{{
    {"mlperf-inference-v5.1", 18209322760996052031U, 14771362308971278857U},
    {"mlperf-inference-v6.1", 16159082839903944936U, 2747215439041700203U},
    {"mlcommons-current", 16159082839903944936U, 2747215439041700203U},
    {"mlperf-edge-v0.1", 42, 42},
    {"mlperf-edge-current", 42, 42},
}};

}  // namespace

std::optional<Ruleset> find_ruleset(std::string_view name) {
  for (const Ruleset& ruleset : kRulesets) {
    if (ruleset.name == name) return ruleset;
  }
  return std::nullopt;
}

std::vector<std::string_view> ruleset_names() {
  std::vector<std::string_view> names;
  for (const Ruleset& ruleset : kRulesets) names.push_back(ruleset.name);
  return names;
}

}  // namespace assay::plan
