#include "compare/repeats.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/format.h"

namespace assay::compare {
namespace {

// The mean of the logarithms of a figure over the runs that have it, and the mean of their rooms.
struct GroupMean {
  double log = 0;
  Room room{};
  double runs = 0;
};
GroupMean mean_of(const std::vector<RunFigures>& runs, std::size_t metric) {
  GroupMean out;
  for (const RunFigures& run : runs) {
    const RunFigures::Figure& figure = run.of[metric];
    if (figure.value <= 0) continue;
    out.log += std::log(figure.value);
    out.room.below += figure.room.below;
    out.room.above += figure.room.above;
    out.runs += 1;
  }
  if (out.runs == 0) return out;
  out.log /= out.runs;
  out.room.below /= out.runs;
  out.room.above /= out.runs;
  return out;
}

bool all_before(const Repeats& first, const Repeats& second) {
  return std::ranges::max(first.started, {}, &WallTime::ns).ns <
         std::ranges::min(second.started, {}, &WallTime::ns).ns;
}

}  // namespace

void compare_repeats(const Repeats& a, const Repeats& b, const Repeats& noise,
                     const CompareOptions& options, Comparison& out) {
  CHECK(!a.runs.empty() && !b.runs.empty());
  out.repeats = RepeatCounts{.a = a.runs.size(), .b = b.runs.size(), .noise = noise.runs.size()};
  std::vector<FoundEffect> effects;
  for (std::size_t i = 0; i < options.metrics.size(); ++i) {
    const ComparedMetric metric = options.metrics[i];
    const GroupMean left = mean_of(a.runs, i);
    const GroupMean right = mean_of(b.runs, i);
    if (left.runs == 0 || right.runs == 0) {
      out.notes.push_back(to_string(metric) + ": no values to compare");
      continue;
    }
    const Spread spread = spread_of({&a.runs, &b.runs, &noise.runs}, i);
    if (spread.degrees < 1) {
      out.notes.push_back(to_string(metric) + ": no two equal runs have it");
      continue;
    }
    effects.push_back({.metric = metric,
                       .a = std::exp(left.log),
                       .b = std::exp(right.log),
                       .deviation = spread.deviation * std::sqrt(1 / left.runs + 1 / right.runs),
                       .degrees = spread.degrees,
                       .room = room_of_ratio(left.room, right.room)});
    out.repeats->degrees = std::max(out.repeats->degrees, spread.degrees);
  }
  out.metrics = judge_effects(effects, options);
  if (a.started.empty() || b.started.empty()) return;
  if (all_before(a, b) || all_before(b, a)) {
    out.notes.push_back(
        format("all runs of {} came before those of {}: what drifted meanwhile is in the effect "
               "and not in the interval; run the two in turns",
               all_before(a, b) ? "A" : "B", all_before(a, b) ? "B" : "A"));
  }
}

}  // namespace assay::compare
