// Scenario: a person's description of a serving system: model, hardware, number of workers, split.
// The flags of `assay simulate` and the file of `assay endpoint --scenario` both become a Scenario,
// and it becomes a ClusterSpec. docs/formats/scenario.md has the file format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster.h"

namespace assay::sim {

struct Fault {
  enum class Kind : std::uint8_t { kill, revive, slow, shrink_kv };
  Kind kind = Kind::kill;
  double at_s = 0;  // after the start, in the system's own time
  std::uint32_t worker = 0;
  double factor = 1;  // slow: factor of the step times; shrink_kv: share that is left
};

struct Scenario {
  std::string model{};
  std::string hardware{};
  std::string backend = "vllm";
  std::string backend_version{};  // its release, "1.2.0rc6.post3"; "": not known
  std::string precision{};
  std::string parallel{};  // "tp=8,dp=1,ep=1"; "": tp over the GPUs of one worker
  std::uint32_t gpus = 0;  // 0: one worker's
  std::string disagg{};    // "4P+1D", or with layouts "4P:tp=4+1D:dp=32,ep=32"; "": aggregated
  std::string router = "round_robin";
  std::string software{};  // a generation of stacks of the catalogue; "": those of the fit
  // Each token is drawn from the whole vocabulary (a temperature, and no top_k). What that takes is
  // the software generation's to say.
  bool sampled = false;
  std::optional<std::uint32_t> mtp{};  // drafts; not given: as the measured recipe
  std::vector<double> acceptance{};    // conditional, one a draft
  std::uint64_t seed = 1;
  bool prefix_cache = true;
  double noise_sigma = 0;
  double stall_chance = 0;
  double kv_share = 1;
  std::uint32_t decode_batch = 0;  // disaggregated: sequences of one decode rank; 0: as the recipes
  double speedup = 1;              // live only
  std::vector<Fault> faults{};
};

// A scenario file: YAML with these names as keys. `where` is its name in errors.
Result<Scenario> read_scenario(std::string_view yaml, const std::string& where);
Result<Scenario> read_scenario_file(const std::string& path);

// Looks up all names and checks the whole scenario.
Result<ClusterSpec> make_cluster_spec(const Catalogue& catalogue, const Scenario& scenario);

// "deepseek-r1 fp8 on 8 x h200-sxm, sglang, tp=8,dp=1,ep=1, KV fp8"
std::string describe(const ClusterSpec& spec);
// Its part about the workers: "tp=8,dp=1,ep=1, 9 workers", "1P(tp=8,…) + 2D(…), MTP 1".
std::string layout_text(const ClusterSpec& spec);

}  // namespace assay::sim
