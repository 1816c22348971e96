#include <utility>

#include "base/flags.h"
#include "campaign/noise_course.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, campaign::NoiseAsked& typed) {
  flags.add("RUNS", &typed.folders, "runs of one thing: run folders, or a folder of several")
      .required();
  flags.add("--change=LIST", &typed.changes, "of which size a change is to be found");
  flags.add("--power=PERCENT", &typed.power_percent, "how often it is to be found");
  flags.add("--metrics=LIST", &typed.compare.metric_list, "which: ttft_p95,tpot_p90,system_tps, …");
  flags.add("--regression=PERCENT", &typed.compare.regression_percent,
            "the margin of assay compare: a harm up to this is no regression");
  flags.add("--confidence=PERCENT", &typed.compare.confidence_percent, "of all metrics together");
  flags.add("--tokenizer=DIR", &typed.tokenizer,
            "count the runs' tokens anew: the model's tokenizer, a folder or a file");
  flags.add("--allow-client-limited", &typed.compare.options.allow_client_limited,
            "take also runs whose own client was the bottleneck");
  flags.add("--json", &typed.json, "print the answer as JSON");
  flags.example(
      "for i in 1 2 3 4 5 6; do assay run --config run.yaml --report-dir runs/equal/$i; done");
  flags.example("assay noise runs/equal --change 5%");
}

}  // namespace

Result<int> cmd_noise(Args args) {
  campaign::NoiseAsked typed;
  Flags flags("noise", "how far equal runs differ, and how many runs show a change");
  add_flags(flags, typed);
  PARSE_OR_RETURN(flags, args);
  return campaign::show_noise(std::move(typed), console());
}

}  // namespace assay::cli
