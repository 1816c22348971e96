// Requirement: what a run must reach to pass a gate: "ttft_p95<=200ms", "failed<=0.1%",
// "system_tps>=5000". The figures are those of the report. Pure; any thread.
//
//   FIGURE OPERATOR VALUE
//   times     ttft, ttft_due, ttft_visible, tpot, itl, latency, latency_due, lateness, each with
//             _pN (a percentile of metrics/distribution.h), _mean, _min or _max; value 200ms, 2s
//   lengths   isl, osl, with the same endings; value in tokens
//   rates     qps, system_tps, tps_per_user
//   counts    issued, completed, failed; of failed and completed also a share of the issued: 0.1%
//   operators <=, <, >=, >
//
// A figure that the run does not have meets no requirement.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "metrics/point.h"

namespace assay::compare {

enum class Relation : std::uint8_t { at_most, below, at_least, above };
enum class Unit : std::uint8_t { time, tokens, rate, count, share };

struct Requirement {
  std::string text{};    // as the user wrote it
  std::string figure{};  // "ttft_p95"
  Relation relation = Relation::at_most;
  Unit unit = Unit::time;
  double value = 0;  // ns, tokens, 1/s, queries, or a share of 1
};

struct RequirementVerdict {
  Requirement requirement{};
  std::optional<double> figure{};  // in the requirement's unit; absent: the run has none
  bool met = false;
};

// One text may hold several, with commas. The error names the part, and what is allowed.
Result<std::vector<Requirement>> parse_requirements(const std::vector<std::string>& texts);

std::vector<RequirementVerdict> judge(const std::vector<Requirement>& requirements,
                                      const metrics::Point& point);

// "ttft_p95<=200ms: 312 ms, not met".
std::string to_string(const RequirementVerdict& verdict);
Json to_json(const std::vector<RequirementVerdict>& verdicts);

// One system of verdicts by its name: a run, or a point of a curve.
struct Judged {
  std::string name{};
  std::vector<RequirementVerdict> verdicts{};
};
// JUnit XML, a test case for each requirement of each.
std::string requirements_junit(std::string_view suite, const std::vector<Judged>& judged);

}  // namespace assay::compare
