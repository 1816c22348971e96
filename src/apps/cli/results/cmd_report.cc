#include <utility>

#include "base/flags.h"
#include "campaign/report_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, campaign::ReportOptions& options) {
  flags.add("RUN", &options.folder, "the folder of a run, of a curve or of --derate").required();
  flags.add("--json", &options.json, "the figures of result_summary.json");
  flags.add("--why", &options.why,
            "why the slowest queries were slow, as far as the recording shows it");
  flags.add("--publish", &options.publish,
            "write the derived files of a folder that has its events alone, for `assay verify`");
  flags.add("--markdown", &options.markdown, "as markdown");
  flags.add("--html=FILE", &options.html, "write the page to FILE");
  flags.add("--events-jsonl=FILE", &options.events_jsonl,
            "write the reference client's event file");
  flags.add("--definitions=LIST", &options.definitions,
            "the figures as other tools define them: vllm, sglang, aiperf, guidellm, "
            "inference-perf, genai-perf, otel, endpoints, assay or all");
  flags.add("--format=FORMAT", &options.format, "as another tool's file, or as a table")
      .choices({"vllm", "aiperf", "otlp", "prometheus", "hdr", "csv", "parquet", "arrow"});
  flags
      .add("--table=TABLE", &options.table,
           "of parquet and arrow: a row a query, or an event of a stream")
      .choices({"events", "fragments"});
  flags.add("--out=FILE", &options.out, "where --format writes; standard output without it");
  flags.add("--truth=FILE", &options.truth,
            "how far the recorded instants are from those in the endpoint's --truth-log");
  flags.add("--tokenizer=DIR", &options.tokenizer,
            "count the recorded replies by this tokenizer; the folder is left as it is");
  flags.add("--price=DOLLARS", &options.price,
            "of an hour of the whole system, for $ a million tokens");
  flags.add("--power=WATTS|FILE", &options.power,
            "of a curve: the system's provisioned watts, or its system_power.json, for J a token");
  flags.add("--slo=LIMITS", &options.slo,
            "of a curve: limits (ttft_p90<=2s,tpot_p90<=50ms), for how many users they are kept");
}

}  // namespace

Result<int> cmd_report(Args args) {
  campaign::ReportOptions options;
  Flags flags(
      "report",
      "a run again, from its event log, or a curve; also one that was interrupted or killed");
  add_flags(flags, options);
  campaign::Gate gate;
  add_gate_flags(flags, gate);
  campaign::SafetyGate safety;
  add_safety_gate_flags(flags, safety);
  flags.example("assay report runs/20261120_144822 --html report.html");
  flags.example("assay report runs/20261120_144822 --definitions all");
  flags.example("assay report runs/20261120_144822 --tokenizer models/m");
  flags.example("assay report curves/m --price 98.32 --power 13050 --slo 'ttft_p90<=2s'");
  PARSE_OR_RETURN(flags, args);
  TRY(gate.understand());
  TRY(safety.understand());
  return campaign::show_report(std::move(options), gate, safety, console());
}

}  // namespace assay::cli
