#include <algorithm>
#include <string>

#include "base/flags.h"
#include "campaign/compare_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/results/compare_flags.h"
#include "cli/shared_flags.h"

namespace assay::cli {
namespace {

constexpr std::string_view kInterleave = "--interleave";

void add_pair_flags(Flags& flags, campaign::SafetyCompare& safety) {
  flags.group("Safety, in pairs");
  flags.add("--safety", &safety.asked,
            "compare the safety runs of two curves (or of two series) at each concurrency, prompt "
            "by prompt, instead: bf16 and fp8");
  flags.add("--safety-margin=POINTS", &safety.margin_points,
            "B is as safe where its unsafe share is shown to be less than this above A's: "
            "percentage points");
  flags.add("--html=FILE", &safety.html,
            "write grades, failures and speed of both curves as one page");
  add_seal_key(flags, safety.inputs, "of safety runs over sealed prompts: the key of the set");
  flags.group("");
}

}  // namespace

Result<int> cmd_compare(Args args) {
  if (std::ranges::find(args, kInterleave) != args.end()) return compare_interleaved(args);
  std::string a;
  std::string b;
  std::string tokenizer;
  bool interleave = false;
  campaign::CompareAsked compare;
  campaign::SafetyCompare safety;
  Flags flags("compare", "is B worse than A? effects with confidence intervals, and an exit code");
  flags.add("A", &a, "the baseline: a run folder, or a folder of several").required();
  flags.add("B", &b, "what is held against it: a run folder, or a folder of several").required();
  flags.add(kInterleave, &interleave,
            "measure both now, in turns, instead: see assay compare --interleave --help");
  flags.add("--tokenizer=DIR", &tokenizer,
            "count both runs' tokens anew: the model's tokenizer, a folder or a file");
  add_compare_flags(flags, compare);
  flags.add(
      "--noise=DIR", &compare.noise,
      "runs of one thing that say how far equal runs differ: a folder of them; several times");
  flags.add("--allow-client-limited", &compare.options.allow_client_limited,
            "compare also where a run's own client was the bottleneck");
  flags.group("Accuracy, in pairs");
  flags.add("--accuracy", &compare.accuracy, "compare the runs' scores, sample by sample, instead");
  flags.add("--accuracy-margin=POINTS", &compare.accuracy_points,
            "B is as good where it is not worse by this: percentage points");
  flags.group("");
  add_pair_flags(flags, safety);
  flags.example("assay compare runs/baseline runs/today --junit compare.xml");
  flags.example("assay compare runs/bf16 runs/fp4 --accuracy --accuracy-margin 2");
  flags.example("assay compare curves/bf16 curves/fp8 --safety --html safety.html");
  flags.example("assay compare runs/baseline runs/today --noise runs/equal");
  flags.example(
      "assay compare --interleave --endpoint http://a --endpoint http://b --model m "
      "--concurrency 16 --samples 2000");
  PARSE_OR_RETURN(flags, args);
  return campaign::compare_sides_of(a, b, compare, safety, tokenizer, console());
}

}  // namespace assay::cli
