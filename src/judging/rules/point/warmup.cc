#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_warmup_present(const Scope& at, Out& out) {
  if (!at.point->point.at("/warmup").is_object()) {
    out.error(at.point->point.place("/warmup"), "no warmup block",
              "what was done before TEST_STARTED");
  }
}

void check_warmup_logs_retained(const Scope& at, Out& out) {
  const Json& warmup = at.point->point.at("/warmup");
  bool any = false;
  for (const std::string_view name : {"duration_s", "requests_issued", "requests_completed"}) {
    any = any || warmup[name].as_double() > 0;
  }
  if (!any) return out.not_applicable();  // declares that there was no warm-up
  if (!warmup["logs_retained"].as_bool()) {
    out.warning(at.point->point.place("/warmup/logs_retained"),
                format("{} warm-up requests, logs not retained", warmup["requests_issued"].dump()),
                "logs_retained: true");
  }
}

void check_warmup_salt(const Scope& at, Out& out) {
  if (at.point->point.at("/runtime_settings/warmup/salt").as_bool()) {
    out.warning(at.point->point.place("/runtime_settings/warmup/salt"), "warm-up is salted",
                "no salt, or the reason in model_notes");
  }
}

constexpr Rule kWarmupRules[] = {
    {.id = "warmup-present",
     .needs = Needs::usable_point,
     .action = Action::flag,
     .clause = "§6.3.3: Warmup metadata",
     .demand = "the warmup block is there, with zeros when nothing was done",
     .fix = "declare duration_s, requests_issued, requests_completed, data_source, concurrency, "
            "initialization_steps",
     .check = check_warmup_present},
    {.id = "warmup-logs-retained",
     .needs = Needs::usable_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§6.3.2: Warmup logs",
     .demand = "the logs of warm-up requests are kept for reviewers",
     .fix = "set logs_retained: true, and keep them",
     .check = check_warmup_logs_retained},
    {.id = "warmup-salt",
     .needs = Needs::usable_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§6.3.3: Warmup metadata",
     .demand = "warm-up needs no salt, because it uses no performance data",
     .fix = "explain why warm-up is salted; if it uses performance samples, measure again",
     .check = check_warmup_salt},
};

}  // namespace

std::span<const Rule> warmup_rules() { return kWarmupRules; }

}  // namespace assay::rules
