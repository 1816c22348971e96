// Edition: the numbers of one edition of the MLPerf Endpoints rules, as data: a change of the rules
// changes this table and not the code that plans or checks. v1.0 is the current edition; v0.7
// differs in the few lines that its maker sets. Source: the rules document, its reference client
// and their lists (benchmarks, seeds, drafters), read 2026-10.
//
// Times are in seconds, shares in percent as in the rules. Pure data; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rulebook/cohort.h"
#include "rulebook/regions.h"

namespace assay::rulebook {

// A metric of an accuracy result and the range for it; both bounds are allowed values.
struct AccuracyGate {
  std::string_view metric{};
  double lower = 0;
  std::optional<double> upper{};
};

// Limits for an agentic benchmark's points.
struct AgenticGate {
  double inline_min = 0;    // percent of the expected turns
  double swebench_min = 0;  // percent, mean over the bands
  double osl_min = 0;       // tokens a turn, mean over the full run
  double osl_max = 0;
};

struct Benchmark {
  std::string_view name{};        // also the directory's name
  std::string_view repository{};  // of the canonical weights
  bool agentic = false;
  // The performance dataset: its size is a pass, and the concurrency of a dedicated Offline point.
  std::int64_t samples = 0;
  std::int64_t accuracy_samples_min = 0;
  std::vector<AccuracyGate> gates{};
  AgenticGate agentic_gate{};
};

// The size of one pass of a dataset, by the name in a point.
struct DatasetMinimum {
  std::string_view dataset{};
  std::int64_t samples = 0;
};

struct SeedSet {
  std::string id{};
  std::optional<Cohort> cohort{};  // the set's cohort; that one and the next three may adopt it
  std::uint64_t scheduler_rng_seed = 0;
  std::uint64_t sample_index_rng_seed = 0;
  std::uint64_t model_seed = 0;
};

// A speculative decoder that may be used. It is identified by its weights' checksum, or by the
// target's checksum and the configuration.
struct Drafter {
  std::string benchmark{};
  std::optional<Cohort> approved{};
  std::string model_id{};
  std::string weight_checksum{};
  std::string target_checksum{};
  Json configuration{};
};

constexpr std::size_t kShortSystemNameMax = 20;  // characters of shortened_system_name

struct Edition {
  std::string_view name{};
  // Derivations and names that apply.
  bool c_min_derived = true;         // false: C_min is 32
  bool pareto_layout = false;        // trees may be laid out as systems/ and pareto/
  bool margin_is_high = false;       // the margin counts as High Concurrency
  bool tps_per_user_of_tpot = true;  // 1000 / TPOT P90 ms; false: system_tps / concurrency
  std::string_view ttft_percentile = "90.0";
  std::vector<std::string_view> region_names{};
  std::string_view choice_region = "submitters_choice";
  // Points.
  std::int64_t points_min = 7;  // without a dedicated Offline point
  std::int64_t points_max = 32;
  double ulc_duration_s = 600;  // for at most 32 in flight, for every C_min
  double duration_s = 1200;
  double agentic_duration_s = 2400;
  double offline_ratio = 0.98;
  std::int64_t super_passes_min = 4;
  // Tolerances.
  double metric_tolerance = 0.01;      // relative
  double utilization_tolerance = 0.1;  // absolute
  std::int64_t responses_bytes_max = 10'240;
  // Lists.
  std::vector<Benchmark> benchmarks{};
  std::vector<DatasetMinimum> datasets{};
  std::vector<SeedSet> seed_sets{};
  int seed_adoption_cohorts = 4;
  std::vector<Drafter> drafters{};
  int drafter_lead_cohorts = 2;
  std::int64_t trajectories = 613;  // agentic: issued in multiples of this number

  const Benchmark* benchmark(std::string_view name) const;
  // Returns the benchmark with this name in any spelling ("llama3.1-8b"), or nullptr.
  const Benchmark* benchmark_like(std::string_view name) const;
  // The rules' spelling of a model that they have; else the text as it is.
  std::string name_of(std::string_view model) const;
  // Looks up the point's dataset name, whole or before "::"; 0 if the table lacks it.
  std::int64_t samples_of(std::string_view dataset) const;
  const SeedSet* seed_set(std::string_view id) const;
};

// Accepts "v0.7", "v1.0" (or without the v).
Result<Edition> edition_named(std::string_view name);

}  // namespace assay::rulebook
