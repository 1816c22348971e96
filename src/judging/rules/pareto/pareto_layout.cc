#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_pareto_layout(const Scope& at, Out& out) {
  if (!at.tree.pareto) return out.not_applicable();
  const std::string_view summary =
      at.tree.published ? "results_summary.json" : "mlperf_endpoints_log_summary.json";
  if (at.tree.systems.empty()) out.error({"systems"}, "no description", "systems/<system>.json");
  bool standardized = false;
  for (const System& system : at.tree.systems) {
    if (system.curves.empty()) {
      out.error({system.path}, "no folder of a model", system.path + "/<model>/");
    }
    standardized = standardized || system.division() == "standardized";
    for (const Curve& curve : system.curves) {
      for (const std::string& name : curve.missing) {
        out.error({curve.path}, "no " + name, curve.path + "/" + name);
      }
      for (const PointFolder& point : curve.points) {
        if (!point.summary.absent()) continue;
        const std::string results = format("results/point_{}", point.concurrency);
        out.error({point.path}, "no result beside it",
                  format("{}/{}/{}", curve.path, results, summary));
      }
    }
  }
  // A published tree contains no code.
  if (standardized && !at.tree.has_src && !at.tree.published) {
    out.error({"src"}, "no folder src/", "src/, since the division is Standardized");
  }
}

}  // namespace

Rule pareto_layout() {
  return {.id = "pareto-layout",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "v0.7 §8.1: Submission completeness",
          .demand =
              "a tree of v0.7 has systems/<system>.json and below pareto/<system>/<model>/ "
              "points/, results/ and accuracy/ with their files; published, "
              "<system>/<model>/ has systems/, points/ and results/",
          .fix =
              "write the file where edition v0.7 has it; docs/formats/submission.md shows the "
              "layout",
          .check = check_pareto_layout};
}

}  // namespace assay::rules
