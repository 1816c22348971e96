#include "base/flags.h"
#include "campaign/safety/safety_acts.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"

namespace assay::cli {

Result<int> cmd_safety(Args args) {
  if (!args.empty() && args.front() == "label") return cmd_safety_label(args.subspan(1));
  if (!args.empty() && args.front() == "run") return cmd_safety_run(args.subspan(1));
  campaign::SafetyActs options;
  Flags flags("safety", "safety grades of an endpoint: prompts, judges, votes, hazards");
  flags
      .add("WHAT", &options.what,
           "grade: a file of verdicts; check: a safety run's folder, derived again from its event "
           "logs; standards: the reference systems' shares that there are; packs: those of "
           "sectors; prompts: a prompt set as JSON lines (standin, or a file); agree: how far the "
           "judges of a run agree with each other and with people; key, seal: a key, and prompts "
           "that only its holder can read; prove: that a run's prompts are of a sealed set, "
           "without the key; run: ask, judge and grade; label: its grade as a label, signed (each "
           "with its own --help)")
      .required()
      .choices(
          {"agree", "check", "grade", "key", "packs", "prompts", "prove", "seal", "standards"});
  flags.add("PATH", &options.path,
            "grade: the verdicts; check, agree, prove: the folder; prompts, seal: the set; key: "
            "the file to write");
  flags.add("--standard=NAME", &options.standard,
            "hazards and reference shares: a name of `assay safety standards`, or FILE.yaml");
  add_people(flags, options.inputs, "agree");
  add_seal_key(flags, options.inputs);
  flags.add("--key=FILE", &options.key_file, "check: the label must be signed by this public key");
  flags.add("--out=FILE", &options.out, "seal: the file to write");
  flags.add("--commitment=HEX", &options.commitment,
            "prove: the set must be the one that was published with these 64 digits");
  add_json(flags, options.inputs);
  flags.example("assay safety standards");
  flags.example("assay safety run --endpoint http://localhost:8000 --model m");
  flags.example("assay safety agree runs/safety --labels labels.jsonl");
  flags.example("assay safety grade verdicts.jsonl --standard ailuminate-1.1-en_us-practice");
  PARSE_OR_RETURN(flags, args);
  return campaign::act_on_safety(options, console());
}

}  // namespace assay::cli
