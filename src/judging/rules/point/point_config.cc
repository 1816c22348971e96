#include <array>

#include "base/text.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_point_config_valid(const Scope& at, Out& out) {
  if (at.point->point.broken())
    out.error(at.point->point.place(), at.point->point.trouble(), "valid YAML");
  out.issues(at.point->point, at.point->point_issues);
}

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

constexpr Rule kPointConfigRules[] = {
    {.id = "point-config-valid",
     .action = Action::reject_submission,
     .clause = "§8.3: Submission completeness",
     .demand = "point.yaml is valid, each field in its kind and bounds",
     .fix = "mend the field; docs/formats/submission.md lists them all",
     .check = check_point_config_valid},
    {.id = "point-disclosure-complete",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§8.3: Submission completeness",
     .demand = "point.yaml discloses division, model, dataset, seeds and shared folders",
     .fix = "fill the field in",
     .check = check_point_disclosure_complete},
};

}  // namespace

std::span<const Rule> point_config_rules() { return kPointConfigRules; }

}  // namespace assay::rules
