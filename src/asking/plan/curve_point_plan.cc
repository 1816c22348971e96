#include "plan/curve_point_plan.h"

#include <algorithm>

#include "base/format.h"
#include "dataset/synthetic.h"
#include "plan/resolve.h"

namespace assay::plan {
namespace {

// Warm-up queries for each slot: enough to open connections and to let the server compile and fill
// its batches. The steady-state detector crops the ramp that remains.
constexpr std::uint64_t kWarmupEach = 2;
constexpr std::uint64_t kWarmupMin = 8;
constexpr std::uint64_t kWarmupMax = 4096;
// Salt for the warm-up, derived from the curve's seeds: its prompts are the same in each point.
constexpr std::uint64_t kWarmupSalt = 0x5741524d;

Config config_of(const Config& config, const CurvePoint& point) {
  Config out = config;
  out.name = point.name;
  out.audit.reset();  // belongs to the curve, not to the point
  LoadPattern& load = out.settings.load_pattern;
  load = LoadPattern{};
  if (point.offline == Offline::dedicated) {
    load.type = Pattern::max_throughput;
  } else {
    load.type = Pattern::concurrency;
    load.target_concurrency = static_cast<std::uint32_t>(point.concurrency);
  }
  Runtime& runtime = out.settings.runtime;
  runtime.n_samples_to_issue.reset();
  runtime.duration.reset();
  runtime.min_duration.reset();
  runtime.passes.reset();
  runtime.salt = true;
  runtime.salt_random_seed = runtime.scheduler_random_seed;
  if (point.offline == Offline::dedicated) {
    runtime.passes = point.passes_min;
  } else {
    runtime.min_duration = point.window_min;
  }
  out.settings.warmup.enabled = true;
  out.settings.warmup.drain = true;
  if (out.model_params.streaming == Switch::automatic) out.model_params.streaming = Switch::on;
  if (!point.accuracy) {
    std::erase_if(out.datasets,
                  [](const DatasetConfig& data) { return data.type == DatasetType::accuracy; });
    out.mode = Mode::perf;
  }
  return out;
}

bool has_attachments(const Dataset& measured) {
  Sample room;
  return measured.rows() > 0 && !measured.row(0, room).attachments.empty();
}

// Whether a request needs what no made prompt has: tensors, a sound, documents to rank.
bool more_than_text(const Dataset& measured) {
  if (measured.rows() == 0) return false;
  Sample room;
  return has_attachments(measured) || !measured.row(0, room).body["documents"].is_null();
}

// Makes prompts about as long as the measured ones, but none of them.
Result<Dataset> warmup_prompts(const Config& config, const Dataset& measured) {
  dataset::SyntheticSpec spec;
  spec.seed = config.settings.runtime.dataloader_random_seed ^ kWarmupSalt;
  std::uint64_t bytes = 0;
  std::uint64_t ids = 0;
  // The first made rows represent all of them.
  constexpr std::size_t kMadeRows = 256;
  const std::size_t looked_at =
      measured.make_row ? std::min(kMadeRows, measured.rows()) : measured.rows();
  Sample room;
  for (std::size_t i = 0; i < looked_at; ++i) {
    const Sample& sample = measured.row(i, room);
    bytes += sample.prompt.size() + sample.system.size();
    ids += sample.input_tokens.size();
  }
  constexpr std::uint64_t kBytesAToken = 5;
  const std::uint64_t rows = std::max<std::uint64_t>(1, measured.rows());
  const std::uint64_t mean = (ids + bytes / kBytesAToken) / std::max<std::uint64_t>(1, looked_at);
  spec.isl = dataset::LengthSpec::fixed(
      static_cast<std::int64_t>(std::clamp<std::uint64_t>(mean, 16, 8192)));
  spec.token_ids = ids > 0;
  spec.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(kWarmupMax, rows));
  return dataset::make_synthetic(spec, "warmup");
}

std::uint64_t warmup_requests(const Config& config, const CurvePoint& point, bool quick) {
  if (config.settings.warmup.n_requests) return *config.settings.warmup.n_requests;
  const auto level = static_cast<std::uint64_t>(point.concurrency);
  if (quick) return std::clamp<std::uint64_t>(level, kWarmupMin, 64);
  return std::clamp(level * kWarmupEach, kWarmupMin, kWarmupMax);
}

// Sets the measured phase's length: whole passes, and the time that the window needs.
void set_point_length(PhasePlan& phase, const CurvePlan& curve, const CurvePoint& point,
                      double rate) {
  if (point.offline == Offline::dedicated) return;
  phase.stop.pass = curve.rows;
  phase.stop.queries_min = point.passes_min * curve.rows;
  phase.stop.duration_min = least_time(point, curve.rows, rate);
  phase.stop.duration_max = std::min(phase.stop.duration_max, point.time_max);
}

}  // namespace

