#include "campaign/safety/jailbreak_acts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"
#include "safety/agreement.h"
#include "safety/attacks.h"
#include "safety/pairs.h"

namespace assay::campaign {
namespace {

// Number of attacks with this leaf.
std::size_t attacks_of(const safety::Attacks& attacks, const std::string& leaf) {
  return static_cast<std::size_t>(std::ranges::count(attacks.attacks, leaf, &safety::Attack::leaf));
}

void print_tree(const safety::Attacks& attacks, const std::string& parent, std::size_t depth,
                const Talk& talk) {
  for (const safety::Mechanism& node : attacks.nodes) {
    if (node.parent != parent) continue;
    const std::string about =
        node.leaf ? format("{} ({} attacks)", node.definition, attacks_of(attacks, node.id))
                  : "split by " + node.split;
    talk.print(format("{}{:<{}} {}\n", std::string(2 * depth, ' '), node.id,
                      24 - std::min<std::size_t>(2 * depth, 20), about));
    print_tree(attacks, node.id, depth + 1, talk);
  }
}

Result<int> show_taxonomy(const JailbreakActs& options, const Talk& talk) {
  const std::string name = options.path.empty() ? options.attacks : options.path;
  ASSIGN_OR_RETURN(const safety::Attacks attacks, safety::find_attacks(name));
  const std::vector<std::string> leaves = attacks.leaves();
  const auto debt = std::ranges::count_if(
      leaves, [&attacks](const std::string& leaf) { return attacks_of(attacks, leaf) == 0; });
  if (options.inputs.json) {
    Json rows = Json::array();
    for (const std::string& leaf : leaves) {
      rows.push_back(Json().set("leaf", leaf).set("attacks", attacks_of(attacks, leaf)));
    }
    talk.print(Json()
                   .set("name", attacks.name)
                   .set("sha256", attacks.sha256)
                   .set("leaves", std::move(rows))
                   .set("without_attack", static_cast<std::int64_t>(debt))
                   .dump(2) +
               "\n");
  } else {
    print_tree(attacks, "", 0, talk);
    talk.print(
        format("{}: {} leaves, {} of them without an attack\n", attacks.name, leaves.size(), debt));
  }
  return exit_code(ExitCode::done);
}

Result<int> write_instances(const JailbreakActs& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const safety::Attacks attacks, safety::find_attacks(options.attacks));
  ASSIGN_OR_RETURN(const auto seeds,
                   safety::load_prompts(options.path.empty() ? "standin" : options.path));
  ASSIGN_OR_RETURN(const auto prompts, safety::with_twins(seeds, attacks));
  talk.print(safety::prompts_text(prompts));
  return exit_code(ExitCode::done);
}

Result<int> show_pairs(const JailbreakActs& options, const Talk& talk) {
  if (options.path.empty()) return invalid("PATH: report needs the folder of a run with attacks");
  ASSIGN_OR_RETURN(const auto levels, open_levels(options.path));
  if (levels) return invalid(format("'{}' is a series; name one level's folder", options.path));
  ASSIGN_OR_RETURN(const std::optional<SealKey> key, options.inputs.key());
  ASSIGN_OR_RETURN(const SafetyWish wish, open_safety(options.path, key));
  if (!wish.attacks) {
    return invalid(format("'{}' is a safety run without attacks\n  assay jailbreak run has them",
                          options.path));
  }
  ASSIGN_OR_RETURN(const std::vector<safety::Label> labels, options.inputs.people());
  ASSIGN_OR_RETURN(const auto items, derive_items(wish));
  ASSIGN_OR_RETURN(const safety::PairReport report,
                   safety::fold_pairs(*wish.attacks, items, labels));
  talk.print(options.inputs.json ? report.to_json().dump(2) + "\n" : report.text());
  return exit_code(report.findings.empty() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> act_on_attacks(const JailbreakActs& options, const Talk& talk) {
  if (options.what == "taxonomy") return show_taxonomy(options, talk);
  if (options.what == "instances") return write_instances(options, talk);
  return show_pairs(options, talk);
}

}  // namespace assay::campaign
