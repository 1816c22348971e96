#include "plan/interleave.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/rng.h"

namespace assay::plan {
namespace {

constexpr std::uint64_t kBlockMin = 20;
constexpr std::uint64_t kTimesInFlight = 4;  // so that filling and draining are the lesser part
constexpr std::uint64_t kPairsMax = 30'000;  // a phase's number has 16 bits

Result<void> check(const PlanBundle& bundle) {
  if (bundle.endpoints.urls.size() != 2) {
    return invalid(
        format("--endpoint: two are compared with each other, and {} given; write --endpoint A "
               "--endpoint B",
               bundle.endpoints.urls.size() == 1 ? "one is"
                                                 : format("{} are", bundle.endpoints.urls.size())));
  }
  std::size_t performance = 0;
  for (const PhasePlan& phase : bundle.plan.phases) {
    if (phase.kind == PhaseKind::accuracy) {
      return invalid(
          format("dataset '{}': accuracy is not compared in blocks; leave it out (--mode perf)",
                 phase.name));
    }
    if (phase.kind != PhaseKind::performance) continue;
    ++performance;
    if (phase.limits.size() > 1) {
      return invalid(
          "settings.load_pattern.type: ramp has no blocks that are alike; give one level");
    }
    if (phase.stop.duration_max != Duration::max()) {
      return invalid(
          "settings.runtime.max_duration_ms: blocks are counted in queries; give their number "
          "(--samples) and delete it");
    }
    const bool counted = phase.open_loop || phase.stop.queries_min == phase.stop.queries_max;
    if (!counted) {
      return invalid("--duration: blocks are counted in queries; say how many with --samples");
    }
  }
  if (performance != 1) return invalid("there is nothing to compare: no performance dataset");
  return {};
}

Result<std::uint64_t> pairs_of(const PhasePlan& phase, std::uint64_t block) {
  if (block == 0) {
    const std::uint64_t limit = phase.limits.front().in_flight_max;
    const bool limited = limit != std::numeric_limits<std::uint32_t>::max();
    block = limited ? std::max(kBlockMin, kTimesInFlight * limit) : kBlockMin;
  }
  const std::uint64_t pairs = phase.stop.queries_max / block;
  if (pairs < kPairsMin) {
    return invalid(
        format("--block: {} queries for each endpoint give {} blocks of {}, and {} is the least; "
               "raise --samples or lower --block",
               phase.stop.queries_max, pairs, block, kPairsMin));
  }
  if (pairs > kPairsMax) {
    return invalid(format("--block: {} blocks are too many ({}); raise it", pairs, kPairsMax));
  }
  return pairs;
}

// Queries [from, to) of `whole`. `order` has come to `from`, and goes on to `to`.
PhasePlan cut(const PhasePlan& whole, std::uint64_t from, std::uint64_t to, std::uint64_t pair,
              SampleOrder& order) {
  PhasePlan out = whole;
  out.order = order;
  out.salt_seed = whole.salt_seed + pair;
  out.drain = true;
  out.stop.queries_min = out.stop.queries_max = to - from;
  out.stop.duration_min = {};
  if (out.stop.drain_max == Duration{}) out.stop.drain_max = Duration::max();
  if (whole.open_loop) {
    const auto first = whole.arrivals.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = whole.arrivals.begin() + static_cast<std::ptrdiff_t>(to);
    const Duration before = from == 0 ? Duration{} : *(first - 1);
    out.arrivals.assign(first, last);
    for (Duration& at : out.arrivals) at = at - before;
  }
  for (std::uint64_t i = from; i < to; ++i) order.next();
  return out;
}

void add(Interleaved& out, PhasePlan phase, unsigned side, std::string name) {
  phase.name = std::move(name);
  out.bundle.plan.phases.push_back(std::move(phase));
  out.endpoint_of_phase.push_back(static_cast<std::uint16_t>(side));
}

}  // namespace

Result<Interleaved> interleave(PlanBundle bundle, const InterleaveOptions& options) {
  TRY(check(bundle));
  const std::vector<PhasePlan> given = std::move(bundle.plan.phases);
  bundle.plan.phases.clear();
  Interleaved out{.bundle = std::move(bundle)};
  Rng rng(options.seed);
  for (const PhasePlan& whole : given) {
    if (whole.kind == PhaseKind::warmup) {
      for (const unsigned side : {0U, 1U}) {
        add(out, whole, side, side == 0 ? "warmup a" : "warmup b");
        out.bundle.plan.phases.back().drain = true;
      }
      continue;
    }
    ASSIGN_OR_RETURN(const std::uint64_t pairs, pairs_of(whole, options.block));
    const std::uint64_t queries = whole.stop.queries_max;
    SampleOrder order = whole.order;
    unsigned begins = 0;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      begins = pair % 2 == 0 ? static_cast<unsigned>(rng.below(2)) : 1 - begins;
      const PhasePlan block =
          cut(whole, pair * queries / pairs, (pair + 1) * queries / pairs, pair, order);
      for (const unsigned side : {begins, 1 - begins}) {
        add(out, block, side, format("{} {}", side == 0 ? 'a' : 'b', pair + 1));
      }
    }
  }
  return out;
}

}  // namespace assay::plan
