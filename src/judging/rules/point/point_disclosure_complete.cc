#include <array>

#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_disclosure_complete(const Scope& at, Out& out) {
  static constexpr std::array<std::string_view, 12> kMust{
      "division",      "max_supported_concurrency",
      "model_name",    "model_precision",
      "link_to_model", "dataset_name",
      "dataset_type",  "dataset_link",
      "shared_src",    "shared_docs",
      "seed_set",      "target_cohort"};
  std::string missing;
  for (const std::string_view name : kMust) {
    const Json& value = at.point->point.root()[name];
    const bool empty = value.is_null() || (value.is_string() && trim(value.as_string()).empty());
    if (empty) missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  if (!missing.empty())
    out.error(at.point->point.place(), "missing: " + missing, "every field of the disclosure");
}

}  // namespace

Rule point_disclosure_complete() {
  return {.id = "point-disclosure-complete",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§8.3: Submission completeness",
          .demand = "point.yaml discloses division, model, dataset, seeds and shared folders",
          .fix = "fill the field in",
          .check = check_point_disclosure_complete};
}

}  // namespace assay::rules
