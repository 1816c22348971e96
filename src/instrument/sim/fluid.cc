#include "sim/fluid.h"

#include <algorithm>
#include <cmath>

#include "sim/step_model.h"

namespace assay::sim {
namespace {

constexpr int kMeanDraws = 2000;

// One worker's decoding, with the prompts that such a batch brings where it computes them itself.
struct Decoding {
  Decoding(const Deployment& deployment, const MeanLoad& load, bool prompts)
      : d(deployment), mean(load), model(deployment), own_prompts(prompts) {
    rate = d.tokens_per_step(mean.output);
    const double kept = d.backend.reserves_output ? mean.held : mean.held / 2;
    const double each = mean.input + kept + d.fixed_tokens();
    batch_max = std::min(d.kv_capacity_tokens() / each, double{1} * d.backend.seqs_max);
  }

  // Seconds of a step with `batch` sequences on each attention rank.
  double step(double batch) const {
    const double ranks = d.parallelism.dp;
    StepLoad load{.sequences = batch,
                  .context = batch * (mean.input + mean.held / 2),
                  .all_sequences = batch * ranks};
    const double alone = model.seconds(load);
    if (!own_prompts) return alone;
    const double prompts = batch * rate / mean.output;  // of a rank, that begin in each step
    const double together = std::max(1.0, prompts);
    load.prefill_tokens = together * mean.input;
    load.prefill_work = together * mean.input * mean.input / 2;
    load.all_prefill = load.prefill_tokens * ranks;
    return alone + std::min(1.0, prompts) * (model.seconds(load) - alone);
  }
  Fluid at(double batch) const {
    const double seconds = step(batch);
    return {.tokens_per_s = batch * d.parallelism.dp * rate / seconds, .tpot_s = seconds / rate};
  }

  const Deployment& d;
  MeanLoad mean;
  StepModel model;
  bool own_prompts = true;
  double rate = 1;  // tokens of a sequence in a step
  double batch_max = 0;
};

// Prompts a second of all prefill workers.
double prompts_per_s(const ClusterSpec& spec, const MeanLoad& load) {
  const Deployment& d = *spec.prefill;
  const double together = std::max(1.0, std::floor(d.backend.token_budget / load.input));
  const double ranks = d.parallelism.dp;
  const StepLoad step{.prefill_tokens = together * load.input,
                      .prefill_work = together * load.input * load.input / 2,
                      .all_prefill = together * load.input * ranks};
  const double seconds = StepModel(d).seconds(step) + together * d.backend.send_s;
  return spec.prefill_workers * together * ranks / seconds;
}

Fluid of_system(const ClusterSpec& spec, const MeanLoad& load, const Decoding& decoding,
                double batch) {
  Fluid out = decoding.at(batch);
  out.tokens_per_s *= spec.workers;
  if (!spec.prefill) return out;
  const double fed = prompts_per_s(spec, load) * load.output;
  out.tokens_per_s = std::min(out.tokens_per_s, fed);
  return out;
}

}  // namespace

MeanLoad mean_load(const Workload& workload) {
  Rng rng(1);
  double input = 0;
  double output = 0;
  double squares = 0;
  for (int i = 0; i < kMeanDraws; ++i) {
    input += workload.input(rng);
    const double out = workload.output(rng);
    output += out;
    squares += out * out;
  }
  return {.input = std::max(1.0, input / kMeanDraws),
          .output = std::max(1.0, output / kMeanDraws),
          .held = std::max(1.0, squares / std::max(1.0, output))};
}

Fluid fluid_at(const ClusterSpec& spec, const MeanLoad& load, double concurrency) {
  const Decoding decoding(spec.deployment, load, !spec.prefill);
  const double ranks = double{1} * spec.workers * spec.deployment.parallelism.dp;
  const double batch = std::min(concurrency / ranks, decoding.batch_max);
  return batch <= 0 ? Fluid{} : of_system(spec, load, decoding, batch);
}

Fluid fluid_within(const ClusterSpec& spec, const MeanLoad& load, double tpot_s) {
  const Decoding decoding(spec.deployment, load, !spec.prefill);
  if (decoding.batch_max < 1 || decoding.at(1).tpot_s > tpot_s) return {};
  double low = 1;
  double high = decoding.batch_max;
  if (decoding.at(high).tpot_s <= tpot_s) low = high;
  for (int i = 0; i < 40 && high - low > 0.5; ++i) {
    const double middle = (low + high) / 2;
    (decoding.at(middle).tpot_s <= tpot_s ? low : high) = middle;
  }
  return of_system(spec, load, decoding, low);
}

double in_flight(const Fluid& at) { return at.tokens_per_s * at.tpot_s; }

}  // namespace assay::sim
