#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_power_estimated(const Scope& at, Out& out) {
  if (!at.system->power) return out.not_applicable();
  for (const rulebook::PowerIssue& issue : at.system->power->estimated) {
    out.warning(at.system->power_file.place(issue.pointer), issue.found, issue.expected);
  }
}

}  // namespace

Rule power_estimated() {
  return {.id = "power-estimated",
          .group = "system",
          .level = Level::system,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§4.5.2, Appendix D: Power descriptor",
          .demand = "no figure is a default of Appendix D",
          .fix =
              "give the vendor's figure with its URL; else the result is tagged \"MLC Estimated "
              "Power\"",
          .check = check_power_estimated};
}

}  // namespace assay::rules
