#include "plan/curve_seeds.h"

#include "base/format.h"

namespace assay::plan {
namespace {

std::string open_to(const rulebook::Edition& edition, const rulebook::SeedSet& set) {
  if (!set.cohort) return "any cohort";
  rulebook::Cohort last = *set.cohort;
  last.number += edition.seed_adoption_cohorts - 1;
  return format("{} to {}", set.cohort->text(), last.text());
}

std::string set_names(const rulebook::Edition& edition) {
  std::string out;
  for (const rulebook::SeedSet& set : edition.seed_sets) out += (out.empty() ? "" : ", ") + set.id;
  return out;
}

}  // namespace

rulebook::Cohort next_cohort(WallTime now) {
  const std::string today = rfc3339(now).substr(0, 10);
  auto cohort = rulebook::Cohort::parse(today.substr(0, 7) + "-C0");
  if (!cohort) return {};
  // Dates are written so that they sort as text.
  while (cohort->date() <= today) ++cohort->number;
  return *cohort;
}

bool may_adopt(const rulebook::Edition& edition, const rulebook::SeedSet& set,
               rulebook::Cohort cohort) {
  if (!set.cohort) return true;
  const int later = cohort.number - set.cohort->number;
  return later >= 0 && later < edition.seed_adoption_cohorts;
}

Result<CurveSeeds> bind_seeds(const rulebook::Edition& edition, std::string_view set,
                              std::string_view cohort, WallTime now, std::string& note) {
  rulebook::Cohort target = next_cohort(now);
  if (!cohort.empty()) {
    const auto given = rulebook::Cohort::parse(cohort);
    if (!given) {
      return invalid(format("--target-cohort: '{}': written YYYY-MM-C0 or YYYY-MM-C1", cohort));
    }
    target = *given;
  }
  const rulebook::SeedSet* chosen = nullptr;
  if (!set.empty()) {
    chosen = edition.seed_set(set);
    if (chosen == nullptr) {
      return invalid(format("--seed-set: unknown set '{}'\n  one of: {}", set, set_names(edition)));
    }
    if (!may_adopt(edition, *chosen, target)) {
      return invalid(
          format("--seed-set: set {} is open to {}, and the curve is meant for {} "
                 "(--target-cohort)",
                 set, open_to(edition, *chosen), target.text()));
    }
  } else {
    for (const rulebook::SeedSet& one : edition.seed_sets) {
      if (may_adopt(edition, one, target)) chosen = &one;
    }
    if (chosen == nullptr && !edition.seed_sets.empty()) {
      chosen = &edition.seed_sets.back();
      note = format(
          "no seed set that this program knows is open to cohort {}: set {} is taken, "
          "open to {}",
          target.text(), chosen->id, open_to(edition, *chosen));
    }
  }
  CurveSeeds out{.cohort = target.text()};
  if (chosen == nullptr) {
    // Before there were sets, every seed was 42.
    constexpr std::uint64_t kBefore = 42;
    out.scheduler_rng_seed = out.sample_index_rng_seed = out.model_seed = kBefore;
    return out;
  }
  out.set = chosen->id;
  out.scheduler_rng_seed = chosen->scheduler_rng_seed;
  out.sample_index_rng_seed = chosen->sample_index_rng_seed;
  out.model_seed = chosen->model_seed;
  return out;
}

Json CurveSeeds::to_json() const {
  return Json()
      .set("seed_set", set)
      .set("target_cohort", cohort)
      .set("scheduler_rng_seed", scheduler_rng_seed)
      .set("sample_index_rng_seed", sample_index_rng_seed)
      .set("model_seed", model_seed);
}

CurveSeeds CurveSeeds::from_json(const Json& json) {
  CurveSeeds out{.set = std::string(json["seed_set"].as_string()),
                 .cohort = std::string(json["target_cohort"].as_string())};
  out.scheduler_rng_seed = json["scheduler_rng_seed"].as_uint();
  out.sample_index_rng_seed = json["sample_index_rng_seed"].as_uint();
  out.model_seed = json["model_seed"].as_uint();
  return out;
}

}  // namespace assay::plan
