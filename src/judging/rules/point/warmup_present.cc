#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_warmup_present(const Scope& at, Out& out) {
  if (!at.point->point.at("/warmup").is_object()) {
    out.error(at.point->point.place("/warmup"), "no warmup block",
              "what was done before TEST_STARTED");
  }
}

}  // namespace

Rule warmup_present() {
  return {.id = "warmup-present",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::flag,
          .clause = "§6.3.3: Warmup metadata",
          .demand = "the warmup block is there, with zeros when nothing was done",
          .fix =
              "declare duration_s, requests_issued, requests_completed, data_source, concurrency, "
              "initialization_steps",
          .check = check_warmup_present};
}

}  // namespace assay::rules
