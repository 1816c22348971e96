// Edge rounds: what the reference client's checker of agentic edge submissions (`qwen3.6-27b`,
// single stream) asks of one run's folder: the config's temperature, seeds and connections, the
// accuracy of BFCL v4, and that each expected turn of the conversations was observed. What it
// cannot see is for a person: that the server runs without reasoning and with a context of 32768
// tokens.
//
// judge_edge_round() is pure; check_edge_round() reads the folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::desk {

struct EdgeFinding {
  std::string name{};  // of the check: temperature, seed, …
  bool passed = false;
  std::string detail{};
};

// `config`: config.yaml; `accuracy`: accuracy_results.json, null where nothing was scored;
// `turns`: the `turns` of scores.json, null where there is none.
std::vector<EdgeFinding> judge_edge_round(const Json& config, const Json& accuracy,
                                          const Json& turns);

// Whether the folder is a run, and of an edge round's ruleset or workload.
bool is_edge_round(const std::filesystem::path& folder);
Result<std::vector<EdgeFinding>> check_edge_round(const std::filesystem::path& folder);

}  // namespace assay::desk
