#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_power_descriptor(const Scope& at, Out& out) {
  const Document& file = at.system->power_file;
  const std::string division = at.system->division();
  if (file.absent()) {
    if (division == "rdi" || division == "serviced") return out.not_applicable();
    out.error({at.system->path}, "no system_power.json", at.system->path + "/system_power.json");
    return;
  }
  if (file.broken()) out.error(file.place(), file.trouble(), "valid JSON");
  if (!at.system->power) return;
  for (const rulebook::PowerIssue& issue : at.system->power->errors) {
    out.error(file.place(issue.pointer), issue.found, issue.expected);
  }
  for (const rulebook::PowerIssue& issue : at.system->power->warnings) {
    out.warning(file.place(issue.pointer), issue.found, issue.expected);
  }
}

void check_power_estimated(const Scope& at, Out& out) {
  if (!at.system->power) return out.not_applicable();
  for (const rulebook::PowerIssue& issue : at.system->power->estimated) {
    out.warning(at.system->power_file.place(issue.pointer), issue.found, issue.expected);
  }
}

constexpr Rule kPowerRules[] = {
    {.id = "power-descriptor",
     .level = Level::system,
     .action = Action::reject_submission,
     .clause = "§4.5.2: Power descriptor",
     .demand = "system_power.json adds up, each figure with its source",
     .fix = "docs/formats/submission.md shows one; `assay curve` writes it from your answers",
     .check = check_power_descriptor},
    {.id = "power-estimated",
     .level = Level::system,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§4.5.2, Appendix D: Power descriptor",
     .demand = "no figure is a default of Appendix D",
     .fix = "give the vendor's figure with its URL; else the result is tagged \"MLC Estimated "
            "Power\"",
     .check = check_power_estimated},
};

}  // namespace

std::span<const Rule> power_rules() { return kPowerRules; }

}  // namespace assay::rules
