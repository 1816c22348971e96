// The options of an endpoint as a person types them, and what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/talk.h"
#include "endpoint/endpoint.h"

namespace assay::endpoint {

struct TypedEndpoint {
  std::int64_t port = 8000;
  std::string ttft = "0";
  std::string itl = "0";
  std::string osl = "64";
  std::int64_t tokens_per_event = 1;
  std::int64_t concurrency = 0;
  std::int64_t threads = 1;
  std::int64_t events_per_write = 1;
  std::string tools = "asked";
  std::string truth_log{};
  std::string certificate{};
  std::string answers{};
  std::vector<std::string> faults{};
  std::vector<std::string> quirks{};
  std::string scenario{};
  std::vector<std::string> catalogue{};
  std::optional<double> speedup{};
  bool strict_model = false;
  bool always_usage = false;
  bool quiet = false;
  bool json = false;
  std::string kind{};
};

// Fills `options`. Errors name the flag.
Result<void> understand(const TypedEndpoint& typed, EndpointOptions& options);
// A modelled system in the place of the timing flags. `timed`: one of those was given.
Result<void> use_scenario(const TypedEndpoint& typed, bool timed, EndpointOptions& options,
                          const Talk& talk);
Json to_json(const EndpointSummary& sum);

}  // namespace assay::endpoint
