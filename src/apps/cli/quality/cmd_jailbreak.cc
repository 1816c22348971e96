#include <algorithm>
#include <string>
#include <vector>

#include "base/flags.h"
#include "campaign/safety/jailbreak_acts.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"

namespace assay::cli {

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
  campaign::JailbreakActs options;
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
  flags.add("--attacks=NAME", &options.attacks, "instances: standin, or a FILE.yaml");
  add_people(flags, options.inputs, "report");
  add_seal_key(flags, options.inputs);
  add_json(flags, options.inputs);
  flags.example("assay jailbreak run --endpoint http://localhost:8000 --model m --concurrency 8");
  flags.example("assay jailbreak report runs/safety --labels labels.jsonl");
  flags.example("assay jailbreak taxonomy mine.yaml");
  PARSE_OR_RETURN(flags, args);
  return campaign::act_on_attacks(options, console());
}

}  // namespace assay::cli
