#include "rules/rule.h"

namespace assay::rules {
namespace {

double least_duration_s(const Scope& at) {
  if (at.point->concurrency <= rulebook::kUltraLowMax) return at.tree.edition.ulc_duration_s;
  return at.curve->agentic ? at.tree.edition.agentic_duration_s : at.tree.edition.duration_s;
}

void check_point_duration(const Scope& at, Out& out) {
  const double least = least_duration_s(at);
  const std::string_view pointer = "/steady_state/window/duration_s";
  const Json& window = at.point->point.at(pointer);
  const double run = at.point->metrics.duration_ns.value_or(0) / 1e9;
  if (run <= 0 && !window.is_number()) return out.not_applicable();
  const double span = window.is_number() ? window.as_double() : run;
  if (span < least) {
    out.warning(window.is_number() ? at.point->point.place(pointer)
                                   : at.point->summary.place("/duration_ns"),
                format("{} of {:.1f} s", window.is_number() ? "a window" : "a run", span),
                format("{} s or more", least));
  }
}

}  // namespace

Rule point_duration() {
  return {.id = "point-duration",
          .group = "point",
          .level = Level::point,
          .needs = Needs::measured_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§6.2: Run duration",
          .demand = "the steady-state window, or the run, is as long as its region asks",
          .fix = "size the run to whole passes and to the duration; `assay curve` does",
          .check = check_point_duration};
}

}  // namespace assay::rules
