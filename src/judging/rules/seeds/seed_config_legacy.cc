#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_seed_config_legacy(const Scope& at, Out& out) {
  if (!at.point->point.at("/seed_set").is_null()) return out.not_applicable();
  constexpr std::uint64_t kOld = 42;
  bool old = true;
  for (const auto& [name, value] : at.point->point.at("/runtime_settings/runtime").members()) {
    if (name.find("seed") != std::string::npos && value.as_uint() != kOld) {
      old = false;
      out.error(at.point->point.place("/runtime_settings/runtime/" + name),
                format("no seed_set, and {} is {}", name, said(value)), "a published set, or 42");
    }
  }
  if (old && !at.tree.edition.seed_sets.empty()) {
    out.warning(at.point->point.place("/seed_set"), "no seed_set: the seeds of v0.7",
                "a published set");
  }
}

}  // namespace

Rule seed_config_legacy() {
  return {.id = "seed-config-legacy",
          .group = "seeds",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§4.6: Seed-set validity",
          .demand = "a point without a seed set has the old seeds, 42",
          .fix = "name the seed_set; measure again with its seeds",
          .check = check_seed_config_legacy};
}

}  // namespace assay::rules
