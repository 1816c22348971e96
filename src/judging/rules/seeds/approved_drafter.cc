#include "rules/rule.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule approved_drafter() {
  return {.id = "approved-drafter",
          .group = "seeds",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_points,
          .clause = "§2.9.4: Approved drafter",
          .demand = "speculative decoding uses an approved drafter, known by its checksum",
          .fix = "use one of the list, and give weight_checksum: \"git-sha1:<revision>\"",
          .check = check_approved_drafter};
}

}  // namespace assay::rules
