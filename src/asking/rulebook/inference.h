// The rounds of MLPerf Inference as their submission checker has them: models, scenarios, samples,
// limits, targets, tests and seeds, as data. Source: the constants of mlcommons/inference's checker
// (tools/workload_rounds.py rules writes them; tests/data/checker_constants.json names the commit).
//
// Scenarios are spelled as there ("SingleStream"), metrics as there too ("ROUGE1"). Pure data; any
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::rulebook {

// Metrics with their bounds, in the file's order; a bound itself is allowed.
using MetricBounds = std::vector<std::pair<std::string, double>>;

struct InferenceModel {
  std::string name{};
  // By system type: "datacenter", "edge", "datacenter-edge".
  std::map<std::string, std::vector<std::string>> required{};
  std::map<std::string, std::vector<std::string>> optional{};
  std::int64_t performance_samples = 0;  // at least
  std::int64_t offline_samples_min = 0;  // of Offline's query in closed; 0: none is published
  std::vector<std::string> tests{};      // compliance: "TEST01"
  // A folder of the accuracy run and what must lie in it, names without their ends.
  std::map<std::string, std::vector<std::string>> accuracy_files{};
  Json facts{};  // all of it as published

  // What is by scenario there, or for all of them.
  MetricBounds at_least(std::string_view scenario) const;
  MetricBounds at_most(std::string_view scenario) const;
  std::int64_t accuracy_samples(std::string_view scenario) const;
  std::optional<std::int64_t> latency_ns(std::string_view scenario) const;
  std::optional<std::int64_t> queries_min(std::string_view scenario) const;
  struct TokenLimits {
    std::int64_t ttft_ns = 0;
    std::int64_t tpot_ns = 0;
  };
  std::optional<TokenLimits> token_limits(std::string_view scenario) const;
  // True where a submission must measure time to first token.
  bool language_model() const;
  // The detail log's key of the result.
  std::string metric_key(std::string_view scenario) const;
  // TEST01 without equal bytes: how far a metric may move, in percent.
  double accuracy_delta_percent(std::string_view metric) const;
};

struct InferenceRound {
  std::string name{};  // "v6.1"
  std::uint64_t qsl_rng_seed = 0;
  std::uint64_t sample_index_rng_seed = 0;
  std::uint64_t schedule_rng_seed = 0;
  std::vector<InferenceModel> models{};
  std::map<std::string, std::string, std::less<>> names{};  // other names of models

  // By its name in a tree, or by another name for it; null: no model of this round. `own` maps a
  // submitter's names (model_mapping.json).
  const InferenceModel* model(std::string_view folder, const Json& own = {}) const;
  // Before v6.0 measurements, compliance and code were trees of their own.
  bool one_tree() const { return name >= "v6.0"; }
};

// "v5.0", "v5.1", "v6.0", "v6.1". Fails for another, and names these.
Result<InferenceRound> inference_round(std::string_view name);
std::vector<std::string> inference_round_names();

// The table itself; inference_rounds.cc.
std::string_view inference_rounds_json();

}  // namespace assay::rulebook
