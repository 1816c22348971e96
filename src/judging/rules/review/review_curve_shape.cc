#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_curve_shape(const Scope& at, Out& out) {
  // Signs that no real server shows: faster for each of more users, or gains above proportion.
  constexpr double kSlack = 1.10;
  constexpr double kCollapse = 0.5;
  const PointFolder* last = nullptr;
  const PointFolder* fastest = nullptr;  // the best throughput so far
  for (const PointFolder& point : at.curve->points) {
    const Metrics& m = point.metrics;
    const double rate = m.throughput().value_or(0);
    if (point.dedicated() || !point.measured() || rate <= 0) continue;
    const std::string_view counted =
        m.unit.empty() ? "/output_sequence_lengths/total" : "/assay/units/completed";
    if (last != nullptr && point.concurrency > last->concurrency) {
      const Metrics& before = last->metrics;
      const double users =
          static_cast<double>(point.concurrency) / static_cast<double>(last->concurrency);
      if (rate > *before.throughput() * users * kSlack) {
        out.warning(point.summary.place(counted),
                    format("{:.2f} times the users of {} and {:.2f} times its {}", users,
                           last->name, rate / *before.throughput(), m.throughput_unit()),
                    "no more than in proportion");
      }
      if (m.tps_per_user && before.tps_per_user &&
          *m.tps_per_user > *before.tps_per_user * kSlack) {
        out.warning(point.summary.place("/tpot/percentiles"),
                    format("each user gets {:.1f} tokens/s, {:.1f} at {}", *m.tps_per_user,
                           *before.tps_per_user, last->name),
                    "no more than with fewer users");
      }
    }
    if (fastest != nullptr && rate < kCollapse * *fastest->metrics.throughput()) {
      out.warning(point.summary.place(counted),
                  format("{:.1f} {}, less than half of {}'s {:.1f}", rate, m.throughput_unit(),
                         fastest->name, *fastest->metrics.throughput()),
                  "throughput that holds, or the reason");
    }
    last = &point;
    if (fastest == nullptr || rate > *fastest->metrics.throughput()) fastest = &point;
  }
}

}  // namespace

Rule review_curve_shape() {
  return {
      .id = "review-curve-shape",
      .level = Level::curve,
      .severity = Severity::warning,
      .action = Action::flag,
      .clause = "Manual review",
      .demand = "throughput and speed behave as a queueing system's do",
      .fix =
          "look at the two points: client limits, other settings, warm caches; be ready to explain",
      .check = check_review_curve_shape};
}

}  // namespace assay::rules
