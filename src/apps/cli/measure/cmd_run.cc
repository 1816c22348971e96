#include <memory>
#include <optional>
#include <string>

#include "apps/cli/commands.h"
#include "apps/cli/console.h"
#include "apps/cli/curve/workload_verdict.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/explore/store_flags.h"
#include "apps/cli/flags.h"
#include "apps/cli/interrupt.h"
#include "apps/cli/measure/accuracy.h"
#include "apps/cli/measure/prometheus_server.h"
#include "apps/cli/measure/run_flags.h"
#include "apps/cli/measure/run_folder.h"
#include "apps/cli/measure/run_talk.h"
#include "apps/cli/results/recorded_run.h"
#include "base/format.h"
#include "metrics/accuracy_text.h"
#include "report/terminal.h"

namespace assay::cli {
namespace {

struct RunOptions {
  ClientOptions client{};
  bool json = false;
  bool quiet = false;
  std::string store{};
  std::optional<std::string> prometheus{};
};

void add_flags(Flags& flags, RunOptions& options) {
  options.client.add_to(flags);
  flags.add("--json", &options.json, "print the result as JSON to standard output").group("Output");
  flags.add("--quiet", &options.quiet, "no talk while it runs").group("Output");
  flags
      .add("--store", &options.store,
           "put the run there too: a file, postgresql://…, or the word default")
      .value("STORE")
      .group("Output");
  flags.add("--prometheus", &options.prometheus, "serve the run's own metrics while it runs")
      .value("PORT")
      .group("Output");
  flags.example("assay run --endpoint http://localhost:8000 --model m --concurrency 16 \\");
  flags.example("          --samples 1000");
  flags.example("assay run --endpoint http://localhost:8000 --model m --rate 25 --duration 60s");
  flags.example("assay run --config config.yaml");
}

// All who want to see the run while it goes on; ends with what it gives back.
Watch watch_of(bool painted, PrometheusServer* server) {
  if (!painted && server == nullptr) return {};
  return [painted, server](const Json& facts, std::function<metrics::LiveSnapshot()> snapshot) {
    std::shared_ptr<void> painter = painted ? paint_live(facts, snapshot) : nullptr;
    if (server != nullptr) server->show(facts, std::move(snapshot));
    return std::shared_ptr<void>(server, [painter](void* shown) {
      if (shown != nullptr) static_cast<PrometheusServer*>(shown)->hide();
    });
  };
}

Result<std::unique_ptr<PrometheusServer>> open_prometheus(const RunOptions& options) {
  if (!options.prometheus) return std::unique_ptr<PrometheusServer>();
  ASSIGN_OR_RETURN(auto server, PrometheusServer::open(*options.prometheus));
  say("metrics at " + server->url());
  return server;
}

}  // namespace

Result<int> cmd_run(Args args) {
  RunOptions options;
  Flags flags("run", "one measurement point: load an endpoint, record every event, report");
  const RunFlags settings(flags);
  add_flags(flags, options);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(options.client.check());

  ASSIGN_OR_RETURN(const plan::LoadedConfig loaded, settings.load());
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded.config));
  const std::vector<std::string> rows = plan::row_notes(loaded.config.workload, datasets);
  ASSIGN_OR_RETURN(const plan::PlanBundle bundle,
                   plan::make_plan(loaded.config, std::move(datasets)));
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  if (!options.quiet) {
    say_notes({&loaded.notes, &bundle.notes, &rows});
    for (const std::string& note : unscorable(loaded.config, bundle, options.client.allow_code)) {
      say("note: " + note);
    }
  }
  ASSIGN_OR_RETURN(const auto prometheus, open_prometheus(options));
  RunRequest request{.config = &loaded.config, .bundle = &bundle, .folder = folder};
  request.command = {"assay", "run"};
  request.command.insert(request.command.end(), args.begin(), args.end());
  run::Control control;
  RecordedRun recorded;
  {
    const InterruptGuard guard(control);
    const Watch watch = watch_of(!options.quiet, prometheus.get());
    ASSIGN_OR_RETURN(recorded, record_run(request, options.client, watch, control));
  }
  const LoadedRun& run = recorded.run;
  if (options.json) {
    print(summary_json(run).dump(2) + "\n");
  }
  if (!options.json || !options.quiet) {
    const report::TerminalStyle style = report::terminal_style(options.json ? 2 : 1);
    const std::string text = report::terminal_report(run.point, report_context(run), style);
    options.json ? write_error(text) : print(text);
    if (const std::string scores = metrics::accuracy_text(run.accuracy); !scores.empty()) {
      options.json ? write_error(scores) : print(scores);
    }
    for (const std::string& line : workload_verdict(run.point)) {
      options.json ? say(line) : print(line + "\n");
    }
  }
  if (!options.store.empty()) TRY(put_in_store(folder, options.store));
  return exit_code_of(recorded, options.client);
}

}  // namespace assay::cli
