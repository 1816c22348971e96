#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_whole_passes(const Scope& at, Out& out) {
  const std::string_view dataset = at.point->point.at("/dataset").as_string();
  std::int64_t pass = at.tree.edition.samples_of(dataset);
  const Json& subset = at.point->point.at("/n_samples_from_dataset");
  if (subset.is_number() && at.curve->ultra_low(*at.point)) pass = subset.as_int();
  const std::int64_t issued = at.point->metrics.issued.value_or(0);
  if (pass <= 0 || issued < pass) return out.not_applicable();
  if (issued % pass != 0) {
    out.warning(at.point->summary.place("/n_samples_issued"),
                format("{} samples issued: {:.2f} passes", issued,
                       static_cast<double>(issued) / static_cast<double>(pass)),
                format("a multiple of {}", pass));
  }
}

}  // namespace

Rule whole_passes() {
  return {.id = "whole-passes",
          .group = "point",
          .level = Level::point,
          .needs = Needs::measured_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§6.4: Minimum query count",
          .demand = "the samples issued are whole passes over the dataset",
          .fix = "stop by passes, not by time: n_samples_to_issue = k times the dataset's size",
          .check = check_whole_passes};
}

}  // namespace assay::rules
