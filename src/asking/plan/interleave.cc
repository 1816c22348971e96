#include "plan/interleave.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "base/rng.h"

namespace assay::plan {
namespace {

constexpr std::uint64_t kBlockMin = 20;
constexpr std::uint64_t kTimesInFlight = 4;  // filling and draining take the smaller part
constexpr std::uint64_t kPairsMax = 30'000;  // a phase's number has 16 bits
// Most pairs of a timed run; the plan and a log's header hold all of them, used or not.
constexpr std::uint64_t kTimedPairsMax = 1000;
constexpr Duration kTimedPair = 50_ms;  // no pair is shorter, except if the server has no model

Result<void> check_sides(const PlanBundle& bundle) {
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
    if (!phase.loops.empty()) {
      return invalid(
          "--class: users in closed loops are not cut into blocks; run each endpoint by itself and "
          "compare the two runs");
    }
    if (phase.replay) {
      return invalid(
          "agentic_inference: conversations are not cut into blocks; run each endpoint by itself "
          "and compare the two runs");
    }
  }
  if (performance != 1) return invalid("there is nothing to compare: no performance dataset");
  return {};
}

std::uint64_t block_of(const PhasePlan& phase, std::uint64_t wanted) {
  if (wanted > 0) return wanted;
  const std::uint64_t limit = phase.limits.front().in_flight_max;
  const bool limited = limit != std::numeric_limits<std::uint32_t>::max();
  return limited ? std::max(kBlockMin, kTimesInFlight * limit) : kBlockMin;
}

// How the performance phase is cut.
struct Cuts {
  std::uint64_t pairs = 0;
  std::uint64_t queries = 0;  // of each endpoint
  Duration time = Duration::max();
};

Result<Cuts> counted_cuts(std::uint64_t queries, std::uint64_t block) {
  const std::uint64_t pairs = queries / block;
  if (pairs < kPairsMin) {
    return invalid(
        format("--block: {} queries for each endpoint give {} blocks of {}, and {} is the least; "
               "raise --samples or --duration, or lower --block",
               queries, pairs, block, kPairsMin));
  }
  if (pairs > kPairsMax) {
    return invalid(format("--block: {} blocks are too many ({}); raise it", pairs, kPairsMax));
  }
  return Cuts{.pairs = pairs, .queries = queries};
}

Result<Cuts> cuts_of(const PhasePlan& phase, const InterleaveOptions& options) {
  const std::uint64_t block = block_of(phase, options.block);
  const bool by_time = options.time > Duration{};
  const bool counted = phase.stop.queries_min == phase.stop.queries_max;
  if (!phase.open_loop && !counted && !by_time) {
    return invalid("--samples: say how many queries each endpoint gets, or --duration");
  }
  if (!phase.open_loop && by_time) {
    const auto fit = static_cast<std::uint64_t>(options.time.ns / kTimedPair.ns);
    const std::uint64_t pairs = std::clamp(fit, kPairsMin, kTimedPairsMax);
    if (block > std::numeric_limits<std::uint32_t>::max() / pairs) {
      return invalid(format("--block: {} queries are too many; lower it", block));
    }
    return Cuts{.pairs = pairs, .queries = pairs * block, .time = options.time};
  }
  std::uint64_t queries = phase.stop.queries_max;
  if (by_time) {
    // The first query due at the end or later is the last, as in a run of one endpoint.
    const auto end = std::ranges::lower_bound(phase.arrivals, options.time / 2);
    const auto before = static_cast<std::uint64_t>(end - phase.arrivals.begin());
    queries = std::min(queries, before + 1);
  }
  return counted_cuts(queries, block);
}

// Returns queries [from, to) of `whole`. `order` is at `from` and moves to `to`. A block stores its
// samples, not the generator's state, which grows with the dataset.
PhasePlan cut(const PhasePlan& whole, std::uint64_t from, std::uint64_t to, std::uint64_t pair,
              SampleOrder& order) {
  PhasePlan out{.kind = whole.kind, .dataset = whole.dataset};
  out.salted = whole.salted;
  out.open_loop = whole.open_loop;
  out.limits = whole.limits;
  out.stop = whole.stop;
  std::vector<std::uint32_t> asked;
  asked.reserve(to - from);
  for (std::uint64_t i = from; i < to; ++i) asked.push_back(order.next());
  out.order = SampleOrder::listed(std::move(asked));
  out.salt_seed = whole.salt_seed + pair;
  out.drain = true;
  out.stop.queries_min = out.stop.queries_max = to - from;
  out.stop.duration_min = {};
  out.stop.duration_max = Duration::max();
  out.stop.pass = 0;
  if (out.stop.drain_max == Duration{}) out.stop.drain_max = Duration::max();
  if (whole.open_loop) {
    const auto first = whole.arrivals.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = whole.arrivals.begin() + static_cast<std::ptrdiff_t>(to);
    const Duration before = from == 0 ? Duration{} : *(first - 1);
    out.arrivals.assign(first, last);
    for (Duration& at : out.arrivals) at = at - before;
  }
  return out;
}

void add_side(Interleaved& out, PhasePlan phase, unsigned side, std::string name) {
  phase.name = std::move(name);
  out.bundle.plan.phases.push_back(std::move(phase));
  out.endpoint_of_phase.push_back(static_cast<std::uint16_t>(side));
}

}  // namespace

Duration interleaved_time(const Config& config) {
  const Runtime& runtime = config.settings.runtime;
  if (runtime.n_samples_to_issue || runtime.passes) return {};
  return runtime.duration.value_or(runtime.min_duration.value_or(Duration{}));
}

Result<Interleaved> interleave(PlanBundle bundle, const InterleaveOptions& options) {
  TRY(check_sides(bundle));
  const std::vector<PhasePlan> given = std::move(bundle.plan.phases);
  bundle.plan.phases.clear();
  Interleaved out{.bundle = std::move(bundle)};
  Rng rng(options.seed);
  for (const PhasePlan& whole : given) {
    if (whole.kind == PhaseKind::warmup) {
      for (const unsigned side : {0U, 1U}) {
        add_side(out, whole, side, side == 0 ? "warmup a" : "warmup b");
        out.bundle.plan.phases.back().drain = true;
      }
      continue;
    }
    ASSIGN_OR_RETURN(const Cuts cuts, cuts_of(whole, options));
    const auto [pairs, queries, time] = cuts;
    SampleOrder order = whole.order;
    unsigned begins = 0;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
      begins = pair % 2 == 0 ? static_cast<unsigned>(rng.below(2)) : 1 - begins;
      const PhasePlan block =
          cut(whole, pair * queries / pairs, (pair + 1) * queries / pairs, pair, order);
      for (const unsigned side : {begins, 1 - begins}) {
        add_side(out, block, side, format("{} {}", side == 0 ? 'a' : 'b', pair + 1));
        // A pair that has begun is finished; the config's own limit counts from the first pair on.
        if (side != begins) continue;
        const Duration until = pair < kPairsMin ? Duration::max() : time;
        out.bundle.plan.phases.back().begin_max = std::min(until, whole.stop.duration_max);
      }
    }
  }
  return out;
}

}  // namespace assay::plan
