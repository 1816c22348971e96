#include "plan/caching_phase_plan.h"

#include "base/check.h"
#include "base/format.h"

namespace assay::plan {
namespace {

Result<void> check_caching_rows(const Audit& audit, const Dataset& dataset) {
  const std::size_t rows = dataset.rows();
  if (audit.samples > rows) {
    return invalid(format("audit.samples: {}: the reference asks distinct rows, and '{}' has {}",
                          audit.samples, dataset.name, rows));
  }
  if (audit.sample_index >= rows) {
    return invalid(format("audit.sample_index: {}: '{}' has rows 0 to {}", audit.sample_index,
                          dataset.name, rows - 1));
  }
  return {};
}

Config caching_config(const Config& config, std::uint64_t queries, bool repeated) {
  Config out = config;
  out.name = repeated ? "output_caching" : "reference";
  out.audit.reset();
  out.mode = Mode::perf;
  std::erase_if(out.datasets,
                [](const DatasetConfig& data) { return data.type == DatasetType::accuracy; });
  Runtime& runtime = out.settings.runtime;
  runtime.n_samples_to_issue = queries;
  runtime.duration.reset();
  runtime.min_duration.reset();
  runtime.passes.reset();
  runtime.salt = false;
  return out;
}

}  // namespace

std::uint64_t caching_queries(const Audit& audit, bool repeated) {
  return repeated ? audit.audit_samples.value_or(audit.samples) : audit.samples;
}

Result<CachingPhasePlan> plan_caching_phase(const Config& config, const Dataset& dataset,
                                            bool repeated) {
  CHECK(config.audit);
  const Audit& audit = *config.audit;
  TRY(check_caching_rows(audit, dataset));
  CachingPhasePlan out{.config =
                           caching_config(config, caching_queries(audit, repeated), repeated)};
  ASSIGN_OR_RETURN(out.bundle, make_plan(out.config, {dataset}));
  for (PhasePlan& phase : out.bundle.plan.phases) {
    if (phase.kind != PhaseKind::performance || !repeated) continue;
    phase.order = SampleOrder::constant(static_cast<std::uint32_t>(audit.sample_index));
  }
  return out;
}

}  // namespace assay::plan
