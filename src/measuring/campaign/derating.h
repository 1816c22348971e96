// Derating: what is left of a system's best throughput as its load becomes that of the real world.
// A ladder of steps, each of which keeps what those before it brought:
//
//   ideal     prompts of one length, a fixed number in flight: the most output tokens a second
//   limits    the same, and each class must keep its limits
//   arrivals  queries come at random (Poisson), not when another has ended
//   bursts    each class comes by its own law
//   mix       each class has its own lengths
//
// A load keeps the limits where `target` of each class's ended queries did; a failed query did not.
// A step's throughput is that of the highest load that kept them. Its range: from the most at a
// load that surely kept them to the most at any load up to the lowest that surely missed, sure by
// Wilson's 95 % interval of each class's share. For the ideal it is the range of repeated runs.
// A step has nothing left where no load down to a sixteenth of that of the step before kept them.
// A step's cost is its throughput ÷ that of the step before, with the range that follows.
//
// Prompts of one length have the classes' mean, by their shares, so no step changes the tokens that
// are asked for. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "metrics/class_fold.h"
#include "plan/config.h"

namespace assay::campaign {

enum class DeratingStep : std::uint8_t { ideal, limits, arrivals, bursts, mix };
std::string_view to_string(DeratingStep step);

// One run.
struct DeratingProbe {
  DeratingStep step = DeratingStep::ideal;  // that it was made for
  double load = 0;                          // queries in flight, or a second
  std::string folder{};
  double tps = 0;  // output tokens a second, of all that succeeded
  double qps = 0;  // ended queries a second
  bool kept = false;
  bool surely_kept = false;
  bool surely_missed = false;
  Json classes{};  // as metrics::to_json has them
};
DeratingProbe derating_probe(DeratingStep step, double load, const metrics::ClassReport& report,
                             double target);

struct DeratingResult {
  DeratingStep step = DeratingStep::ideal;
  double load = 0;  // 0: none that was asked kept the limits
  double tps = 0;
  double low = 0;
  double high = 0;
};
// What the probes of one step say. REQUIRES: not empty.
DeratingResult derating_result(DeratingStep step, const std::vector<DeratingProbe>& probes);

// {"derating": 1, "target", "steps": [{"step", "load", "tps", "low", "high", "cost": {"ratio",
// "low", "high"}, "left": {…}}], "runs": […]}. A ratio that is not known is null.
Json derating_json(const std::vector<DeratingResult>& steps,
                   const std::vector<DeratingProbe>& probes, double target);

// The class list of a config as a step asks it. `load`: queries in flight for the first two steps,
// else a second.
Result<std::vector<std::string>> derating_classes(const plan::SyntheticConfig& data,
                                                  DeratingStep step, double load);
// Those that differ from the step before, the ideal first. Fails where no class has a limit or one
// has no rate.
Result<std::vector<DeratingStep>> derating_steps(const plan::SyntheticConfig& data);

// Measures the classes so; the whole report.
using MeasureClasses = std::function<Result<metrics::ClassReport>(
    const std::vector<std::string>& classes, DeratingStep step, double load,
    const std::string& folder)>;

// Climbs the ladder, and searches each step's highest load.
Result<Json> measure_derating(const plan::SyntheticConfig& data, double target,
                              const MeasureClasses& measure,
                              const std::function<void(const std::string&)>& say);

}  // namespace assay::campaign
