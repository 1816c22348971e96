#include "cli/curve/curve_flags.h"

#include "cli/client_flags.h"

namespace assay::cli {

namespace {

void add_outputs(Flags& flags, campaign::CurveOptions& options) {
  static constexpr const char* kRules = "Rules";
  flags.add("--rules", &options.rules, "the rules' edition").value("EDITION").group(kRules);
  flags.add("--seed-set", &options.seed_set, "the seed set (the newest that the cohort may adopt)")
      .value("ID")
      .group(kRules);
  flags.add("--target-cohort", &options.cohort, "the cohort that it is meant for (the next)")
      .value("YYYY-MM-C0")
      .group(kRules);
  flags
      .add("--precision", &options.precision,
           "of the served model: bf16, fp8, nvfp4; kept with the curve, so that the same model's "
           "curves can be told apart and compared")
      .value("NAME")
      .group(kRules);
  add_client_flags(flags, options.client);
  flags.add("--resume", &options.resume, "go on with the curve in DIR")
      .value("DIR")
      .group("Output");
  flags.add("--dry-run", &options.dry_run, "show the plan and measure nothing").group("Output");
  flags.add("--json", &options.json, "print the result as JSON to standard output").group("Output");
  flags.add("--quiet", &options.quiet, "no talk while it runs").group("Output");
  flags
      .add("--store", &options.store,
           "put each finished point there: a file, postgresql://…, or the word default")
      .value("STORE")
      .group("Output");
  flags.example("assay curve --endpoint http://localhost:8000 --model m --max-concurrency 1024 \\");
  flags.example("            --dataset prompts.jsonl --report-dir curves/m");
  flags.example("assay curve --resume curves/m");
  flags.example(
      "assay curve --endpoint URL --model m --find slo --slo 'ttft_p99<=2s,tpot_p90<=50ms'");
  flags.example(
      "assay curve --endpoint http://localhost:8000 --model m --max-concurrency 64 --quick");
}

}  // namespace

void add_curve_flags(Flags& flags, campaign::CurveOptions& options) {
  static constexpr const char* kPoints = "Points";
  flags
      .add("--max-concurrency", &options.c_max,
           "C_max, the highest concurrency; found first where it is not given")
      .value("N")
      .group(kPoints);
  flags.add("--min-concurrency", &options.c_min, "the lowest, at most 32")
      .value("N")
      .group(kPoints);
  flags
      .add("--concurrency", &options.levels,
           "exactly these levels (1,4,16) instead of the rules' regions")
      .value("LIST")
      .group(kPoints);
  flags
      .add("--spare", &options.spare,
           "further points in each region, so that any one may be withdrawn (1; 0 if quick)")
      .value("N")
      .group(kPoints);
  flags.add("--offline", &options.offline, "a run of its own, or the point at C_max taken for it")
      .choices({"auto", "dedicated", "elected", "none"})
      .group(kPoints);
  flags.add("--no-accuracy", &options.no_accuracy, "do not ask the accuracy datasets")
      .group(kPoints);
  flags.add("--quick", &options.quick, "seconds in place of minutes; the result is not official")
      .group(kPoints);
  static constexpr const char* kFind = "To find a level instead of measuring a curve";
  flags
      .add(
          "--find", &options.find,
          "the highest concurrency that still pays, or keeps --slo; or the highest rate (qps, with "
          "--scenario server)")
      .choices({"max-concurrency", "slo", "qps"})
      .group(kFind);
  flags
      .add("--slo", &options.slo,
           "limits: ttft_p99<=2s,tpot_p90<=50ms (those of --workload and --scenario)")
      .value("LIMITS")
      .group(kFind);
  static constexpr const char* kAudit = "Output caching audit";
  flags.add("--audit", &options.audit, "ask one row again and again: is it answered from a cache?")
      .group(kAudit);
  flags.add("--audit-only", &options.audit_only, "the audit and no curve").group(kAudit);
  flags
      .add("--audit-samples", &options.audit_samples,
           "queries of each phase (at most the dataset's rows)")
      .value("N")
      .group(kAudit);
  flags.add("--audit-row", &options.audit_row, "the row that is repeated").value("N").group(kAudit);
  flags.add("--audit-threshold", &options.audit_threshold, "how much faster that may be")
      .value("SHARE")
      .group(kAudit);
  add_outputs(flags, options);
}

}  // namespace assay::cli
