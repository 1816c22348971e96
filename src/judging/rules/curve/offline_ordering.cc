#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_offline_ordering(const Scope& at, Out& out) {
  const PointFolder* offline = at.curve->offline_point();
  if (offline == nullptr || !offline->dedicated()) return out.not_applicable();
  if (at.curve->c_max && offline->concurrency < *at.curve->c_max) {
    out.warning(offline->point.place("/concurrency"),
                format("Offline at concurrency {}", offline->concurrency),
                format("C_max or more: {}", *at.curve->c_max));
  }
  const PointFolder* top = at.curve->top_point();
  if (top == nullptr) return;
  const std::optional<double> of_top = top->metrics.throughput();
  const std::optional<double> given = offline->metrics.throughput();
  if (!of_top || !given) return;
  const double least = at.tree.edition.offline_ratio * *of_top;
  if (*given < least) {
    out.warning(
        offline->summary.place(offline->metrics.unit.empty() ? "/output_sequence_lengths/total"
                                                             : "/assay/units/completed"),
        format("Offline delivers {:.1f} {}", *given, offline->metrics.throughput_unit()),
        format("{:.1f} or more, {} of {}'s", least, at.tree.edition.offline_ratio, top->name));
  }
}

}  // namespace

Rule offline_ordering() {
  return {.id = "offline-ordering",
          .group = "curve",
          .level = Level::curve,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§5.7.2: Offline ordering",
          .demand =
              "a dedicated Offline point delivers at least 0.98 of what the C_max point does, at "
              "no lower concurrency",
          .fix = "measure Offline again with all queries at the start, or elect the C_max point",
          .check = check_offline_ordering};
}

}  // namespace assay::rules