Result<PointPlan> plan_point(const Config& config, const std::vector<Dataset>& datasets,
                             const CurvePlan& curve, const CurvePoint& point, double rate) {
  PointPlan out{.config = config_of(config, point)};
  out.config.settings.warmup.n_requests = warmup_requests(config, point, curve.quick);
  std::vector<Dataset> used;
  std::size_t next = 0;
  for (const DatasetConfig& data : config.datasets) {
    if (!wants(config, data)) continue;
    if (next == datasets.size()) return invalid(format("dataset '{}' was not loaded", data.name));
    const Dataset& dataset = datasets[next++];
    if (wants(out.config, data) && (data.type == DatasetType::performance || point.accuracy)) {
      used.push_back(dataset);
    }
  }
  // A tensor or a sound has no text for a salt to stand in.
  if (std::ranges::any_of(used, has_attachments)) out.config.settings.runtime.salt = false;
  auto bundle = make_plan(out.config, used);
  if (!bundle) {
    // Rows that cannot be salted are asked without a salt; any other error comes again below.
    out.config.settings.runtime.salt = false;
    ASSIGN_OR_RETURN(out.bundle, make_plan(out.config, std::move(used)));
  } else {
    out.bundle = *std::move(bundle);
  }
  std::uint32_t measured = 0;
  for (PhasePlan& phase : out.bundle.plan.phases) {
    if (phase.kind != PhaseKind::performance) continue;
    measured = phase.dataset;
    set_point_length(phase, curve, point, rate);
  }
  for (PhasePlan& phase : out.bundle.plan.phases) {
    if (phase.kind != PhaseKind::warmup) continue;
    phase.salted = false;
    if (more_than_text(out.bundle.datasets[measured].dataset)) {
      phase.dataset = measured;
      phase.order = SampleOrder::sequential(
          static_cast<std::uint32_t>(out.bundle.datasets[measured].dataset.rows()));
      out.warmup_source = "the measured rows, which hold more than text";
    } else {
      PlannedDataset warmup{.generation = out.bundle.datasets[measured].generation};
      ASSIGN_OR_RETURN(warmup.dataset,
                       warmup_prompts(config, out.bundle.datasets[measured].dataset));
      phase.dataset = static_cast<std::uint32_t>(out.bundle.datasets.size());
      phase.order = SampleOrder::sequential(static_cast<std::uint32_t>(warmup.dataset.rows()));
      out.bundle.datasets.push_back(std::move(warmup));
      out.warmup_source = "synthetic prompts of common words, about as long as the measured ones";
    }
    // The warm-up has its own level, even if the measured phase asks everything at once.
    phase.open_loop = false;
    phase.arrivals.clear();
    phase.limits = {{{}, static_cast<std::uint32_t>(point.concurrency)}};
    phase.stop.queries_min = phase.stop.queries_max = *out.config.settings.warmup.n_requests;
  }
  out.bundle.notes.clear();  // the notes describe a warm-up with measured prompts
  return out;
}

Result<PointPlan> plan_audit_phase(const Config& config, const std::vector<Dataset>& datasets,
                                   const CurvePlan& curve, const AuditPhase& wanted) {
  CurvePoint point{.name = wanted.row ? "output_caching" : "reference",
                   .concurrency = wanted.concurrency,
                   .choice = true};
  ASSIGN_OR_RETURN(PointPlan out, plan_point(config, datasets, curve, point, 0));
  // With a salt, no two queries would be the same.
  out.config.settings.runtime.salt = false;
  out.config.settings.runtime.n_samples_to_issue = wanted.queries;
  for (PhasePlan& phase : out.bundle.plan.phases) {
    if (phase.kind != PhaseKind::performance) continue;
    phase.salted = false;
    phase.stop.pass = 0;
    phase.stop.duration_min = {};
    phase.stop.queries_min = phase.stop.queries_max = wanted.queries;
    if (wanted.row) phase.order = SampleOrder::constant(*wanted.row);
  }
  return out;
}

}  // namespace assay::plan
