#include <algorithm>

#include "rules/accuracy/bands.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_coverage(const Scope& at, Out& out) {
  if (!any_accuracy(at.tree)) return out.not_applicable();
  for (const AccuracyBand& band : accuracy_bands(*at.curve)) {
    // A file that can't be judged is said by its own rule.
    const auto scored = [](const PointFolder* point) {
      const Accuracy& accuracy = point->accuracy;
      return accuracy.scored() || accuracy.document.broken() || !accuracy.issues.empty();
    };
    if (band.points.empty() || std::ranges::any_of(band.points, scored)) continue;
    out.error({at.curve->path}, format("no accuracy result for {}", band.name),
              format("one, at {}", band.points.front()->name));
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
