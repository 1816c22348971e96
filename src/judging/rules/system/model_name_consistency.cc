#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_model_name_consistency(const Scope& at, Out& out) {
  const Json& name = at.point->point.at("/model_name");
  if (!name.is_string()) {
    out.warning(at.point->point.place(), "model_name is missing", format("'{}'", at.curve->model));
  } else if (name.as_string() != at.curve->model) {
    out.error(at.point->point.place("/model_name"), format("model_name is {}", said(name)),
              format("'{}', as the folder", at.curve->model));
  }
}

}  // namespace

Rule model_name_consistency() {
  return {.id = "model-name-consistency",
          .group = "system",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::flag,
          .clause = "§8.1: Configuration consistency",
          .demand = "model_name is the name of the folder",
          .fix = "one spelling for both",
          .check = check_model_name_consistency};
}

}  // namespace assay::rules
