// Slo: limits that a run must keep: "ttft_p99<=2s,tpot_p90<=50ms". A limit names a series of a
// Point (ttft, tpot, itl, latency), a percentile and a time. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "metrics/point.h"

namespace assay::metrics {

struct SloLimit {
  std::string text{};    // as the user wrote it
  std::string series{};  // "ttft"
  double percentile = 0;
  Duration most{};
};

// The error says what is wrong and what is allowed.
Result<std::vector<SloLimit>> parse_slo(std::string_view text);

// The run's figure; 0 where it has none.
Duration figure_of(const SloLimit& limit, const Point& point);
// Every limit is kept, and no query failed. A series without values keeps no limit.
bool keeps(const std::vector<SloLimit>& slo, const Point& point);

}  // namespace assay::metrics
