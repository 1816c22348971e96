#include "plan/phases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/text.h"
#include "dataset/mix.h"
#include "plan/class_arrivals.h"
#include "plan/replay.h"
#include "plan/resolve.h"
#include "plan/words.h"

namespace assay::plan {
namespace {

// A schedule is kept in memory: 8 bytes a query.
constexpr std::uint64_t kArrivalsMax = 200'000'000;
constexpr std::uint64_t kQueriesMax = std::numeric_limits<std::uint32_t>::max();

// The reference client's sizing (spec, section 4.2): 1.1 times as many as fit, rounded up to whole
// passes; 10 queries a second if no rate is set.
constexpr double kSizingMargin = 1.1;
constexpr double kSizingRate = 10.0;

Error too_many(double queries) {
  return invalid(
      format("settings: about {:.3g} queries are more than one run can number ({}); "
             "shorten it, or lower the rate",
             queries, with_thousands(static_cast<std::int64_t>(kArrivalsMax))));
}

Result<std::uint64_t> sized(double rate, Duration time, std::uint64_t rows) {
  const double wanted = std::max(1.0, std::ceil(rate * time.seconds() * kSizingMargin));
  if (wanted > static_cast<double>(kArrivalsMax)) return too_many(wanted);
  const auto queries = static_cast<std::uint64_t>(wanted);
  return (queries + rows - 1) / rows * rows;
}

// Returns level i of a ramp; both ends are included.
double level(const Ramp& ramp, std::uint32_t i) {
  if (ramp.steps == 1) return ramp.to;
  return ramp.from +
         (ramp.to - ramp.from) * static_cast<double>(i) / static_cast<double>(ramp.steps - 1);
}

// Returns the pattern's highest rate, in queries a second.
double most_offered(const LoadPattern& load) {
  if (load.type == Pattern::ramp) return std::max(load.ramp->from, load.ramp->to);
  return *load.target_qps;
}

Duration total(const Ramp& ramp) {
  const double seconds = ramp.step_duration.seconds() * static_cast<double>(ramp.steps);
  constexpr double kLongest = 3e9;  // seconds: a hundred years
  return Duration::from_seconds(std::min(seconds, kLongest));
}

}  // namespace

PhaseMaker::PhaseMaker(const Config& config, PlanBundle& out) : config_(config), out_(out) {
  arrivals_ = make_arrivals(config.settings.runtime.scheduler_random_seed, true);
}

std::optional<Arrivals> PhaseMaker::make_arrivals(std::uint64_t seed, bool ramp) const {
  const LoadPattern& load = config_.settings.load_pattern;
  switch (load.type) {
    case Pattern::poisson:
      return Arrivals::poisson(*load.target_qps, seed);
    case Pattern::constant:
      return Arrivals::constant(*load.target_qps);
    case Pattern::gamma:
      return Arrivals::gamma(*load.target_qps, load.burstiness, seed);
    case Pattern::ramp: {
      if (load.ramp->of != RampOf::rate) return std::nullopt;
      // A warm-up offers the ramp's first level above 0.
      if (!ramp) {
        double rate = load.ramp->from;
        for (std::uint32_t i = 1; rate <= 0; ++i) rate = level(*load.ramp, i);
        return Arrivals::poisson(rate, seed);
      }
      std::vector<RateLevel> levels;
      for (std::uint32_t i = 0; i < load.ramp->steps; ++i) {
        levels.push_back({load.ramp->step_duration * i, level(*load.ramp, i)});
      }
      return Arrivals::ramp(std::move(levels), seed);
    }
    default:
      return std::nullopt;
  }
}

void PhaseMaker::set_drain(PhasePlan& phase, Duration limit) {
  phase.drain = limit > Duration{};
  phase.stop.drain_max = limit;
}

std::uint64_t PhaseMaker::rows_of(const PhasePlan& phase) const {
  return out_.datasets[phase.dataset].dataset.rows();
}

Result<PhaseMaker::Length> PhaseMaker::performance_length(std::uint64_t rows) {
  const Runtime& runtime = config_.settings.runtime;
  const LoadPattern& load = config_.settings.load_pattern;
  if (runtime.n_samples_to_issue) return Length{.queries = *runtime.n_samples_to_issue};
  if (runtime.passes) {
    if (*runtime.passes > kQueriesMax / rows) {
      return too_many(static_cast<double>(*runtime.passes) * static_cast<double>(rows));
    }
    return Length{.queries = *runtime.passes * rows};
  }
  if (runtime.duration) return Length{.time = *runtime.duration};
  const Duration floor = runtime.min_duration.value_or(Duration{});
  if (load.type == Pattern::ramp) return Length{.time = std::max(floor, total(*load.ramp))};
  if (floor > Duration{}) return Length{.time = floor, .whole_passes = true};
  return Length{.queries = rows};
}

std::vector<LimitStep> PhaseMaker::limits(bool ramp) const {
  const LoadPattern& load = config_.settings.load_pattern;
  const std::uint32_t cap = load.max_in_flight.value_or(std::numeric_limits<std::uint32_t>::max());
  if (load.type == Pattern::concurrency) return {{{}, std::min(cap, *load.target_concurrency)}};
  // Closed-loop limit of phases beside a trace: the trace is the performance phase's schedule.
  constexpr std::uint32_t kBesideTrace = 32;
  if (load.type == Pattern::trace && !load.max_in_flight && !ramp) return {{{}, kBesideTrace}};
  if (load.type != Pattern::ramp || load.ramp->of != RampOf::concurrency) return {{{}, cap}};
  const auto in_flight = [&](std::uint32_t i) {
    return std::min(cap, static_cast<std::uint32_t>(std::llround(level(*load.ramp, i))));
  };
  if (!ramp) return {{{}, in_flight(0)}};
  std::vector<LimitStep> steps;
  for (std::uint32_t i = 0; i < load.ramp->steps; ++i) {
    steps.push_back({load.ramp->step_duration * i, in_flight(i)});
  }
  return steps;
}

Result<void> PhaseMaker::fill_schedule(PhasePlan& phase, const Length& length, Arrivals& arrivals) {
  phase.open_loop = true;
  std::uint64_t queries = length.queries;
  const std::uint64_t rows = rows_of(phase);
  if (length.whole_passes) {
    ASSIGN_OR_RETURN(queries, sized(*config_.settings.load_pattern.target_qps, length.time, rows));
  }
  if (queries > kArrivalsMax) return too_many(static_cast<double>(queries));
  if (length.queries == 0) {
    const double expected = most_offered(config_.settings.load_pattern) * length.time.seconds();
    if (expected > static_cast<double>(kArrivalsMax)) return too_many(expected);
  }
  std::vector<Duration>& at = phase.arrivals;
  at.reserve(queries);
  while (at.size() < queries) at.push_back(arrivals.next());
  // The minimum counts until the last query is due, not until some query before it.
  while (length.queries == 0 && (at.empty() || at.back() < length.time)) {
    const std::uint64_t more = length.whole_passes ? rows : 1;
    if (at.size() + more > kArrivalsMax) return too_many(static_cast<double>(at.size() + more));
    for (std::uint64_t i = 0; i < more; ++i) at.push_back(arrivals.next());
  }
  phase.stop.queries_min = at.size();
  phase.stop.queries_max = at.size();
  return {};
}

Result<void> PhaseMaker::fill_trace(PhasePlan& phase, const Length& length) {
  const std::vector<Duration>& trace = out_.datasets[phase.dataset].dataset.arrivals;
  if (trace.empty()) {
    return invalid(
        format("settings.load_pattern.type: trace needs a dataset with timestamps, and '{}' has "
               "none; see docs/formats/dataset.md",
               out_.datasets[phase.dataset].dataset.name));
  }
  const double speedup = config_.settings.load_pattern.speedup;
  // A pass begins a mean gap after the last query of the pass before.
  const double span = trace.back().seconds();
  const double gap = trace.size() > 1 ? span / static_cast<double>(trace.size() - 1) : 1.0;
  const auto at = [&](std::uint64_t i) {
    const double passes = static_cast<double>(i / trace.size()) * (span + gap);
    return Duration::from_seconds((passes + trace[i % trace.size()].seconds()) / speedup);
  };
  phase.open_loop = true;
  phase.order = SampleOrder::sequential(static_cast<std::uint32_t>(rows_of(phase)));
  if (length.queries > kArrivalsMax) return too_many(static_cast<double>(length.queries));
  for (std::uint64_t i = 0; length.queries == 0 || i < length.queries; ++i) {
    const Duration due = at(i);
    if (length.queries == 0 && due >= length.time &&
        (!length.whole_passes || i % trace.size() == 0)) {
      break;
    }
    if (i == kArrivalsMax) return too_many(static_cast<double>(i));
    phase.arrivals.push_back(due);
  }
  phase.stop.queries_min = phase.arrivals.size();
  phase.stop.queries_max = phase.arrivals.size();
  return {};
}

Result<void> PhaseMaker::fill_classes(PhasePlan& phase, const Length& length,
                                      const std::vector<std::string>& classes) {
  std::vector<dataset::SyntheticClass> known;
  for (const std::string& text : classes) {
    ASSIGN_OR_RETURN(known.emplace_back(), dataset::parse_class(text));
  }
  ASSIGN_OR_RETURN(ClassSchedule schedule,
                   class_schedule(known, static_cast<std::uint32_t>(rows_of(phase)),
                                  config_.settings.runtime.scheduler_random_seed, length.queries,
                                  length.time, kArrivalsMax));
  phase.arrivals = std::move(schedule.at);
  phase.loops = std::move(schedule.loops);
  // With users alone the order says no more than which row is the first.
  phase.order = SampleOrder::listed(phase.arrivals.empty() ? phase.loops.front().rows
                                                           : std::move(schedule.rows));
  if (!phase.loops.empty()) {
    fill_length(phase, length);
    return {};
  }
  phase.open_loop = true;
  phase.stop.queries_min = phase.arrivals.size();
  phase.stop.queries_max = phase.arrivals.size();
  return {};
}

Result<void> PhaseMaker::fill_burst(PhasePlan& phase, const Length& length) {
  std::uint64_t queries = length.queries;
  if (queries == 0) {
    // All queries sent at once cannot fill a time: send as many as the reference client does.
    const double rate = config_.settings.load_pattern.target_qps.value_or(kSizingRate);
    ASSIGN_OR_RETURN(queries, sized(rate, length.time, rows_of(phase)));
    out_.notes.push_back(format(
        "max_throughput sends everything at once, so min_duration_ms is not a floor: it sends "
        "{} queries, as the reference client would ({:g} a second, and a tenth more, in whole "
        "passes); n_samples_to_issue says how many outright",
        with_thousands(static_cast<std::int64_t>(queries)), rate));
  }
  if (queries > kArrivalsMax) return too_many(static_cast<double>(queries));
  phase.open_loop = true;
  phase.arrivals.assign(queries, Duration{});
  phase.stop.queries_min = queries;
  phase.stop.queries_max = queries;
  return {};
}

void PhaseMaker::fill_closed(PhasePlan& phase, const Length& length, bool ramp) {
  phase.limits = limits(ramp);
  fill_length(phase, length);
}

void PhaseMaker::fill_length(PhasePlan& phase, const Length& length) const {
  phase.open_loop = false;
  if (length.queries > 0) {
    phase.stop.queries_min = length.queries;
    phase.stop.queries_max = length.queries;
    return;
  }
  phase.stop.queries_max = kQueriesMax;
  phase.stop.queries_min = length.whole_passes ? rows_of(phase) : 1;
  phase.stop.pass = length.whole_passes ? rows_of(phase) : 0;
  phase.stop.duration_min = length.time;
}

Result<void> PhaseMaker::fill(PhasePlan& phase, const Length& length, Arrivals* arrivals,
                              bool ramp) {
  const LoadPattern& load = config_.settings.load_pattern;
  phase.stop.idle_max = config_.settings.runtime.no_progress_timeout;
  if (length.queries > kQueriesMax) return too_many(static_cast<double>(length.queries));
  phase.limits = limits(ramp);
  if (load.type == Pattern::trace && phase.kind == PhaseKind::performance) {
    return fill_trace(phase, length);
  }
  if (phase.kind == PhaseKind::performance) {
    if (const auto* const classes = classes_with_loads(config_)) {
      return fill_classes(phase, length, *classes);
    }
  }
  if (arrivals != nullptr) {
    TRY(fill_schedule(phase, length, *arrivals));
    if (length.queries == 0) phase.stop.duration_min = length.time;
    return {};
  }
  const bool burst =
      load.type == Pattern::max_throughput || load.type == Pattern::agentic_inference;
  // With a cap, queries wait for free slots, so the phase can last for a time.
  if (burst && (length.queries > 0 || !load.max_in_flight)) return fill_burst(phase, length);
  fill_closed(phase, length, ramp);
  return {};
}

Result<void> PhaseMaker::add_warmup(std::uint32_t dataset) {
  const Warmup& warmup = config_.settings.warmup;
  const std::uint64_t seed = warmup.warmup_random_seed;
  PhasePlan phase{.kind = PhaseKind::warmup, .name = "warmup", .dataset = dataset};
  const auto rows = static_cast<std::uint32_t>(rows_of(phase));
  phase.order = SampleOrder::shuffled(rows, seed + 1);
  phase.salted = warmup.salt;
  phase.salt_seed = seed + 2;
  auto arrivals = make_arrivals(seed, false);
  TRY(fill(phase, {.queries = warmup.n_requests.value_or(rows)}, arrivals ? &*arrivals : nullptr,
           false));
  const Settings& settings = config_.settings;
  set_drain(phase, settings.timeouts ? settings.timeouts->warmup_drain_timeout
                                     : settings.drain.warmup_timeout);
  phase.drain = phase.drain && warmup.drain;
  if (!warmup.salt && !config_.settings.runtime.salt) {
    out_.notes.push_back(
        "the warm-up asks the measured prompts without salt, so a prefix cache may be warm when "
        "measuring begins (warmup.salt, --warmup-salt)");
  }
  if (!phase.drain) {
    out_.notes.push_back(
        "the warm-up's last replies overlap with the measurement (warmup.drain, --warmup-drain)");
  }
  out_.plan.phases.push_back(std::move(phase));
  return {};
}

Result<void> PhaseMaker::add_measured(std::uint32_t dataset) {
  if (config_.settings.warmup.enabled) TRY(add_warmup(dataset));
  PhasePlan phase{.kind = PhaseKind::performance, .name = "performance", .dataset = dataset};
  const std::uint64_t rows = rows_of(phase);
  const Runtime& runtime = config_.settings.runtime;
  phase.order =
      SampleOrder::shuffled(static_cast<std::uint32_t>(rows), runtime.dataloader_random_seed);
  ASSIGN_OR_RETURN(const Length length, performance_length(rows));
  phase.salted = runtime.salt;
  phase.salt_seed = runtime.salt_random_seed;
  TRY(fill(phase, length, arrivals_ ? &*arrivals_ : nullptr, true));
  phase.stop.duration_max = runtime.max_duration;
  const Settings& settings = config_.settings;
  set_drain(phase, settings.timeouts ? settings.timeouts->performance_drain_timeout
                                     : settings.drain.performance_timeout);
  const bool synthetic = out_.datasets[dataset].dataset.path.empty();
  if (synthetic && phase.stop.queries_min > rows) {
    out_.notes.push_back(
        format("{} synthetic prompts for {} queries: some are asked again, and a prefix cache may "
               "answer faster (--prompts)",
               with_thousands(static_cast<std::int64_t>(rows)),
               with_thousands(static_cast<std::int64_t>(phase.stop.queries_min))));
  }
  out_.plan.phases.push_back(std::move(phase));
  return {};
}

Result<void> PhaseMaker::add_replay(std::uint32_t dataset, const AgenticConfig& agentic) {
  if (config_.settings.warmup.enabled) TRY(add_warmup(dataset));
  PhasePlan phase{.kind = PhaseKind::performance, .name = "performance", .dataset = dataset};
  ASSIGN_OR_RETURN(phase.conversations, make_trajectories(agentic, out_.datasets[dataset].dataset));
  phase.replay = true;
  phase.order = SampleOrder::sequential(static_cast<std::uint32_t>(rows_of(phase)));
  phase.limits = {{{}, *config_.settings.load_pattern.target_concurrency}};
  phase.stop.duration_max = config_.settings.runtime.max_duration;
  phase.stop.idle_max = config_.settings.runtime.no_progress_timeout;
  const Settings& settings = config_.settings;
  set_drain(phase, settings.timeouts ? settings.timeouts->performance_drain_timeout
                                     : settings.drain.performance_timeout);
  if (agentic.stop_issuing_on_first_user_complete) {
    out_.plan.phases.push_back(std::move(phase));
    return {};
  }
  PhasePlan tail{.kind = PhaseKind::tail, .name = "tail", .dataset = dataset};
  tail.order = phase.order;
  tail.limits = phase.limits;
  tail.stop = phase.stop;
  tail.drain = phase.drain;
  phase.drain = false;  // its last turns end beside the tail's first
  out_.plan.phases.push_back(std::move(phase));
  out_.plan.phases.push_back(std::move(tail));
  return {};
}

Result<void> PhaseMaker::add_accuracy(const AccuracyPhase& from) {
  PhasePlan phase{.kind = PhaseKind::accuracy, .name = from.name, .dataset = from.dataset};
  const std::uint64_t rows = rows_of(phase);
  phase.order = SampleOrder::sequential(static_cast<std::uint32_t>(rows));
  if (arrivals_) arrivals_->restart();
  const bool closed_ramp = config_.settings.load_pattern.type == Pattern::ramp && !arrivals_;
  TRY(fill(phase, {.queries = rows * from.repeats}, arrivals_ ? &*arrivals_ : nullptr,
           config_.settings.load_pattern.type != Pattern::trace));
  // Accuracy is asked at the last level of the run.
  if (closed_ramp) phase.limits = {{{}, phase.limits.back().in_flight_max}};
  const std::vector<std::uint32_t>& groups = out_.datasets[from.dataset].dataset.groups;
  for (std::size_t at = 0, i = 0; i + 1 < groups.size() * from.repeats; ++i) {
    phase.barriers.push_back(static_cast<std::uint32_t>(at += groups[i % groups.size()]));
  }
  const Settings& settings = config_.settings;
  set_drain(phase, settings.timeouts ? settings.timeouts->accuracy_drain_timeout
                                     : settings.drain.accuracy_timeout);
  out_.plan.phases.push_back(std::move(phase));
  return {};
}

}  // namespace assay::plan
