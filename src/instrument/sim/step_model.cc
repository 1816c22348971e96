#include "sim/step_model.h"

#include <algorithm>
#include <cmath>

#include "sim/expert_ranks.h"
#include "sim/network.h"

namespace assay::sim {
namespace {

double soft_max(double x, double y) {
  if (y <= 0) return x;
  if (x <= 0) return y;
  return std::cbrt(x * x * x + y * y * y);
}

}  // namespace

double StepModel::Linear::at(double tokens) const { return soft_max(stream, per_token * tokens); }

StepModel::Linear StepModel::linear(double weights, Precision precision, double bandwidth,
                                    double compute) const {
  const double rate = d_.hardware.flops_for(compute_format(precision));
  return {weights * weight_bytes(precision) / (bandwidth * d_.hardware.memory_bytes_per_s),
          2 * weights / (compute * rate)};
}

StepModel::StepModel(const Deployment& deployment) : d_(deployment) {
  const ModelSpec& m = d_.model;
  const Parallelism& p = d_.parallelism;
  const StepConstants& c = d_.constants;
  const double bandwidth = d_.hardware.memory_bytes_per_s;
  const double bf16 = d_.hardware.flops_for("bf16");
  const Precision attention = m.attention_dtype(d_.precision);
  tokens_each_ = 1.0 + d_.drafts;
  // L G(W) = G(L W): streaming and multiplying both scale with the number of layers.
  projections_ =
      linear(m.mixer_weights() / p.tp, attention, c.weight_bandwidth, c.attention_compute);
  ffn_ = linear(m.ffn_layers() * m.ffn_weights() / p.tp, m.experts > 0 ? attention : d_.precision,
                c.weight_bandwidth, c.compute);
  shared_ = linear(m.moe_layers() * m.shared_weights() / p.tp, d_.precision, c.weight_bandwidth,
                   c.compute);
  head_ = linear(m.head_weights() / p.tp, Precision::bf16, c.weight_bandwidth, 0.6);
  kv_per_token_ = m.kv_elements_growing(p.tp) * d_.kv_bytes / (c.kv_bandwidth * bandwidth);
  kv_window_ = m.kv_elements_window(p.tp) * d_.kv_bytes / (c.kv_bandwidth * bandwidth);
  const double heads = double{1} * m.heads / p.tp;
  if (m.mla) {
    // Absorbed: each head multiplies the latent (kv_rank + rope) and its values (kv_rank).
    mla_per_token_ = tokens_each_ * 2 * heads * (2.0 * m.kv_rank + m.rope_dim) *
                     m.attention_layers() / (c.mla_compute * bf16);
  }
  const double qk = m.mla ? m.nope_dim + m.rope_dim + m.value_dim : 1.0 * m.head_dim + m.value_dim;
  const double prefill_unit = 2 * heads * qk / (c.prefill_attention * bf16);
  prefill_full_ = prefill_unit * (m.attention_layers() - m.sliding_layers);
  prefill_window_ = prefill_unit * m.sliding_layers;
  // A sparse layer's indexer: one key of FP8 for each token of context, and each of its heads
  // multiplies it.
  index_per_token_ = m.index_elements() / (c.kv_bandwidth * bandwidth);
  index_unit_ = 2.0 * m.sparse_heads * m.index_elements() /
                (c.prefill_attention * d_.hardware.flops_for("fp8"));
  // A state is read and written once a step; a prompt's token updates it and reads it in products
  // of keys and values.
  state_ = 2 * m.state_elements(p.tp) * kStateBytes / (c.kv_bandwidth * bandwidth);
  state_token_ = 6 * m.state_elements(p.tp) / (c.prefill_attention * bf16);
  if (m.experts > 0) set_experts();
  if (p.tp > 1) {
    const CollectiveTime time =
        all_reduce(d_.hardware, p.tp, 2.0 * m.hidden, c.all_reduce_bandwidth);
    // A norm across heads sums one number a token over the ranks: latency and no traffic to speak
    // of.
    const double reduces = (m.norm_across_heads ? 3.0 : 2.0) * m.layers;
    comm_fixed_ +=
        reduces * (c.all_reduce_s * (1 + 0.25 * std::log2(double{1} * p.tp)) + time.fixed_s);
    comm_token_ += 2.0 * m.layers * time.token_s;
  }
  if (m.experts > 0 && (p.dp > 1 || (p.ep > 1 && p.tp == 1))) {
    const double ep = p.ep;
    const double remote = ep * (1 - std::pow(1 - 1 / ep, m.experts_active)) * (1 - 1 / ep);
    const CollectiveTime time =
        all_to_all(d_.hardware, p.tp * p.dp, p.ep, remote * m.hidden * 3.0, c.all_to_all_bandwidth);
    comm_fixed_ += m.moe_layers() * (c.all_to_all_s + time.fixed_s);
    comm_token_ += m.moe_layers() * time.token_s;
  }
  if (p.pp > 1) {
    comm_fixed_ += p.pp * 10e-6;
    comm_token_ += p.pp * 2.0 * m.hidden / d_.hardware.link(p.gpus()).bytes_per_s;
  }
  // A norm of heads and a quantisation of activations are kernels that other layers do without.
  const double launched = m.layers + c.linear_extra * m.linear_layers +
                          c.norm_extra * m.norm_layers() +
                          (m.requantises(d_.precision) ? c.requantise_extra * m.layers : 0.0);
  fixed_ = launched * c.layer_s + c.step_s;
  eager_ = launched * c.eager_layer_s;
  activation_ = c.activation_passes * 2.0 * m.layers * m.hidden / bandwidth;
}

void StepModel::set_experts() {
  const ModelSpec& m = d_.model;
  const Parallelism& p = d_.parallelism;
  const StepConstants& c = d_.constants;
  const double bandwidth = d_.hardware.memory_bytes_per_s;
  const double rate = d_.hardware.flops_for(compute_format(d_.precision));
  const double share = m.moe_layers() * m.expert_weights() / p.moe_tp() / p.ep;
  // A narrow slice of an expert fills few of the card's units. A token's state is gathered for
  // each of its experts, and scattered back.
  const double columns = double{1} * m.expert_inner / p.moe_tp();
  expert_bandwidth_ = c.expert_bandwidth / (1 + c.expert_thin_columns / columns);
  // Redundant copies are streamed too.
  const double copies = double{1} * experts_per_rank(m, p) * p.ep / m.experts;
  expert_stream_ = copies * share * weight_bytes(d_.precision) / (expert_bandwidth_ * bandwidth);
  const double moved = 2.0 * (3.0 * m.hidden + 3 * columns) * m.moe_layers() / p.ep;
  expert_flops_ = 2 * share * m.experts_active / rate;
  expert_token_ = expert_flops_ / c.expert_compute +
                  m.experts_active * moved / (c.weight_bandwidth * bandwidth);
  expert_skew_ = std::pow(double{1} * p.ep, c.expert_imbalance);
  expert_log_miss_ = std::log1p(-std::min(0.999999, double{1} * m.experts_active / m.experts));
}

double StepModel::experts_touched(double tokens) const {
  return -std::expm1(tokens * expert_log_miss_) * d_.model.experts;
}

StepTime StepModel::parts(const StepLoad& whole) const {
  // With pp stages the batch moves as pp microbatches, one a stage: a sequence's next token comes
  // after one microbatch has passed all stages.
  const double share = 1.0 / d_.parallelism.pp;
  const double sequences = whole.sequences * share;
  const double prompts = whole.prefill_tokens * share;
  const double work = whole.prefill_work * share;
  const double context = whole.context * share;
  const StepConstants& c = d_.constants;
  const double tokens = sequences * tokens_each_ + prompts;
  const double all = (whole.all_sequences * tokens_each_ + whole.all_prefill) * share;
  StepTime out;
  out.projections = projections_.at(tokens);
  const double in_window = sequences * d_.model.sliding_window;
  const double top = d_.model.sparse_top;
  const double attended = top > 0 ? std::min(context, sequences * top) : context;
  out.kv = soft_max(kv_per_token_ * attended + kv_window_ * std::min(context, in_window),
                    mla_per_token_ * attended) +
           index_per_token_ * context + state_ * sequences;
  out.prefill_attention = prefill_full_ * (top > 0 ? std::min(work, prompts * top) : work) +
                          prefill_window_ * std::min(work, prompts * d_.model.sliding_window) +
                          index_unit_ * work + state_token_ * prompts;
  out.feed_forward = ffn_.at(tokens) + shared_.at(tokens);
  if (d_.model.experts > 0) {
    const double distinct =
        (whole.all_sequences * (1 + d_.drafts * c.draft_coverage) + whole.all_prefill) * share;
    out.experts =
        expert_skew_ * soft_max(expert_stream_ * experts_touched(distinct), expert_token_ * all);
  }
  out.communication = comm_fixed_ + comm_token_ * tokens;
  const bool prefilling = whole.prefill_tokens > 0;
  out.head = head_.at(sequences * tokens_each_ + (prefilling ? 1 : 0));
  out.drafts = d_.drafts * (out.head + c.draft_s);
  out.fixed = fixed_ + (c.sequence_s + d_.draw_s * tokens_each_) * sequences +
              activation_ * tokens + (prefilling ? c.prefill_step_s : 0);
  // The host launches a step with prompts kernel by kernel, ahead of the card where it can: such a
  // step takes the longer of both, softened, as neither is even over the layers.
  if (prefilling && !d_.backend.prompt_graphs) {
    const double card = out.total();
    out.launches = std::hypot(card, eager_) - card;
  }
  return out;
}

StepModel::Work StepModel::work(const StepLoad& load) const {
  const ModelSpec& m = d_.model;
  const Parallelism& p = d_.parallelism;
  const StepConstants& c = d_.constants;
  const double share = 1.0 / p.pp;
  const double tokens = (load.sequences * tokens_each_ + load.prefill_tokens) * share;
  const double all = (load.all_sequences * tokens_each_ + load.all_prefill) * share;
  const double bandwidth = d_.hardware.memory_bytes_per_s;
  Work out;
  out.bytes = (projections_.stream + ffn_.stream + shared_.stream) * c.weight_bandwidth * bandwidth;
  const double context = d_.model.sparse_top > 0
                             ? std::min(load.context, load.sequences * d_.model.sparse_top)
                             : load.context;
  const double work = d_.model.sparse_top > 0
                          ? std::min(load.prefill_work, load.prefill_tokens * d_.model.sparse_top)
                          : load.prefill_work;
  out.bytes += kv_per_token_ * context * share * c.kv_bandwidth * bandwidth;
  out.flops_bf16 = projections_.per_token * c.attention_compute * tokens +
                   (ffn_.per_token + shared_.per_token) * c.compute * tokens +
                   prefill_full_ * c.prefill_attention * work * share;
  if (m.experts > 0) {
    out.bytes += expert_stream_ * experts_touched(std::min(all, load.all_sequences * share)) *
                 expert_bandwidth_ * bandwidth;
    out.flops_bf16 += expert_flops_ * all;
  }
  return out;
}

double StepModel::lower_bound(const StepLoad& load) const {
  const Work w = work(load);
  return std::max(w.bytes / d_.hardware.memory_bytes_per_s, w.flops_bf16);
}

double StepModel::utilisation(const StepLoad& load) const {
  const Work w = work(load);
  const double step = seconds(load);
  const double memory = w.bytes / d_.hardware.memory_bytes_per_s / step;
  const double compute = w.flops_bf16 / step;
  return std::min(1.0, 0.6 * std::min(1.0, memory) + 0.9 * std::min(1.0, compute));
}

}  // namespace assay::sim
