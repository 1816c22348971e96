// The output caching audit (after the Inference rules' TEST04): does the system answer from a
// cache? Two phases of the same level without salt: distinct rows, each once (the reference), then
// one row repeated. A system that computes every reply is about as fast in both.
//
// The audit passes when both phases completed nearly all that they asked, and the repeated row has
// less than (1 + threshold) times the reference's queries a second. Only replies count as
// completed: a fast error is no throughput. Replies of one row have one length, which is not the
// mean of all: where tokens a second are nevertheless equal, the reason says that the length
// explains it; the verdict does not change. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "metrics/point.h"

namespace assay::metrics {

inline constexpr double kCachingThreshold = 0.10;

struct CachingPhase {
  std::uint64_t requested = 0;
  std::uint64_t completed = 0;  // with a complete reply
  double qps = 0;
  std::optional<double> tps{};
  double ttft_p50_ms = 0;  // 0: not known
  double latency_p50_ms = 0;
};
CachingPhase caching_phase(const Point& point, std::uint64_t requested);

struct CachingAudit {
  CachingPhase reference{};
  CachingPhase repeated{};
  std::uint64_t row = 0;         // index of the repeated row in the dataset
  std::int64_t concurrency = 0;  // 0: all at once
  double threshold = kCachingThreshold;
  bool passed = false;
  std::string reason{};  // one sentence, with the numbers
};

// Fails where the reference has no rate to compare with.
Result<CachingAudit> judge_caching(const CachingPhase& reference, const CachingPhase& repeated,
                                   std::uint64_t row, std::int64_t concurrency, double threshold);

// audit_output_caching_test.json: the reference client's keys, then ours.
Json caching_json(const CachingAudit& audit);
Result<CachingAudit> caching_from_json(const Json& json);
// "caching audit passed: …"
std::string caching_text(const CachingAudit& audit);

}  // namespace assay::metrics
