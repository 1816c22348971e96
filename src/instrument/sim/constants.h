// StepConstants: the efficiencies and fixed costs that turn a roofline into a step time. All values
// fitted to measurements are here; catalogue/calibration.yaml and docs/guide/serving_model.md give
// their sources.
//
// A value for one (model, hardware, backend, precision) is the base times every adjustment whose
// `when` matches: an architecture's, a backend's, a generation's, their pairs. So a pair without
// measurements gets what its parts have in common, and a measured family gets its own value. A
// user's twin is one more adjustment.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sim/measured_load.h"

namespace assay::sim {

struct StepConstants {
  // Shares of the card's limits, 0 to 1 (compute may exceed it if a datasheet is modest).
  double weight_bandwidth = 0.8;     // streaming weights
  double compute = 0.6;              // feed-forward and shared experts
  double attention_compute = 0.6;    // projections
  double kv_bandwidth = 0.6;         // reading KV in decode
  double mla_compute = 0.5;          // absorbed MLA decode, of BF16
  double prefill_attention = 0.6;    // of BF16
  double expert_bandwidth = 0.6;     // streaming experts
  double expert_thin_columns = 100;  // expert_bandwidth / (1 + this over a slice's columns)
  double expert_imbalance = 0.05;    // the busiest of ep ranks takes ep^imbalance times the mean
  double expert_compute = 0.3;       // grouped GEMM over the imbalance of experts
  double all_reduce_bandwidth = 0.7;
  double all_to_all_bandwidth = 0.55;
  // Seconds.
  double all_reduce_s = 7e-6;     // times (1 + log2(n)/4), each
  double all_to_all_s = 40e-6;    // both ways, each layer
  double layer_s = 25e-6;         // launches, norms, costs outside the roofline, each layer
  double step_s = 0.6e-3;         // scheduling
  double sequence_s = 15e-6;      // each decoding sequence of a step
  double prefill_step_s = 1e-3;   // a step with prompts
  double draft_s = 0.3e-3;        // each draft pass of multi-token prediction
  double eager_layer_s = 0.1e-3;  // launching a layer of a step with prompts without a graph
  double request_s = 0.025;       // front end: HTTP, tokenizing, first detokenizing
  // Reads or writes of a token's hidden state in each layer, outside the matrices.
  double activation_passes = 3.7;
  // A layer takes layer_s this share longer: of linear attention, with a norm of its heads, whose
  // activations are quantised anew.
  double linear_extra = 0.5;
  double norm_extra = 0.2;
  double requantise_extra = 0.2;
  // Multi-token prediction.
  double draft_coverage = 0.6;  // how far a sequence's drafts use experts of their own
  double accept_first = 0.75;   // chance that the first draft is accepted
  double accept_decay = 0.8;    // each further draft's conditional chance is this much lower
  // Long outputs repeat themselves: rejection falls as (output / 922 tokens)^-growth.
  double accept_growth = 0.2;
};

struct ConstantName {
  std::string_view name;
  double StepConstants::*member;
};
// Every constant, in the order of the struct.
const std::vector<ConstantName>& constant_names();

// The keys of an adjustment's or rule's `when`; "" in a filter matches anything. A filter's version
// matches the releases that begin with its parts: 1.1 is 1.1.0rc2 too, and not 1.10.
struct Subject {
  std::string architecture{};
  std::string model{};
  std::string generation{};
  std::string hardware{};
  std::string backend{};
  std::string precision{};
  std::string version{};  // the backend's release, "" if unknown

  bool matches(const Subject& filter) const;
};
Result<Subject> read_filter(const Json& when, const std::string& where);

struct Adjustment {
  Subject when{};
  std::vector<std::pair<double StepConstants::*, double>> times{};
};

// "compute: 1.2, …" as pairs; every name must be a constant's and every value above 0.
Result<std::vector<std::pair<double StepConstants::*, double>>> read_factors(
    const Json& map, const std::string& where);

// Measured points with which the model was compared: of one model, card, backend and format.
struct ComparedFamily {
  Subject what{};
  unsigned points = 0;
  double tpot_error = 0;     // median, a share
  double in_flight_max = 0;  // on each accelerator
  bool apart = false;        // prefill and decode have separate workers
};

struct Calibration {
  StepConstants base{};
  std::vector<Adjustment> adjustments{};
  std::vector<ComparedFamily> compared{};
  std::optional<MeasuredLoad> load{};  // of a twin's runs: the default load
  std::string provenance{};

  // Adjustments of either subject: a model's own, and that whose layers it shares.
  StepConstants resolve(const Subject& subject, const Subject& alike) const;
  StepConstants resolve(const Subject& subject) const { return resolve(subject, subject); }
};

// Reads a calibration file: its `base`, if given, replaces that of `into`, and its adjustments are
// added.
Result<void> read_calibration(const Json& file, const std::string& where, Calibration& into);

}  // namespace assay::sim
