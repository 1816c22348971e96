#include <vector>

#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_offline_declared(const Scope& at, Out& out) {
  if (at.point->offline == Offline::unknown) {
    out.error(at.point->point.place("/offline"),
              format("offline is {}", said(at.point->point.at("/offline"))),
              "dedicated, elected or none");
  }
}

void check_offline_point_present(const Scope& at, Out& out) {
  std::vector<const PointFolder*> found;
  bool unclear = false;
  for (const PointFolder& point : at.curve->points) {
    if (point.offline == Offline::dedicated || point.offline == Offline::elected)
      found.push_back(&point);
    unclear = unclear || point.offline == Offline::unknown || !point.usable();
  }
  if (at.curve->agentic) {
    for (const PointFolder* point : found) {
      out.error(point->point.place("/offline"), "an Offline point on an agentic curve", "none");
    }
    return;
  }
  // An unreadable declaration could mean any kind; its own rule reports it.
  if (found.empty() && !unclear) {
    out.error({at.curve->path}, "no Offline point", "one, dedicated or elected");
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    out.error(found[i]->point.place("/offline"),
              format("a second Offline point, beside {}", found[0]->name), "exactly one");
  }
  for (const PointFolder* point : found) {
    if (point->offline == Offline::elected && at.curve->c_max &&
        point->concurrency != *at.curve->c_max) {
      out.error(point->point.place("/offline"),
                format("elected at concurrency {}", point->concurrency),
                format("the point at C_max, {}", *at.curve->c_max));
    }
  }
}

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

constexpr Rule kOfflineRules[] = {
    {.id = "offline-declared",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§5.7: Offline present",
     .demand = "offline is dedicated, elected or none",
     .fix = "dedicated for a run of its own, elected on the point at C_max, else leave it out",
     .check = check_offline_declared},
    {.id = "offline-point-present",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.7: Offline present",
     .demand = "a single-turn curve has exactly one Offline point, an agentic one none",
     .fix = "elect the point at C_max (offline: elected), or measure a dedicated one",
     .check = check_offline_point_present},
    {.id = "offline-ordering",
     .level = Level::curve,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§5.7.2: Offline ordering",
     .demand = "a dedicated Offline point delivers at least 0.98 of what the C_max point does, at "
               "no lower concurrency",
     .fix = "measure Offline again with all queries at the start, or elect the C_max point",
     .check = check_offline_ordering},
};

}  // namespace

std::span<const Rule> offline_rules() { return kOfflineRules; }

}  // namespace assay::rules
