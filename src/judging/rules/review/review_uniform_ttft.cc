#include <cmath>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_uniform_ttft(const Scope& at, Out& out) {
  constexpr std::int64_t kFar = 8;
  constexpr double kSame = 0.02;
  const PointFolder* low = nullptr;
  for (const PointFolder& point : at.curve->points) {
    if (point.dedicated() || !point.metrics.ttft_p90_ns) continue;
    if (low == nullptr) low = &point;
    const double there = *low->metrics.ttft_p90_ns;
    const double here = *point.metrics.ttft_p90_ns;
    const bool far = point.concurrency >= kFar * low->concurrency;
    if (far && there > 0 && std::fabs(here - there) <= kSame * there) {
      out.warning(
          point.summary.place("/ttft/percentiles"),
          format("TTFT P90 is {:.1f} ms, and {:.1f} ms at {}", here / 1e6, there / 1e6, low->name),
          "a TTFT that grows with the load");
    }
    const double mean = point.summary.at("/ttft/avg").as_double();
    const Json& deviation = point.summary.at("/ttft/std_dev");
    constexpr double kStill = 0.005;
    constexpr std::int64_t kEnough = 100;
    if (deviation.is_number() && point.metrics.completed.value_or(0) >= kEnough && mean > 0 &&
        deviation.as_double() < kStill * mean) {
      out.warning(point.summary.place("/ttft/std_dev"),
                  format("TTFT varies by {:.2f} % of its mean over {} replies",
                         deviation.as_double() / mean * 100, *point.metrics.completed),
                  "the scatter of a real server");
    }
  }
}

}  // namespace

Rule review_uniform_ttft() {
  return {.id = "review-uniform-ttft",
          .level = Level::curve,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "Manual review",
          .demand = "TTFT differs between very different concurrencies, and within a run",
          .fix =
              "show what the first fragment holds; a fixed delay or a canned first token looks "
              "like this",
          .check = check_review_uniform_ttft};
}

}  // namespace assay::rules
