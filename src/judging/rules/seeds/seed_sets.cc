#include "rules/catalogue.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

void check_seed_set_consistency(const Scope& at, Out& out) {
  const PointFolder* first = nullptr;
  for (const System& system : at.tree.systems) {
    for (const Curve& curve : system.curves) {
      for (const PointFolder& point : curve.points) {
        const Json& set = point.point.at("/seed_set");
        if (!point.usable() || set.is_null()) continue;
        if (first == nullptr) first = &point;
        if (set == first->point.at("/seed_set")) continue;
        out.error(point.point.place("/seed_set"), format("seed_set is {}", said(set)),
                  format("{}, as in {}", said(first->point.at("/seed_set")), first->path));
      }
    }
  }
}

void check_seed_set_membership(const Scope& at, Out& out) {
  const Json& id = at.point->point.at("/seed_set");
  if (id.is_null() || !at.tree.seed_list_trouble.empty() || at.tree.edition.seed_sets.empty()) {
    return out.not_applicable();
  }
  if (seed_set_of(at) != nullptr) return;
  std::string all;
  for (const rulebook::SeedSet& set : at.tree.edition.seed_sets)
    all += (all.empty() ? "" : ", ") + set.id;
  out.error(at.point->point.place("/seed_set"), format("seed_set is {}", said(id)),
            "one of " + all);
}

void check_seed_runtime_match(const Scope& at, Out& out) {
  const rulebook::SeedSet* set = seed_set_of(at);
  if (set == nullptr) return out.not_applicable();
  const std::string base = "/runtime_settings/runtime";
  const auto judge = [&](std::string_view name, std::string_view legacy, std::uint64_t wanted) {
    const Json& block = at.point->point.at(base);
    const bool old =
        block.find(name) == nullptr && !legacy.empty() && block.find(legacy) != nullptr;
    const std::string_view used = old ? legacy : name;
    const Json& value = block[used];
    const Place where = at.point->point.place(pointer_to(base, used));
    if (value.is_null() || !value.is_integer() || value.as_uint() != wanted) {
      out.error(where, format("{} is {}", used, said(value)), format("{}", wanted));
    } else if (old) {
      out.warning(where, format("the seed stands under its old name {}", legacy),
                  std::string(name));
    }
  };
  judge("scheduler_rng_seed", "scheduler_random_seed", set->scheduler_rng_seed);
  judge("sample_index_rng_seed", "dataloader_random_seed", set->sample_index_rng_seed);
  judge("model_seed", "", set->model_seed);
}

void check_seed_set_adoption(const Scope& at, Out& out) {
  const rulebook::SeedSet* set = seed_set_of(at);
  const auto target = rulebook::Cohort::parse(at.point->point.at("/target_cohort").as_string());
  if (set == nullptr || !target) return out.not_applicable();
  const Place where = at.point->point.place("/target_cohort");
  if (!set->cohort) {
    out.info(where, format("the list gives set {} no cohort", set->id));
    return;
  }
  const int last = set->cohort->number + at.tree.edition.seed_adoption_cohorts - 1;
  if (target->number < set->cohort->number || target->number > last) {
    out.error(where, format("set {} for {}", set->id, target->text()),
              format("{} to {}", set->cohort->text(), rulebook::Cohort{last}.text()));
  }
}

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

void check_seed_set_registry(const Scope& at, Out& out) {
  if (!at.tree.seed_list_trouble.empty())
    out.warning({}, at.tree.seed_list_trouble, "a list of seed sets");
}

constexpr Rule kSeedSetRules[] = {
    {.id = "seed-set-consistency",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§4.6: Seed-set validity",
     .demand = "one seed set for the whole submission",
     .fix = "measure again the points of the other set",
     .check = check_seed_set_consistency},
    {.id = "seed-set-membership",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§4.6: Seed-set validity",
     .demand = "seed_set is a published one",
     .fix = "use the set of the cohort; seedset.yaml lists them",
     .check = check_seed_set_membership},
    {.id = "seed-runtime-match",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§4.6: Seed-set validity",
     .demand = "the three seeds are the set's",
     .fix = "measure again with the published seeds (they need unsigned 64 bits)",
     .check = check_seed_runtime_match},
    {.id = "seed-set-adoption",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§4.6: Seed-set validity",
     .demand = "the target cohort is one of the four for which the set may be adopted",
     .fix = "take the newest set, or an earlier cohort",
     .check = check_seed_set_adoption},
    {.id = "seed-config-legacy",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§4.6: Seed-set validity",
     .demand = "a point without a seed set has the old seeds, 42",
     .fix = "name the seed_set; measure again with its seeds",
     .check = check_seed_config_legacy},
    {.id = "seed-set-registry",
     .level = Level::tree,
     .severity = Severity::warning,
     .clause = "§4.6: Seed-set validity",
     .demand = "the list of seed sets can be read",
     .fix = "give the path of a seedset.yaml; without it the rules on seeds are not asked",
     .check = check_seed_set_registry},
};

}  // namespace

std::span<const Rule> seed_set_rules() { return kSeedSetRules; }

}  // namespace assay::rules
