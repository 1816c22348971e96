// Faults: requests that fail with a given probability, drawn from the seed and the request's place
// in the order of arrival, so that the exact counts of each class that a run must report are known.
// A request has at most one.
//
//   reset=0.05       resets the connection after some of the events
//   truncate=0.05    closes the connection normally after some of the events
//   http500=0.05     replies that status, with an error object; any http4xx or http5xx; 429 and 503
//                    have Retry-After
//   error=0.05       sends an error object after some of the events
//   garbage=0.05     sends an event that is not JSON after some of the events, then the end
//   stall=0.05       stops after some of the events, until the client gives up
//
// Without streaming, reset and truncate cut the body, error and garbage replace it, stall sends
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"

namespace assay::endpoint {

enum class FaultKind : std::uint8_t { none, reset, truncate, http, error, garbage, stall };
inline constexpr std::size_t kFaultKinds = 7;
std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::none;
  std::uint16_t status = 0;  // for http
  bool operator==(const Fault&) const = default;
};
// "reset", "http500", …
std::string to_string(const Fault& fault);

struct FaultRate {
  Fault fault{};
  double probability = 0;
};

class FaultPlan {
 public:
  // "reset=0.05", or several separated by commas; adds to the plan. The sum is at most 1.
  Result<void> add(std::string_view text);
  void add_always(const Fault& fault) { rates_.push_back({fault, 1.0}); }

  bool empty() const { return rates_.empty(); }
  const std::vector<FaultRate>& rates() const { return rates_; }
  Fault draw(Rng& rng) const;

 private:
  std::vector<FaultRate> rates_{};
};

}  // namespace assay::endpoint
