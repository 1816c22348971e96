// MeasuredLoad: the load of measured runs: the lengths of prompts and replies, and the share of
// prompt tokens that the server had cached. A twin is fitted with it and keeps it, so that later
// simulations ask the same as the measured runs.
//
// A distribution is a list of classes: from `low` to `high` tokens, both ends included; all lengths
// of a class are equally likely. Values; any thread may read.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "sim/workload.h"

namespace assay::sim {

struct LengthClass {
  std::uint32_t low = 1;
  std::uint32_t high = 1;
  double share = 1;
};
using LengthClasses = std::vector<LengthClass>;

struct MeasuredLoad {
  LengthClasses input{};
  LengthClasses output{};
  double cached_share = 0;  // of prompt tokens, if the server reported it
};

double mean_tokens(const LengthClasses& lengths);
// "27", or "12 to 800, 214 on average".
std::string describe(const LengthClasses& lengths);
// The classes of a distribution, from many draws.
LengthClasses classes_of(const LengthDraw& draw);
Workload workload_of(const MeasuredLoad& load);

// The load of one run, from its result_summary.json.
Result<MeasuredLoad> read_load(const Json& summary);
// The load of a point that has only isl_mean and osl_mean; fails if one is missing.
Result<MeasuredLoad> read_mean_load(const Json& point);
// The load of several runs, equally weighted. At most kLengthClasses. REQUIRES: not empty.
inline constexpr std::size_t kLengthClasses = 32;
MeasuredLoad pooled(const std::vector<MeasuredLoad>& loads);

// As in a calibration file, under `load`: {isl: [[low, high, share], …], osl: …, cached: 0.5}.
std::string to_yaml(const MeasuredLoad& load);
Result<MeasuredLoad> read_load_map(const Json& map, const std::string& where);

}  // namespace assay::sim
