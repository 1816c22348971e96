#include <map>
#include <string>

#include "rules/rule.h"

namespace assay::rules {
namespace {

// What two runs do not share by chance: the duration to the nanosecond with both latency series.
// "" where a point has too little to say.
std::string run_identity(const PointFolder& point) {
  const Document& summary = point.summary;
  const Json& ttft = summary.at("/ttft");
  const Json& latency = summary.at("/latency");
  const Json& measured = ttft.size() > 0 ? ttft : latency;
  if (!point.measured() || measured.size() == 0) return {};
  return format("{} {} {} {}", summary.at("/duration_ns").dump(), ttft.dump(), latency.dump(),
                summary.at("/output_sequence_lengths").dump());
}

void check_plausible_runs(const Scope& at, Out& out) {
  std::map<std::string, const PointFolder*> seen;
  for (const System& system : at.tree.systems) {
    for (const Curve& curve : system.curves) {
      for (const PointFolder& point : curve.points) {
        std::string identity = run_identity(point);
        if (identity.empty()) continue;
        const auto [found, fresh] = seen.emplace(std::move(identity), &point);
        if (fresh) continue;
        out.error(point.summary.place(),
                  format("the figures of {}, to the last digit", found->second->path),
                  "a run of its own for each point");
      }
    }
  }
}

}  // namespace

Rule plausible_runs() {
  return {.id = "plausible-runs",
          .level = Level::tree,
          .clause = "Assay's own: one run, one point",
          .demand = "no run's figures stand at two points",
          .fix = "copy result_summary.json from the run of this point",
          .check = check_plausible_runs};
}

}  // namespace assay::rules
