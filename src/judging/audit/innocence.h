// Was the client the bottleneck? The verdict comes from what the client measured about itself
// (domain/client_audit.h) and from the events' own delays. `no`: the figures are the endpoint's;
// `yes`: they are not; `suspected`: a person should look. Every verdict has its reasons and, for
// each, what to change. Pure.
//
// docs/guide/measurement_truth.md explains our thresholds: a client is guilty when its lateness or
// losses are large enough to move a published percentile, not when it was only busy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "domain/client_audit.h"
#include "metrics/point.h"

namespace assay::audit {

enum class ClientLimited : std::uint8_t { no, suspected, yes };
std::string_view to_string(ClientLimited verdict);

struct InnocenceReason {
  ClientLimited weight = ClientLimited::suspected;
  std::string what{};    // "queries were released late: P99 7.2 ms"
  std::string advice{};  // what to change
};

struct Innocence {
  ClientLimited client_limited = ClientLimited::no;
  std::vector<InnocenceReason> reasons{};  // gravest first; empty for `no`
};

struct JudgeOptions {
  bool all_at_once = false;  // offline: late sends belong to the load pattern
  bool spinning = false;     // configured to use the whole core
};

// The JSON in all our documents: {client_limited, reasons: [{weight, what, advice}]}.
Json innocence_json(const Innocence& innocence);

Innocence judge_client(const ClientAudit& audit, const metrics::Point& point,
                       const JudgeOptions& options);

}  // namespace assay::audit
