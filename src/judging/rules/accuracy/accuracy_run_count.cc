#include <algorithm>

#include "rules/accuracy/bands.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_run_count(const Scope& at, Out& out) {
  const AccuracyBands bands = accuracy_bands(*at.curve);
  for (const PointFolder& point : at.curve->points) {
    if (!point.accuracy.scored()) continue;
    const bool choice = point.point.at("/region").as_string() == at.tree.edition.choice_region;
    const Place where = point.accuracy.document.place();
    if (std::ranges::count(bands.spare, &point) > 0) {
      out.error(where, format("an accuracy result at {}, one too many", point.name),
                "one for each required band, none elsewhere");
    } else if (choice && !point.dedicated()) {
      out.warning(
          point.point.place("/region"),
          format("{} answers for its region's accuracy as a submitter's choice", point.name),
          "the point declared in its region");
    }
  }
}

}  // namespace

Rule accuracy_run_count() {
  return {.id = "accuracy-run-count",
          .group = "accuracy",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.3: Accuracy run count",
          .demand = "one accuracy result for each required band, none elsewhere",
          .fix = "remove accuracy_results.json from the others",
          .check = check_accuracy_run_count};
}

}  // namespace assay::rules
