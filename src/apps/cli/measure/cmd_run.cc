#include "base/flags.h"
#include "campaign/run_course.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/run_flags.h"
#include "cli/shared_flags.h"
#include "cli/store_flags.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, campaign::RunOptions& options) {
  add_client_flags(flags, options.client);
  flags.group("Output");
  flags.add("--json", &options.json, "print the result as JSON to standard output");
  flags.add("--quiet", &options.quiet, "no talk while it runs");
  flags.add("--store=STORE", &options.store,
            "put the run there too: a file, postgresql://…, or the word default");
  flags.add("--prometheus=PORT", &options.prometheus, "serve the run's own metrics while it runs");
  flags.add(
      "--live=FILE", &options.live,
      "write the live figures there while it runs: JSON lines, one a second; FILE may be a pipe");
  flags.group("Workload");
  flags
      .add("--find", &options.find,
           "with --scenario server: the highest rate whose limits hold, in a few tests")
      .choices({"qps"});
  flags.add("--compliance=LIST", &options.compliance,
            "with a scenario of LoadGen's: then these tests too (TEST04,TEST06), or all that the "
            "workload's round asks");
  flags.add("--interference", &options.interference,
            "the classes (--class, with loads) alone, in pairs and together: what each does to the "
            "others");
  flags.add("--each-class", &options.each_class,
            "each class (--class) in a run of its own, one after the other: a sweep over lengths, "
            "or over sizes of pictures, sounds and videos");
  flags.add("--derate", &options.derate,
            "the ladder from the ideal point to the classes' load (--class, with rates and "
            "limits): what limits, random arrivals, bursts and the mix cost");
  flags.add("--derate-target=SHARE", &options.derate_target,
            "of --derate: the share of each class's queries that must keep its limits");
  flags.group("Output");
  flags.add(
      "--power-director=PLACE", &options.power_director,
      "a power session with MLCommons' director: a ranging and a testing run; HOST[:PORT][/LABEL]");
  flags.add("--dry-run", &options.dry_run, "show the plan and measure nothing");
  flags.group("");
  add_forecast_flags(flags, options.forecast);
  add_rank_flags(flags, options.ranks);
  flags.example("assay run --endpoint http://localhost:8000 --model m --concurrency 16 \\");
  flags.example("          --samples 1000");
  flags.example("assay run --endpoint http://localhost:8000 --model m --rate 25 --duration 60s");
  flags.example(
      "assay run --endpoint http://localhost:8000 --model m --concurrency 8 --task gsm8k");
  flags.example("assay run --config config.yaml --require 'ttft_p95<=200ms,failed<=0.1%'");
  flags.example("mpirun -n 4 assay run --config config.yaml --report-dir runs/big");
  flags.example("assay run --endpoint URL --workload llama3.1-8b --scenario server \\");
  flags.example("          --config user.conf");
}

}  // namespace

Result<int> cmd_run(Args args) {
  campaign::RunOptions options;
  Flags flags("run", "one measurement point: load an endpoint, record every event, report");
  campaign::RunSettings settings;
  settings.tests = true;
  add_run_flags(flags, settings);
  add_flags(flags, options);
  campaign::Gate gate;
  add_gate_flags(flags, gate);
  PARSE_OR_RETURN(flags, args);
  options.results = make_store(options.store);
  return campaign::run_once(settings, options, gate, args, console());
}

}  // namespace assay::cli
