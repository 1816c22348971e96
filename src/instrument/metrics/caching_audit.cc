#include "metrics/caching_audit.h"

#include "base/format.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

constexpr double kNsPerAuditMs = 1e6;

bool nearly_all_completed(const CachingPhase& phase, double threshold) {
  return phase.requested > 0 && static_cast<double>(phase.completed) >=
                                    static_cast<double>(phase.requested) * (1 - threshold);
}

std::string caching_figures(const CachingAudit& audit) {
  return format(
      "{} q/s with one row repeated, {} q/s with distinct rows ({:+.1f} %, less than {:.0f} % "
      "is allowed)",
      three_digits(audit.repeated.qps), three_digits(audit.reference.qps),
      (audit.repeated.qps / audit.reference.qps - 1) * 100, audit.threshold * 100);
}

std::string caching_reason(const CachingAudit& audit) {
  for (const auto& [phase, name] :
       {std::pair{&audit.reference, "distinct rows"}, {&audit.repeated, "one row repeated"}}) {
    if (nearly_all_completed(*phase, audit.threshold)) continue;
    return format("{} of {} queries got a reply with {}", phase->completed, phase->requested, name);
  }
  std::string out = caching_figures(audit);
  if (audit.passed || !audit.reference.tps || !audit.repeated.tps || *audit.reference.tps <= 0) {
    return out;
  }
  const double tokens = *audit.repeated.tps / *audit.reference.tps;
  if (tokens < 1 + audit.threshold) {
    out += format(
        "; tokens a second differ by {:+.1f} % only, so that its replies are shorter explains it: "
        "repeat a row of common length",
        (tokens - 1) * 100);
  }
  return out;
}

constexpr auto kPhaseFields = [](auto& io, auto& phase) {
  io.field("requested", phase.requested);
  io.field("completed", phase.completed);
  io.field("qps", phase.qps);
  io.field("tps", phase.tps);
  io.field("ttft_ms_p50", phase.ttft_p50_ms);
  io.field("latency_ms_p50", phase.latency_p50_ms);
};

}  // namespace

CachingPhase caching_phase(const Point& point, std::uint64_t requested) {
  CachingPhase out{.requested = requested,
                   .completed = point.counts.completed,
                   .qps = point.rates.qps,
                   .tps = point.rates.tps};
  const auto ms = [](const Distribution& series) {
    return series.empty() ? 0 : series.percentile(50.0) / kNsPerAuditMs;
  };
  out.ttft_p50_ms = ms(point.arrival.ttft);
  out.latency_p50_ms = ms(point.arrival.latency);
  return out;
}

Result<CachingAudit> judge_caching(const CachingPhase& reference, const CachingPhase& repeated,
                                   std::uint64_t row, std::int64_t concurrency, double threshold) {
  if (!(reference.qps > 0)) {
    return Error{Code::refused,
                 "output caching audit: no query of the reference got a reply, so there is nothing "
                 "to compare with"};
  }
  CachingAudit out{.reference = reference, .repeated = repeated, .row = row};
  out.concurrency = concurrency;
  out.threshold = threshold;
  out.passed = nearly_all_completed(reference, threshold) &&
               nearly_all_completed(repeated, threshold) &&
               repeated.qps < reference.qps * (1 + threshold);
  out.reason = caching_reason(out);
  return out;
}

Json caching_json(const CachingAudit& audit) {
  return Json()
      .set("test", "output_caching_test")
      .set("passed", audit.passed)
      .set("ref_qps", audit.reference.qps)
      .set("audit_qps", audit.repeated.qps)
      .set("threshold", audit.threshold)
      .set("ref_completed", audit.reference.completed)
      .set("ref_requested", audit.reference.requested)
      .set("audit_completed", audit.repeated.completed)
      .set("audit_requested", audit.repeated.requested)
      .set("reason", audit.reason)
      .set("sample_index", audit.row)
      .set("concurrency", audit.concurrency > 0 ? Json(audit.concurrency) : Json())
      .set("reference", json_of(audit.reference, kPhaseFields))
      .set("repeated", json_of(audit.repeated, kPhaseFields));
}

Result<CachingAudit> caching_from_json(const Json& json) {
  if (json["test"].as_string() != "output_caching_test" || !json["passed"].is_bool()) {
    return Error{Code::corrupt, "not the result of an output_caching_test"};
  }
  CachingAudit out{.row = json["sample_index"].as_uint()};
  read_fields(json["reference"], out.reference, kPhaseFields);
  read_fields(json["repeated"], out.repeated, kPhaseFields);
  out.concurrency = json["concurrency"].as_int();
  out.threshold = json["threshold"].as_double();
  out.passed = json["passed"].as_bool();
  out.reason = json["reason"].as_string();
  return out;
}

std::string caching_text(const CachingAudit& audit) {
  return format("output caching audit {}: {}", audit.passed ? "passed" : "FAILED", audit.reason);
}

}  // namespace assay::metrics
