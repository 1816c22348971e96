#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/aead.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/safety_inputs.h"
#include "safety/agreement.h"
#include "safety/attacks.h"
#include "safety/pairs.h"

namespace assay::cli {
namespace {

struct JailbreakOptions {
  std::string what{};
  std::string path{};
  std::string attacks = "standin";
  SafetyInputs inputs{};
};

// Number of attacks with this leaf.
std::size_t attacks_of(const safety::Attacks& attacks, const std::string& leaf) {
  return static_cast<std::size_t>(std::ranges::count(attacks.attacks, leaf, &safety::Attack::leaf));
}

void print_tree(const safety::Attacks& attacks, const std::string& parent, std::size_t depth) {
  for (const safety::Mechanism& node : attacks.nodes) {
    if (node.parent != parent) continue;
    const std::string about =
        node.leaf ? format("{} ({} attacks)", node.definition, attacks_of(attacks, node.id))
                  : "split by " + node.split;
    print(format("{}{:<{}} {}\n", std::string(2 * depth, ' '), node.id,
                 24 - std::min<std::size_t>(2 * depth, 20), about));
    print_tree(attacks, node.id, depth + 1);
  }
}

Result<int> show_taxonomy(const JailbreakOptions& options) {
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
    print(Json()
              .set("name", attacks.name)
              .set("sha256", attacks.sha256)
              .set("leaves", std::move(rows))
              .set("without_attack", static_cast<std::int64_t>(debt))
              .dump(2) +
          "\n");
  } else {
    print_tree(attacks, "", 0);
    print(
        format("{}: {} leaves, {} of them without an attack\n", attacks.name, leaves.size(), debt));
  }
  return exit_code(ExitCode::done);
}

Result<int> write_instances(const JailbreakOptions& options) {
  ASSIGN_OR_RETURN(const safety::Attacks attacks, safety::find_attacks(options.attacks));
  ASSIGN_OR_RETURN(const auto seeds,
                   safety::load_prompts(options.path.empty() ? "standin" : options.path));
  ASSIGN_OR_RETURN(const auto prompts, safety::with_twins(seeds, attacks));
  print(safety::prompts_text(prompts));
  return exit_code(ExitCode::done);
}

Result<int> show_report(const JailbreakOptions& options) {
  if (options.path.empty()) return invalid("PATH: report needs the folder of a run with attacks");
  ASSIGN_OR_RETURN(const auto levels, campaign::open_levels(options.path));
  if (levels) return invalid(format("'{}' is a series; name one level's folder", options.path));
  ASSIGN_OR_RETURN(const std::optional<SealKey> key, options.inputs.key());
  ASSIGN_OR_RETURN(const campaign::SafetyWish wish, campaign::open_safety(options.path, key));
  if (!wish.attacks) {
    return invalid(format("'{}' is a safety run without attacks\n  assay jailbreak run has them",
                          options.path));
  }
  ASSIGN_OR_RETURN(const std::vector<safety::Label> labels, options.inputs.people());
  ASSIGN_OR_RETURN(const auto items, campaign::derive_items(wish));
  ASSIGN_OR_RETURN(const safety::PairReport report,
                   safety::fold_pairs(*wish.attacks, items, labels));
  print(options.inputs.json ? report.to_json().dump(2) + "\n" : report.text());
  return exit_code(report.findings.empty() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> cmd_jailbreak(Args args) {
  if (!args.empty() && args.front() == "run") {
    std::vector<std::string> words(args.begin() + 1, args.end());
    const bool has = std::ranges::any_of(words, [](const std::string& word) {
      return word == "--attacks" || word.starts_with("--attacks=") || word == "--resume" ||
             word.starts_with("--resume=");
    });
    if (!has) words.insert(words.begin(), {"--attacks", "standin"});
    return cmd_safety_run(words);
  }
  JailbreakOptions options;
  Flags flags("jailbreak", "what attacks change: prompts as they stand and attacked, in pairs");
  flags
      .add("WHAT", &options.what,
           "run: assay safety run with --attacks (its own --help); report: a run's pairs again, "
           "with labels the judges' quality by mechanism; taxonomy: a file of attacks, checked; "
           "instances: seeds and twins as JSON lines")
      .required()
      .choices({"instances", "report", "taxonomy"});
  flags.add("PATH", &options.path,
            "report: the run's folder; taxonomy: the file of attacks; instances: the prompts");
  flags.add("--attacks", &options.attacks, "instances: standin, or a FILE.yaml").value("NAME");
  add_people(flags, options.inputs, "report");
  add_seal_key(flags, options.inputs);
  add_json(flags, options.inputs);
  flags.example("assay jailbreak run --endpoint http://localhost:8000 --model m --concurrency 8");
  flags.example("assay jailbreak report runs/safety --labels labels.jsonl");
  flags.example("assay jailbreak taxonomy mine.yaml");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (options.what == "taxonomy") return show_taxonomy(options);
  if (options.what == "instances") return write_instances(options);
  return show_report(options);
}

}  // namespace assay::cli
