#include <utility>

#include "base/flags.h"
#include "campaign/curve/curve_prepare.h"
#include "campaign/curve_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/shared_flags.h"
#include "cli/store_flags.h"
#include "report/curve_text.h"

namespace assay::cli {
namespace {

void add_outputs(Flags& flags, campaign::CurveOptions& options) {
  flags.group("Rules");
  flags.add("--rules=EDITION", &options.rules, "the rules' edition");
  flags.add("--seed-set=ID", &options.seed_set,
            "the seed set (the newest that the cohort may adopt)");
  flags.add("--target-cohort=YYYY-MM-C0", &options.cohort,
            "the cohort that it is meant for (the next)");
  flags.add("--precision=NAME", &options.precision,
            "of the served model: bf16, fp8, nvfp4; kept with the curve, so that the same model's "
            "curves can be told apart and compared");
  flags.group("");
  add_client_flags(flags, options.client);
  flags.group("Output");
  flags.add("--resume=DIR", &options.resume, "go on with the curve in DIR");
  flags.add("--dry-run", &options.dry_run, "show the plan and measure nothing");
  flags.add("--json", &options.json, "print the result as JSON to standard output");
  flags.add("--quiet", &options.quiet, "no talk while it runs");
  flags.add("--store=STORE", &options.store,
            "put each finished point there: a file, postgresql://…, or the word default");
  flags.example("assay curve --endpoint http://localhost:8000 --model m --max-concurrency 1024 \\");
  flags.example("            --dataset prompts.jsonl --report-dir curves/m");
  flags.example("assay curve --resume curves/m");
  flags.example(
      "assay curve --endpoint URL --model m --find slo --slo 'ttft_p99<=2s,tpot_p90<=50ms'");
  flags.example(
      "assay curve --endpoint http://localhost:8000 --model m --max-concurrency 64 --quick");
  flags.group("");
}

void add_curve_flags(Flags& flags, campaign::CurveOptions& options) {
  flags.group("Points");
  flags.add("--max-concurrency=N", &options.c_max,
            "C_max, the highest concurrency; found first where it is not given");
  flags.add("--min-concurrency=N", &options.c_min, "the lowest, at most 32");
  flags.add("--concurrency=LIST", &options.levels,
            "exactly these levels (1,4,16) instead of the rules' regions");
  flags.add("--spare=N", &options.spare,
            "further points in each region, so that any one may be withdrawn (1; 0 if quick)");
  flags.add("--offline", &options.offline, "a run of its own, or the point at C_max taken for it")
      .choices({"auto", "dedicated", "elected", "none"});
  flags.add("--no-accuracy", &options.no_accuracy, "do not ask the accuracy datasets");
  flags.add("--quick", &options.quick, "seconds in place of minutes; the result is not official");
  flags.group("To find a level instead of measuring a curve");
  flags
      .add("--find", &options.find,
           "the highest concurrency that still pays, or keeps --slo; or the highest rate (qps, "
           "with --scenario server)")
      .choices({"max-concurrency", "slo", "qps"});
  flags.add("--slo=LIMITS", &options.slo,
            "limits: ttft_p99<=2s,tpot_p90<=50ms (those of --workload and --scenario)");
  flags.group("Output caching audit");
  flags.add("--audit", &options.audit, "ask one row again and again: is it answered from a cache?");
  flags.add("--audit-only", &options.audit_only, "the audit and no curve");
  flags.add("--audit-samples=N", &options.audit_samples,
            "queries of each phase (at most the dataset's rows)");
  flags.add("--audit-row=N", &options.audit_row, "the row that is repeated");
  flags.add("--audit-threshold=SHARE", &options.audit_threshold, "how much faster that may be");
  flags.group("");
  add_outputs(flags, options);
}

}  // namespace

Result<int> cmd_curve(Args args) {
  campaign::CurveOptions options;
  Flags flags("curve", "a whole Pareto curve: plan, measure, resume, accuracy, steady state");
  campaign::RunSettings settings;
  add_run_flags(flags, settings, campaign::decided_by_curve());
  add_curve_flags(flags, options);
  campaign::ForecastAsked forecast;
  add_forecast_flags(flags, forecast);
  campaign::Gate gate;
  add_gate_flags(flags, gate);
  PARSE_OR_RETURN(flags, args);
  const campaign::ResultsStore results = make_store(options.store);
  return campaign::measure_curve(settings, std::move(options), forecast, gate, results, args,
                                 console());
}

}  // namespace assay::cli
