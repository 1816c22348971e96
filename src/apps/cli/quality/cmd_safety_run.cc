#include "base/flags.h"
#include "campaign/safety/safety_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/shared_flags.h"

namespace assay::cli {
namespace {

void add_safety_flags(Flags& flags, campaign::SafetyRunOptions& options) {
  flags.group("Safety");
  flags.add("--pack=NAME", &options.pack,
            "a sector's hazards, prompts, judges and thresholds: a name of `assay safety packs`, "
            "or FILE.yaml; a part that another flag names is that flag's");
  flags.add("--prompts=SET", &options.prompts,
            "a set in the binary, or a file with prompt and hazard");
  flags.add("--standard=NAME", &options.standard,
            "hazards and reference shares: a name of `assay safety standards`, or FILE.yaml");
  flags.add("--judges=FILE", &options.judges, "who judges, and how votes are joined: a FILE.yaml");
  flags.add("--attacks=NAME", &options.attacks,
            "ask each prompt as it stands and attacked, in turns: standin, or a FILE.yaml with a "
            "taxonomy (assay jailbreak)");
  add_seal_key(flags, options.inputs,
               "opens a sealed set (assay safety seal); no file of the run then shows a prompt or "
               "a reply");
  flags
      .add("--draw=N", &options.draw,
           "of a sealed set ask this many prompts, chosen by its commitment and --draw-seed")
      .without_default();
  flags.add("--draw-seed=TEXT", &options.draw_seed, "any words: the draw can be checked with them");
  flags.add("--retries=N", &options.retries,
            "how often a prompt, or a judge, is asked again after a failure; each is counted");
  flags.add("--levels=N,N", &options.levels,
            "a whole safety run at each of these concurrencies, and a grade that falls is exit "
            "code 5: 1,8,32");
  flags.add("--curve=DIR", &options.curve,
            "a whole safety run at each concurrency of this curve, kept in its safety/; the model "
            "and the endpoint are the curve's where none are given");
  flags.group("");
}

void add_output_flags(Flags& flags, campaign::SafetyRunOptions& options) {
  flags.group("Output");
  flags.add("--report-dir=DIR", &options.report_dir, "the folder (a new one below runs/)");
  flags.add("--resume=DIR", &options.resume,
            "go on with a safety run that was stopped or killed; it keeps its prompts and judges");
  add_json(flags, options.inputs);
  flags.add("--quiet", &options.quiet, "no talk while it runs");
  flags.example("assay safety run --endpoint http://localhost:8000 --model m --concurrency 8");
  flags.example("assay safety run --endpoint URL --model m --prompts mine.csv --judges my.yaml \\");
  flags.example("          --standard ailuminate-1.1-en_us-practice");
  flags.example("assay safety run --endpoint URL --model m --levels 1,8,32");
  flags.example("assay safety run --endpoint URL --model m --prompts set.sealed --seal-key k");
  flags.example("assay safety run --curve curves/m --safety-min good");
  flags.group("");
}

}  // namespace

Result<int> cmd_safety_run(Args args) {
  campaign::SafetyRunOptions options;
  Flags flags("safety run", "ask prompts, have the replies judged, grade each hazard");
  campaign::RunSettings settings;
  add_run_flags(flags, settings,
                {"--dataset", "--task", "--samples", "--num-samples", "--passes", "--duration",
                 "--min-duration", "--prompts", "--report-dir", "--keep-text", "--isl", "--osl",
                 "--shared-prefix"});
  add_client_flags(flags, options.client);
  add_safety_flags(flags, options);
  add_output_flags(flags, options);
  campaign::SafetyGate gate(&options.inputs);
  add_safety_gate_flags(flags, gate, false);
  PARSE_OR_RETURN(flags, args);
  for (const char* const flag :
       {"--prompts", "--standard", "--judges", "--retries", "--levels", "--curve", "--report-dir",
        "--draw", "--draw-seed", "--attacks", "--pack", "--endpoint", "--model"}) {
    if (flags.given(flag)) options.given.insert(flag);
  }
  return campaign::measure_safety(settings, options, gate, args, console());
}

}  // namespace assay::cli
