#include "rules/seeds/declared.h"

namespace assay::rules {

const rulebook::SeedSet* seed_set_of(const Scope& at) {
  if (!at.tree.seed_list_trouble.empty()) return nullptr;
  const Json& id = at.point->point.at("/seed_set");
  return at.tree.edition.seed_set(id.is_string() ? std::string(id.as_string()) : id.dump());
}

Speculation speculation_of(const Scope& at) {
  Speculation out;
  for (const std::string_view name : {"/speculative_decoding", "/drafter", "/spec_decode_head"}) {
    const Json& block = at.point->point.at(name);
    if (block.is_object() && block.size() > 0 && out.pointer.empty()) out.pointer = name;
  }
  if (out.pointer.empty()) return out;
  const Json& block = at.point->point.at(out.pointer);
  for (const rulebook::Drafter& one : at.tree.edition.drafters) {
    if (one.benchmark != at.curve->model) continue;
    const bool weights =
        !one.weight_checksum.empty() && block["weight_checksum"].as_string() == one.weight_checksum;
    const bool target = !one.target_checksum.empty() &&
                        block["target_checksum"].as_string() == one.target_checksum &&
                        block["configuration"] == one.configuration;
    if (weights || target) out.approved = &one;
  }
  return out;
}

}  // namespace assay::rules
