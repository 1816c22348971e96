#include <algorithm>
#include <array>

#include "rules/rule.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule system_description_consistency() {
  return {
      .id = "system-description-consistency",
      .group = "system",
      .level = Level::curve,
      .action = Action::flag,
      .clause = "§8.5: Configuration consistency",
      .demand = "all copies of system_desc.json agree but for what may vary from point to point",
      .fix =
          "copy one description into all points; only parallelism, batch, config_summary and "
          "tps_utilization may vary",
      .check = check_system_description_consistency};
}

}  // namespace assay::rules
