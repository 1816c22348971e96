#include "rules/catalogue.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

void check_drafter_list_registry(const Scope& at, Out& out) {
  if (!at.tree.drafter_list_trouble.empty())
    out.warning({}, at.tree.drafter_list_trouble, "a list of drafters");
}

void check_approved_drafter(const Scope& at, Out& out) {
  const Speculation used = speculation_of(at);
  if (used.pointer.empty() || !at.tree.drafter_list_trouble.empty()) return out.not_applicable();
  if (used.approved != nullptr) return;
  std::string all;
  for (const rulebook::Drafter& one : at.tree.edition.drafters) {
    if (one.benchmark == at.curve->model) all += (all.empty() ? "" : ", ") + one.model_id;
  }
  out.error(at.point->point.place(used.pointer + "/weight_checksum"),
            format("drafter {} is not on the list",
                   said(at.point->point.at(used.pointer + "/weight_checksum"))),
            all.empty()
                ? format("no speculative decoding: none is approved for {}", at.curve->model)
                : "by checksum: " + all);
}

void check_drafter_approval_lead_time(const Scope& at, Out& out) {
  const Speculation used = speculation_of(at);
  if (used.approved == nullptr) return out.not_applicable();
  const auto target = rulebook::Cohort::parse(at.point->point.at("/target_cohort").as_string());
  const Place where = at.point->point.place(used.pointer);
  if (!target || !used.approved->approved) {
    out.warning(where, "the lead time can't be worked out: a cohort is missing",
                "target_cohort and approved_cohort");
    return;
  }
  const int lead = target->number - used.approved->approved->number;
  if (lead < at.tree.edition.drafter_lead_cohorts) {
    out.error(where,
              format("{} approved in {}, {} cohorts before", used.approved->model_id,
                     used.approved->approved->text(), lead),
              format("{} or more before {}", at.tree.edition.drafter_lead_cohorts, target->text()));
  }
}

constexpr Rule kDrafterRules[] = {
    {.id = "drafter-list-registry",
     .level = Level::tree,
     .severity = Severity::warning,
     .clause = "§2.9.4: Approved drafter",
     .demand = "the list of approved drafters can be read",
     .fix = "give the path of an approved_drafters.yaml; without it the rules on drafters are "
            "not asked",
     .check = check_drafter_list_registry},
    {.id = "approved-drafter",
     .needs = Needs::usable_point,
     .action = Action::reject_points,
     .clause = "§2.9.4: Approved drafter",
     .demand = "speculative decoding uses an approved drafter, known by its checksum",
     .fix = "use one of the list, and give weight_checksum: \"git-sha1:<revision>\"",
     .check = check_approved_drafter},
    {.id = "drafter-approval-lead-time",
     .needs = Needs::usable_point,
     .action = Action::reject_points,
     .clause = "§2.9.4: Drafter lead time",
     .demand = "the drafter was approved two cohorts before the target",
     .fix = "take a later cohort, or another drafter",
     .check = check_drafter_approval_lead_time},
};

}  // namespace

std::span<const Rule> drafter_rules() { return kDrafterRules; }

}  // namespace assay::rules
