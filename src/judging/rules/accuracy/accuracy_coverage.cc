#include <algorithm>

#include "rules/accuracy/bands.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_coverage(const Scope& at, Out& out) {
  if (!any_accuracy(at.tree)) return out.not_applicable();
  for (const AccuracyBand& band : accuracy_bands(*at.curve).bands) {
    // Another rule reports a band without points.
    if (band.points.empty() || !band.runs.empty()) continue;
    const auto free = [](const PointFolder* point) { return !point->accuracy.scored(); };
    const auto at_point = std::ranges::find_if(band.points, free);
    out.error({at.curve->path}, format("no accuracy result for {}", band.name),
              at_point == band.points.end() ? "one of its own: each result answers for one region"
                                            : format("one, at {}", (*at_point)->name));
  }
}

}  // namespace

Rule accuracy_coverage() {
  return {.id = "accuracy-coverage",
          .group = "accuracy",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.3: Accuracy",
          .demand = "an accuracy result in each required region, and at Offline",
          .fix = "run accuracy at that point, straight after its performance run",
          .check = check_accuracy_coverage};
}

}  // namespace assay::rules
