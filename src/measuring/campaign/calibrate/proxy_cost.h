// What `assay proxy` adds to the arrival of each event: the built-in endpoint keeps known times,
// and the same load is measured with a proxy before it and without one, in turns. Both kinds of
// arrival are held against the endpoint's truth log. Blocks during the measurement; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/certificate.h"
#include "base/json.h"
#include "base/result.h"
#include "campaign/calibrate/calibration.h"

namespace assay::campaign {

struct ProxyCostOptions {
  double events_per_second = 5000;
  std::uint32_t rounds = 3;
  std::vector<std::string> flags{};  // of `assay proxy`: --spin, --realtime
};

// The arrivals of one round, against the truth.
struct ProxyRound {
  audit::CalibratedLevel direct{};
  audit::CalibratedLevel through{};
};

// How much later a percentile of the errors is through the proxy: the median of the rounds; ns.
struct AddedTime {
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
};

struct ProxyCost {
  ProxyCostOptions asked{};
  std::uint32_t streams = 0;
  std::vector<ProxyRound> rounds{};
  AddedTime first_token{};
  AddedTime last_event{};
};

Result<ProxyCost> proxy_cost(const CalibrationOptions& options, const ProxyCostOptions& asked,
                             run::Control& control);

// From what the rounds have. REQUIRES: there is one.
void add_up(ProxyCost& cost);

std::string proxy_cost_text(const ProxyCost& cost);
Json proxy_cost_json(const ProxyCost& cost);

}  // namespace assay::campaign
