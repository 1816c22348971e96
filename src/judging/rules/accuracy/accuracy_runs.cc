#include <algorithm>

#include "rules/accuracy/bands.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_accuracy_present(const Scope& at, Out& out) {
  bool any_point = false;
  for (const System& system : at.tree.systems) {
    for (const Curve& curve : system.curves) {
      for (const PointFolder& point : curve.points) {
        any_point = true;
        if (point.accuracy.present()) return;
      }
    }
  }
  if (any_point)
    out.error({"results"}, "no accuracy_results.json anywhere", "one at each required point");
}

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

void check_accuracy_valid(const Scope& at, Out& out) {
  const Accuracy& accuracy = at.point->accuracy;
  if (!accuracy.present()) return out.not_applicable();
  if (accuracy.document.broken())
    out.error(accuracy.document.place(), accuracy.document.trouble(), "valid JSON");
  out.issues(accuracy.document, accuracy.issues);
}

void check_accuracy_sample_count(const Scope& at, Out& out) {
  const rulebook::Benchmark* benchmark = at.curve->benchmark;
  const Accuracy& accuracy = at.point->accuracy;
  if (benchmark == nullptr || benchmark->agentic || !accuracy.scored()) return out.not_applicable();
  std::int64_t samples = 0;
  bool counted = false;
  for (const AccuracyEntry& entry : accuracy.entries) {
    samples += entry.performance ? 0 : entry.samples;
    counted = counted || (!entry.performance && entry.counted);
  }
  if (!counted) {
    out.warning(accuracy.document.place("/accuracy_scores"), "the samples are not counted",
                "unit_samples and num_repeats of each dataset");
  } else if (samples < benchmark->accuracy_samples_min) {
    out.error(accuracy.document.place("/accuracy_scores"), format("{} samples scored", samples),
              format("{} or more", benchmark->accuracy_samples_min));
  }
}

constexpr Rule kAccuracyRunRules[] = {
    {.id = "accuracy-present",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§5.3: Accuracy",
     .demand = "an accuracy result somewhere in the submission",
     .fix = "run accuracy straight after performance at the required points; `assay curve` does",
     .check = check_accuracy_present},
    {.id = "accuracy-coverage",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.3: Accuracy",
     .demand = "an accuracy result in each required region, and at Offline",
     .fix = "run accuracy at that point, straight after its performance run",
     .check = check_accuracy_coverage},
    {.id = "accuracy-run-count",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.3: Accuracy run count",
     .demand = "one accuracy result for each required band, none elsewhere",
     .fix = "remove accuracy_results.json from the others",
     .check = check_accuracy_run_count},
    {.id = "accuracy-valid",
     .action = Action::reject_submission,
     .clause = "§4.3: Accuracy",
     .demand = "accuracy_results.json names each dataset once, with a score",
     .fix = "copy accuracy/accuracy_results.json from the run folder",
     .check = check_accuracy_valid},
    {.id = "accuracy-sample-count",
     .action = Action::reject_submission,
     .clause = "§4.3: Accuracy",
     .demand = "the accuracy run asked the whole accuracy set, with its repeats",
     .fix = "run every sample of each dataset, num_repeats times",
     .check = check_accuracy_sample_count},
};

}  // namespace

std::span<const Rule> accuracy_run_rules() { return kAccuracyRunRules; }

}  // namespace assay::rules
