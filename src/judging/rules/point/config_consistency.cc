#include "rules/catalogue.h"

namespace assay::rules {
namespace {

// Reports an error for each usable point whose value at `pointer` differs from the first point's.
void check_same(const Scope& at, Out& out, std::string_view pointer) {
  const PointFolder* first = nullptr;
  for (const PointFolder& point : at.curve->points) {
    const Json& value = point.point.at(pointer);
    if (!point.usable() || value.is_null()) continue;
    if (first == nullptr) first = &point;
    const Json& wanted = first->point.at(pointer);
    if (value == wanted) continue;
    out.error(point.point.place(pointer), format("{} is {}", spoken(pointer), said(value)),
              format("{}, as in {}", said(wanted), first->name));
  }
}

void check_config_consistency_model(const Scope& at, Out& out) {
  check_same(at, out, "/model_name");
}

void check_config_consistency_dataset(const Scope& at, Out& out) {
  check_same(at, out, "/dataset");
}

constexpr Rule kConfigConsistencyRules[] = {
    {.id = "config-consistency-model",
     .level = Level::curve,
     .action = Action::flag,
     .clause = "§9.1: Configuration consistency",
     .demand = "all points name one model",
     .fix = "one curve is one model",
     .check = check_config_consistency_model},
    {.id = "config-consistency-dataset",
     .level = Level::curve,
     .action = Action::flag,
     .clause = "§9.1: Configuration consistency",
     .demand = "all points name one dataset",
     .fix = "one curve is one dataset",
     .check = check_config_consistency_dataset},
};

}  // namespace

std::span<const Rule> config_consistency_rules() { return kConfigConsistencyRules; }

}  // namespace assay::rules
