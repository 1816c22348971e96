#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "plan/show_workload.h"

namespace assay::cli {

Result<int> cmd_workloads(Args args) {
  plan::ShownWorkload options;
  Flags flags("workloads", "the suites' benchmarks: datasets, limits and scores, by name");
  flags.add("NAME", &options.name, "show one: a name of the list, or a YAML file of your own");
  flags.add("--edition=NAME", &options.edition, "whose rules (the workload's first)");
  flags.add("--scenario=NAME", &options.scenario, "with --config: the load of this scenario too");
  flags.add("--config", &options.config, "print the config that assay run --workload uses");
  flags.add("--json", &options.json, "print everything as JSON");
  flags.example("assay workloads");
  flags.example("assay workloads deepseek-r1 --edition endpoints-v1.0");
  flags.example("assay run --workload llama3.1-8b --scenario server --rate 10 \\");
  flags.example("          --endpoint http://localhost:8000");
  PARSE_OR_RETURN(flags, args);
  return plan::show_workloads(options, console());
}

}  // namespace assay::cli
