// Limit: what a user is promised: "ttft_p99<=2s,tpot_p90<=50ms,tps_per_user>=30". A limit names a
// figure, on which side of a value it must stay, and the value. Pure; any thread.
//
//   FIGURE<=TIME    ttft, tpot, itl, latency, each with _pN (50, 75, 80, 90, 95, 97, 99, 99.9); a
//                   curve's points keep ttft, tpot and latency at p50, p90 and p99
//   tps_per_user>=N tokens a second for each user, 1000 / TPOT P90 in ms
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "metrics/curve.h"
#include "metrics/point.h"

namespace assay::decide {

struct Limit {
  std::string text{};     // as the user wrote it
  std::string figure{};   // "ttft_p90", "tps_per_user"
  bool at_least = false;  // >=, else <=
  double value = 0;       // ms, or tokens a second
  std::string series{};   // "ttft"; "" for tps_per_user
  double percentile = 0;
};

// The error says what is wrong and what is allowed.
Result<std::vector<Limit>> parse_limits(std::string_view text);
// Fails for a limit whose figure a curve's points do not keep.
Result<void> check_curve_limits(const std::vector<Limit>& limits);
std::string limits_text(const std::vector<Limit>& limits);

// The figure in the limit's unit; nullopt where it is not known.
std::optional<double> figure_of(const Limit& limit, const metrics::Point& point);
std::optional<double> figure_of(const Limit& limit, const metrics::PointFigures& figures);
// An unknown figure keeps no limit.
bool keeps(const Limit& limit, std::optional<double> figure);
// How much of a limit is used: 1 at its very value, more beyond it; infinite for an unknown figure.
double share_of(const Limit& limit, std::optional<double> figure);

// "TTFT P90", "tok/s per user".
std::string figure_name(const Limit& limit);
// "2.31 s", "28.4 tok/s"; "unknown".
std::string value_text(const Limit& limit, std::optional<double> value);

}  // namespace assay::decide
