#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_accounting(const Scope& at, Out& out) {
  const Metrics& m = at.point->metrics;
  const std::int64_t issued = m.issued.value_or(0);
  const std::int64_t ended = m.completed.value_or(0) + m.failed.value_or(0);
  if (issued > 0 && ended != issued) {
    out.error(at.point->summary.place("/n_samples_issued"),
              format("{} issued, {} completed, {} failed", issued, m.completed.value_or(0),
                     m.failed.value_or(0)),
              "as many ended as were issued");
  }
}

}  // namespace

Rule metric_consistency_accounting() {
  return {.id = "metric-consistency-accounting",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "issued = completed + failed",
          .fix = "never retry silently: every query ends as completed or as failed",
          .check = check_metric_consistency_accounting};
}

}  // namespace assay::rules
