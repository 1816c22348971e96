#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_pareto_accuracy(const Scope& at, Out& out) {
  const Document& file = at.curve->old_accuracy;
  if (!at.tree.pareto || file.absent()) return out.not_applicable();
  if (file.broken()) return out.error(file.place(), file.trouble(), "valid JSON");
  const Json& score = file.at("/score");
  const Json& target = file.at("/quality_target");
  const Json& passed = file.at("/passed");
  if (!file.at("/metric").is_string() || !score.is_number() || !target.is_number() ||
      !passed.is_bool()) {
    return out.error(file.place(), "a field is missing or of another kind",
                     "metric, score, quality_target and passed");
  }
  const bool meets = score.as_double() >= target.as_double();
  if (passed.as_bool() != meets) {
    out.error(file.place("/passed"),
              format("passed is {} with a score of {} for {}", passed.dump(), score.dump(),
                     target.dump()),
              meets ? "true" : "false");
  }
  if (!meets) {
    out.error(file.place("/score"),
              format("{} is {}", file.at("/metric").as_string(), score.dump()),
              format("{} or more", target.dump()));
  }
}

}  // namespace

Rule pareto_accuracy() {
  return {.id = "pareto-accuracy",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "v0.7 §4.3: Accuracy",
          .demand = "in a tree of v0.7 the curve's score reaches its quality target, and says so",
          .fix = "look into precision and sampling settings; no rule allows a lower score",
          .check = check_pareto_accuracy};
}

}  // namespace assay::rules
