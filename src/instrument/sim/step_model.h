// StepModel: the time of one engine step: a pure function of the batch.
//
// It is the sum of the roofline terms in docs/guide/serving_model.md. Each linear part with W
// weights of b bytes and T tokens costs
//     G(W, T) = ( (W b / (share BW))^3 + (2 W T / (share F))^3 )^(1/3)
// a soft maximum of streaming the weights and multiplying by them: a hard one is too fast at the
// knee. All values are for one accelerator; coefficients are computed once, and a step costs tens
// of flops.
//
// Threads may share a value.
#pragma once

#include "sim/deployment.h"

namespace assay::sim {

// A step's batch. The first group is the busiest attention rank's (the barrier waits for it).
struct StepLoad {
  double sequences = 0;       // decoding
  double context = 0;         // sum of their contexts, tokens
  double prefill_tokens = 0;  // prompt tokens in this step
  double prefill_work = 0;    // sum over chunks of q (s + q/2): q new tokens after s old ones
  double all_sequences = 0;   // over every rank
  double all_prefill = 0;
};

// Seconds, part by part; total() is the step.
struct StepTime {
  double projections = 0;
  double kv = 0;  // decode attention
  double prefill_attention = 0;
  double feed_forward = 0;  // dense layers and shared experts
  double experts = 0;
  double communication = 0;
  double head = 0;
  double drafts = 0;
  double fixed = 0;     // launches, scheduling, per sequence, per prompt
  double launches = 0;  // how long the card waits for those of a step with prompts
  double total() const {
    return projections + kv + prefill_attention + feed_forward + experts + communication + head +
           drafts + fixed + launches;
  }
};

class StepModel {
 public:
  explicit StepModel(const Deployment& deployment);

  StepTime parts(const StepLoad& load) const;
  double seconds(const StepLoad& load) const { return parts(load).total() * d_.step; }
  // A lower bound for every engine on this hardware: the larger of bytes over bandwidth and
  // operations over compute, at shares of 1.
  double lower_bound(const StepLoad& load) const;
  // Expected distinct experts that `tokens` tokens touch: E (1 - (1 - k/E)^T).
  double experts_touched(double tokens) const;
  // The step's use of the card, 0 to 1, for energy.
  double utilisation(const StepLoad& load) const;

 private:
  struct Linear {  // G's two terms: seconds to stream, seconds a token
    double stream = 0;
    double per_token = 0;
    double at(double tokens) const;
  };
  struct Work {
    double bytes = 0;
    double flops_bf16 = 0;  // seconds at full rate, for any format
  };

  Linear linear(double weights, Precision precision, double bandwidth, double compute) const;
  Work work(const StepLoad& load) const;
  void set_experts();

  Deployment d_;
  double tokens_each_ = 1;  // a decoding sequence's tokens in a step: 1 + drafts
  Linear projections_{};
  Linear ffn_{};
  Linear shared_{};
  Linear head_{};
  double kv_per_token_ = 0;  // seconds
  double kv_window_ = 0;
  double mla_per_token_ = 0;
  double index_per_token_ = 0;
  double index_unit_ = 0;
  double state_ = 0;         // seconds a sequence
  double state_token_ = 0;   // seconds a prompt token
  double prefill_full_ = 0;  // seconds a unit of prefill_work
  double prefill_window_ = 0;
  double expert_stream_ = 0;  // seconds for one expert touched, all layers
  double expert_token_ = 0;
  double expert_flops_ = 0;      // of expert_token_, the products at the full rate
  double expert_bandwidth_ = 1;  // share of the card's, for slices of this width
  double expert_skew_ = 1;       // busiest expert rank over the mean
  double expert_log_miss_ = 0;   // log(1 - k/E)
  double comm_fixed_ = 0;
  double comm_token_ = 0;
  double fixed_ = 0;
  double eager_ = 0;       // launching all layers without a graph
  double activation_ = 0;  // seconds a token
};

}  // namespace assay::sim
