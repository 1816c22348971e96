// Deployment: one model on some accelerators with one engine: all properties of a worker.
//
// Parallelism, of one worker (tp x dp x pp accelerators):
//   tp      tensor parallelism of attention and dense layers
//   dp      attention data parallelism: ranks with their own sequences and KV, one barrier a step
//   ep      expert parallelism; the other tp*dp/ep split each expert (moe_tp)
//   pp      pipeline stages
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/catalogue.h"
#include "sim/trust.h"

namespace assay::sim {

struct Parallelism {
  unsigned tp = 1;
  unsigned dp = 1;
  unsigned ep = 1;
  unsigned pp = 1;

  unsigned gpus() const { return tp * dp * pp; }
  unsigned moe_tp() const { return tp * dp / ep; }
  bool operator==(const Parallelism&) const = default;
};

// "tp=8,dp=1,ep=1". A missing value is 1, except ep with dp > 1: experts are then spread over all
// tp*dp ranks, as is usual.
Result<Parallelism> parse_parallelism(std::string_view text);
std::string to_string(const Parallelism& parallelism);

struct Deployment {
  HardwareSpec hardware{};
  ModelSpec model{};
  BackendSpec backend{};
  Precision precision = Precision::fp8;
  Parallelism parallelism{};
  std::string backend_version{};     // its release, "": not known
  unsigned drafts = 0;               // multi-token prediction
  std::vector<double> acceptance{};  // conditional, one a draft, at 922 output tokens
  double accept_growth = 0;          // see StepConstants
  double kv_bytes = 2;               // of one KV element
  StepConstants constants{};
  double step = 1;    // all of a step takes this many times what the constants say
  double draw_s = 0;  // drawing one token from the whole vocabulary; 0: the likeliest is taken
  Trust trust{};
  std::string software{};       // a generation of stacks; "": those of the fit
  bool apart = false;           // a worker of a system whose prefill and decode are separate
  std::vector<Doubt> doubts{};  // the catalogue's

  Subject subject() const;
  // Name of the format with kv_bytes: "fp8", "bf16".
  std::string kv_format() const;
  // Memory left for KV, in tokens of one attention rank; 0 when the weights do not fit.
  double kv_capacity_tokens() const;
  double weights_bytes_per_gpu() const;
  // KV bytes for one more token of context on one accelerator; and of one whole sequence, for
  // moving it to another worker.
  double kv_bytes_per_token() const;
  // The memory of one sequence's state of linear attention, as a number of tokens' KV.
  double fixed_tokens() const;
  double kv_bytes_moved(double tokens) const;
  // The acceptances of a sequence of `output` tokens, and its expected tokens in a step.
  std::vector<double> acceptance_for(double output) const;
  double tokens_per_step(double output) const;
};

struct DeploymentRequest {
  std::string model{};
  std::string hardware{};
  std::string backend{};
  std::string precision{};  // "": the hardware's serving format: nvfp4/mxfp4, fp8, bf16
  Parallelism parallelism{};
  std::optional<unsigned> drafts{};    // not given: the backend's measured recipe
  std::vector<double> acceptance{};    // not given: the calibration's
  WorkerRole role = WorkerRole::both;  // one of the two: no recipe drafts
  std::string software{};              // a generation of stacks; "": those of the fit
  bool sampled = false;                // as Scenario's
  std::string backend_version{};       // its release; "": not known
};

// Looks up all names, checks that they fit together and that the weights fit the memory.
Result<Deployment> make_deployment(const Catalogue& catalogue, const DeploymentRequest& request);

// 1 + a1 + a1 a2 + ...
double expected_tokens(const std::vector<double>& acceptance);

}  // namespace assay::sim
