// MeasuredLoad: what measured runs were asked: how long prompts and replies were, and how much of
// the prompts the server already knew. A twin is fitted with it and keeps it, so that what it is
// asked later is what its system was asked.
//
// A distribution is a list of classes: from `low` to `high` tokens, both ends included, each length
// of a class as likely as the next. Values; any thread may read.
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
  double cached_share = 0;  // of prompt tokens, where the server told
};

double mean_tokens(const LengthClasses& lengths);
// "27", or "12 to 800, 214 on average".
std::string describe(const LengthClasses& lengths);
// The classes of what a draw gives, by many of them.
LengthClasses classes_of(const LengthDraw& draw);
Workload workload_of(const MeasuredLoad& load);

// Of one run: its result_summary.json.
Result<MeasuredLoad> read_load(const Json& summary);
// Of a point that tells no more than isl_mean and osl_mean; fails where it does not.
Result<MeasuredLoad> read_mean_load(const Json& point);
// Of several runs, each counted alike. At most kLengthClasses classes. REQUIRES: not empty.
inline constexpr std::size_t kLengthClasses = 32;
MeasuredLoad pooled(const std::vector<MeasuredLoad>& loads);

// As a calibration file has it, under `load`: {isl: [[low, high, share], …], osl: …, cached: 0.5}.
std::string to_yaml(const MeasuredLoad& load);
Result<MeasuredLoad> read_load_map(const Json& map, const std::string& where);

}  // namespace assay::sim
