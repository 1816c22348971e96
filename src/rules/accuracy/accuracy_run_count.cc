#include "rules/accuracy/bands.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_run_count(const Scope& at, Out& out) {
  std::size_t bands = 0;
  for (const AccuracyBand& band : accuracy_bands(*at.curve)) {
    // An elected point's result is High Concurrency's too.
    const bool elected = band.name == "offline" && !band.points.front()->dedicated();
    bands += elected ? 0U : 1U;
  }
  std::size_t results = 0;
  for (const PointFolder& point : at.curve->points) {
    if (!point.accuracy.scored()) continue;
    const bool choice = point.point.at("/region").as_string() == at.tree.edition.choice_region;
    const Place where = point.accuracy.document.place();
    if (choice && !point.dedicated()) {
      out.error(where, format("an accuracy result at {}, a submitter's choice", point.name),
                "none, or the point declared in its region");
    } else if (++results > bands) {
      out.error(where, format("accuracy result number {}, at {}", results, point.name),
                format("{}: one for each required band", bands));
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
