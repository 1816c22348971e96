#include "rules/rule.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule seed_runtime_match() {
  return {.id = "seed-runtime-match",
          .group = "seeds",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§4.6: Seed-set validity",
          .demand = "the three seeds are the set's",
          .fix = "measure again with the published seeds (they need unsigned 64 bits)",
          .check = check_seed_runtime_match};
}

}  // namespace assay::rules
