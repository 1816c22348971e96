// Faults: requests that fail, each with a probability, drawn from the seed and the request's place
// in the order of arrival, so that a run can be told exactly how many of each class it must count.
// A request has at most one.
//
//   reset=0.05       after some of its events the connection is reset
//   truncate=0.05    after some of its events the connection ends in the ordinary way
//   http500=0.05     that status, with an error object; any http4xx or http5xx; 429 and 503 have
//                    Retry-After
//   error=0.05       after some of its events an error object
//   garbage=0.05     after some of its events one that is no JSON, then the end
//   stall=0.05       after some of its events nothing, until the client gives up
//
// Of a reply that is not streamed, reset and truncate cut the body, error and garbage are its whole
// body, stall sends nothing.
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
  std::uint16_t status = 0;  // of http
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
  // "reset=0.05" or several with commas between; adds to what is there. Together at most 1.
  Result<void> add(std::string_view text);
  void add_always(const Fault& fault) { rates_.push_back({fault, 1.0}); }

  bool empty() const { return rates_.empty(); }
  const std::vector<FaultRate>& rates() const { return rates_; }
  Fault draw(Rng& rng) const;

 private:
  std::vector<FaultRate> rates_{};
};

}  // namespace assay::endpoint
