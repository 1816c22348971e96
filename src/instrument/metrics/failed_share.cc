#include "metrics/failed_share.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

std::string counted(std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); }

std::uint64_t given_up(const Point& point) {
  for (const Failures& failures : point.failures) {
    if (failures.outcome == Outcome::cancelled) return failures.count;
  }
  return 0;
}

}  // namespace

FailedShare failed_share(const Point& point) {
  // Point::failures covers the performance phases.
  const bool performance = point.counts.issued > 0;
  const Counts& counts = performance ? point.counts : point.all_phases;
  const std::uint64_t unheard = performance ? given_up(point) : 0;
  FailedShare out;
  out.failed = counts.failed - unheard;
  out.tried = out.failed + counts.completed;
  // A run that was stopped before its first reply proves nothing about the endpoint.
  const bool stopped = point.end.state != RunState::complete && out.failed == 0;
  out.none_succeeded = counts.issued > 0 && counts.completed == 0 && !stopped;
  return out;
}

std::string failure_cause(const Point& point) {
  const Failures* most = nullptr;
  for (const Failures& failures : point.failures) {
    if (failures.outcome == Outcome::cancelled && point.failures.size() > 1) continue;
    if (most == nullptr || failures.count > most->count) most = &failures;
  }
  if (most == nullptr) return {};
  std::string out(to_string(most->outcome));
  if (most->examples.empty()) return out;
  const FailureExample& example = most->examples.front();
  if (most->outcome == Outcome::http_error) out = format("HTTP {}", example.http_status);
  if (example.detail.empty()) return out;
  if (example.detail.starts_with(out)) return example.detail;
  return format("{}: {}", out, example.detail);
}

std::string failed_words(const Point& point) {
  const FailedShare share = failed_share(point);
  if (!share.said()) return {};
  const std::string cause = failure_cause(point);
  const std::string why = cause.empty() ? "" : ": " + cause;
  if (share.none_succeeded) {
    const std::uint64_t issued = std::max(point.counts.issued, share.tried);
    if (share.failed == 0) {
      return format("no query succeeded, all {} were cut off{}", counted(issued), why);
    }
    return format("no query succeeded, {} of {} failed{}", counted(share.failed), counted(issued),
                  why);
  }
  return format("{:.1f} % of the queries failed, {} of {}{}", 100 * share.share(),
                counted(share.failed), counted(share.tried), why);
}

}  // namespace assay::metrics
