#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_benchmark_model_dir(const Scope& at, Out& out) {
  if (at.system->curves.empty()) {
    out.error({at.system->path}, "no model in the system's folder",
              at.system->path + "/<model_name>/");
  }
}

}  // namespace

Rule benchmark_model_dir() {
  return {.id = "benchmark-model-dir",
          .group = "structure",
          .level = Level::system,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "a system holds at least one model",
          .fix = "results/<system>/<model_name>/",
          .check = check_benchmark_model_dir};
}

}  // namespace assay::rules
