#include <algorithm>
#include <array>

#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_system_description_present(const Scope& at, Out& out) {
  int readable = 0;
  for (const PointFolder& point : at.curve->points) {
    readable += point.description.good() ? 1 : 0;
    if (point.description.absent()) {
      out.error({point.path}, "no system_desc.json", point.path + "/system_desc.json");
    }
  }
  if (readable == 0)
    out.error({at.curve->path}, "no system_desc.json that can be read", "one a point");
}

void check_system_description_valid(const Scope& at, Out& out) {
  const PointFolder* first = nullptr;
  for (const PointFolder& point : at.curve->points) {
    // In the old layout all points share one file.
    if (at.tree.pareto && &point != &at.curve->points.front()) break;
    if (point.description.broken()) {
      out.error(point.description.place(), point.description.trouble(), "valid JSON");
    } else if (first == nullptr && point.description.good()) {
      first = &point;
    }
  }
  if (first != nullptr) out.issues(first->description, first->description_issues);
}

void check_system_description_consistency(const Scope& at, Out& out) {
  static constexpr std::array<std::string_view, 9> kMayVary{
      "tps_utilization", "tensor_parallel", "pipeline_parallel",
      "expert_parallel", "data_parallel",   "disaggregated",
      "batch",           "config_summary",  "config_summary_notes"};
  const PointFolder* first = nullptr;
  for (const PointFolder& point : at.curve->points) {
    if (!point.description.good() || !point.description.root().is_object()) continue;
    if (first == nullptr) {
      first = &point;
      continue;
    }
    Json::Object names = first->description.root().members();
    for (const Json::Member& member : point.description.root().members()) {
      if (first->description.root().find(member.first) == nullptr) names.push_back(member);
    }
    for (const auto& [name, ignored] : names) {
      if (std::ranges::count(kMayVary, name) > 0) continue;
      const Json& here = point.description.root()[name];
      const Json& there = first->description.root()[name];
      if (here == there) continue;
      out.error(point.description.place(pointer_to("", name)), format("{} is {}", name, said(here)),
                format("{}, as in {}", said(there), first->name));
    }
  }
}

constexpr Rule kSystemDescriptionRules[] = {
    {.id = "system-description-present",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§8.2: Submission completeness",
     .demand = "each point has its system_desc.json",
     .fix = "copy the description into each point; `assay pack` does",
     .check = check_system_description_present},
    {.id = "system-description-valid",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§8.2: Submission completeness",
     .demand = "system_desc.json has every required field in its kind",
     .fix = "fill the field in; docs/formats/submission.md lists them",
     .check = check_system_description_valid},
    {.id = "system-description-consistency",
     .level = Level::curve,
     .action = Action::flag,
     .clause = "§8.5: Configuration consistency",
     .demand = "all copies of system_desc.json agree but for what may vary from point to point",
     .fix = "copy one description into all points; only parallelism, batch, config_summary and "
            "tps_utilization may vary",
     .check = check_system_description_consistency},
};

}  // namespace

std::span<const Rule> system_description_rules() { return kSystemDescriptionRules; }

}  // namespace assay::rules
