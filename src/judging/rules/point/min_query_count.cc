#include <algorithm>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_min_query_count(const Scope& at, Out& out) {
  const std::string_view dataset = at.point->point.at("/dataset").as_string();
  const std::int64_t table = at.tree.edition.samples_of(dataset);
  if (table == 0 || !at.point->metrics.completed) return out.not_applicable();
  // The working group may approve a subset for the lowest region.
  const Json& subset = at.point->point.at("/n_samples_from_dataset");
  const bool approved = subset.is_number() && at.curve->ultra_low(*at.point);
  const std::int64_t least = approved ? std::min(table, subset.as_int()) : table;
  if (*at.point->metrics.completed < least) {
    out.error(at.point->summary.place("/n_samples_completed"),
              format("{} samples completed", *at.point->metrics.completed),
              format("{} or more: one pass over {}", least, dataset));
  }
}

}  // namespace

Rule min_query_count() {
  return {.id = "min-query-count",
          .group = "point",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§6.4: Minimum query count",
          .demand = "as many samples completed as the dataset has",
          .fix = "issue whole passes over the dataset",
          .check = check_min_query_count};
}

}  // namespace assay::rules
