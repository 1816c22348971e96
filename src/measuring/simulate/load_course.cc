#include "simulate/load_course.h"

#include <utility>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/run_folder.h"
#include "campaign/run_talk.h"
#include "campaign/simulated_run.h"
#include "plan/config_reader.h"
#include "report/terminal.h"
#include "simulate/layout_choice.h"

namespace assay::simulate {
namespace {

// The model's name in a request is the file's; a config that names no endpoint needs none here.
Result<plan::LoadedConfig> read_load(const std::string& file, const std::string& model) {
  plan::ConfigReader reader;
  reader.read_file(file);
  reader.flag("--endpoint", "http://simulated.invalid");
  reader.flag("--model", model);
  reader.flag("--mode", "perf");
  return reader.finish();
}

}  // namespace

Result<int> simulate_load(const std::string& file, const SystemWords& system,
                          const sim::Catalogue& catalogue, bool json, const Talk& talk) {
  ASSIGN_OR_RETURN(const sim::Scenario scenario, system.resolve());
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, read_load(file, scenario.model));
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(const plan::PlanBundle bundle,
                   plan::make_plan(loaded.config, std::move(datasets)));
  campaign::say_notes(talk, {&loaded.notes, &bundle.notes});
  LayoutChoice layout{.scenario = scenario};
  if (system.file.empty()) {
    ASSIGN_OR_RETURN(const sim::Workload lengths, campaign::lengths_asked(bundle, scenario.seed));
    ASSIGN_OR_RETURN(layout, choose_layout(catalogue, scenario, lengths, {}));
  }
  ASSIGN_OR_RETURN(const sim::ClusterSpec spec, sim::make_cluster_spec(catalogue, layout.scenario));
  ASSIGN_OR_RETURN(const audit::LoadedRun run,
                   campaign::simulate_run(loaded.config, bundle, spec, scenario.seed));
  if (json) {
    talk.print(campaign::summary_json(run)
                   .set("kind", "simulated")
                   .set("system", sim::describe(spec))
                   .dump(2) +
               "\n");
  } else {
    talk.print(format("Simulated: {}\n\n", sim::describe(spec)));
    talk.print(report::terminal_report(run.point, {.observed = campaign::observed_facts(run)},
                                       report::terminal_style(1)));
  }
  return exit_code(run.point.complete() ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::simulate
