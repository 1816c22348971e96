#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_min_query_count(const Scope& at, Out& out) {
  const std::string_view dataset = at.point->point.at("/dataset").as_string();
  const std::int64_t table = at.tree.edition.samples_of(dataset);
  if (table == 0 || !at.point->metrics.completed) return out.not_applicable();
  if (*at.point->metrics.completed >= table) return;
  // §6.4 lets the working group approve a subset for Ultra Low; the official checker knows none.
  const bool subset =
      at.point->point.at("/n_samples_from_dataset").is_number() && at.curve->ultra_low(*at.point);
  out.error(at.point->summary.place("/n_samples_completed"),
            format("{} samples completed", *at.point->metrics.completed),
            format("{} or more: one pass over {}{}", table, dataset,
                   subset ? "; an approved subset is not known to the official checker" : ""));
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
