#include <memory>
#include <optional>
#include <string>

#include "base/display.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/accuracy.h"
#include "campaign/caching_files.h"
#include "campaign/prometheus_server.h"
#include "campaign/recorded_run.h"
#include "campaign/run_audit.h"
#include "campaign/run_folder.h"
#include "campaign/scenario/compliance_series.h"
#include "campaign/scenario/scenario_run.h"
#include "campaign/workload_verdict.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/find_rate.h"
#include "cli/forecast_flags.h"
#include "cli/gate.h"
#include "cli/interference.h"
#include "cli/interrupt.h"
#include "cli/power_session.h"
#include "cli/ranked_run.h"
#include "cli/run_flags.h"
#include "cli/run_talk.h"
#include "cli/store_flags.h"
#include "interchange/accuracy_text.h"
#include "metrics/failed_share.h"
#include "report/live_lines.h"
#include "report/terminal.h"

namespace assay::cli {
namespace {

struct RunOptions {
  campaign::ClientOptions client{};
  bool json = false;
  bool quiet = false;
  std::string store{};
  std::optional<std::string> prometheus{};
  std::string live{};
  std::string find{};
  std::string compliance{};
  bool interference = false;
  bool each_class = false;
  bool derate = false;
  double derate_target = 0.9;
  std::string power_director{};
  bool dry_run = false;
  ForecastFlags forecast{};
  ranks::RankFlags ranks{};
};

void add_flags(Flags& flags, RunOptions& options) {
  add_client_flags(flags, options.client);
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
  flags
      .add("--live", &options.live,
           "write the live figures there while it runs: JSON lines, one a second; FILE may be a "
           "pipe")
      .value("FILE")
      .group("Output");
  flags
      .add("--find", &options.find,
           "with --scenario server: the highest rate whose limits hold, in a few tests")
      .choices({"qps"})
      .group("Workload");
  flags
      .add("--compliance", &options.compliance,
           "with a scenario of LoadGen's: then these tests too (TEST04,TEST06), or all that the "
           "workload's round asks")
      .value("LIST")
      .group("Workload");
  flags
      .add("--interference", &options.interference,
           "the classes (--class, with loads) alone, in pairs and together: what each does to the "
           "others")
      .group("Workload");
  flags
      .add(
          "--each-class", &options.each_class,
          "each class (--class) in a run of its own, one after the other: a sweep over lengths, or "
          "over sizes of pictures, sounds and videos")
      .group("Workload");
  flags
      .add("--derate", &options.derate,
           "the ladder from the ideal point to the classes' load (--class, with rates and limits): "
           "what limits, random arrivals, bursts and the mix cost")
      .group("Workload");
  flags
      .add("--derate-target", &options.derate_target,
           "of --derate: the share of each class's queries that must keep its limits")
      .value("SHARE")
      .group("Workload");
  flags
      .add("--power-director", &options.power_director,
           "a power session with MLCommons' director: a ranging and a testing run; "
           "HOST[:PORT][/LABEL]")
      .value("PLACE")
      .group("Output");
  flags.add("--dry-run", &options.dry_run, "show the plan and measure nothing").group("Output");
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

std::vector<std::string> command_of(const Args& args) {
  std::vector<std::string> out{"assay", "run"};
  out.insert(out.end(), args.begin(), args.end());
  return out;
}

// Starts every live view of a run; they end with the returned object, in the order of its fields.
struct LiveViews {
  std::shared_ptr<void> painter{};
  std::shared_ptr<void> lines{};
  campaign::PrometheusServer* server = nullptr;
  LiveViews() = default;
  LiveViews(const LiveViews&) = delete;
  LiveViews& operator=(const LiveViews&) = delete;
  ~LiveViews() {
    if (server != nullptr) server->hide();
  }
};

campaign::Watch watch_of(bool painted, campaign::PrometheusServer* server, LiveFile* file) {
  if (!painted && server == nullptr && file == nullptr) return {};
  return [=](const Json& facts, std::function<metrics::LiveSnapshot()> snapshot) {
    auto views = std::make_shared<LiveViews>();
    if (painted) views->painter = paint_live(facts, snapshot);
    if (file != nullptr) {
      views->lines = std::make_shared<report::LiveLines>(
          snapshot, [file](std::string_view line) { file->write(line); });
    }
    if (server != nullptr) {
      views->server = server;
      server->show(facts, std::move(snapshot));
    }
    return std::shared_ptr<void>(views);
  };
}

Result<std::unique_ptr<campaign::PrometheusServer>> open_prometheus(const RunOptions& options) {
  if (!options.prometheus) return std::unique_ptr<campaign::PrometheusServer>();
  ASSIGN_OR_RETURN(auto server, campaign::PrometheusServer::open(*options.prometheus));
  say("metrics at " + server->url());
  return server;
}

// The run, and the audit that its config may ask for.
class RunCourse {
 public:
  RunCourse(const RunOptions& options, Gate& gate) noexcept : options_(options), gate_(gate) {}

  // Makes every check that needs no query.
  Result<void> prepare(const RunFlags& settings) {
    ASSIGN_OR_RETURN(loaded_, settings.load());
    ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded_.config));
    const std::vector<std::string> rows = plan::row_notes(loaded_.config.workload, datasets);
    ASSIGN_OR_RETURN(bundle_, plan::make_plan(loaded_.config, std::move(datasets)));
    TRY(prepare_test(settings));
    ASSIGN_OR_RETURN(audit_, campaign::plan_audit(loaded_.config, bundle_));
    if (options_.dry_run) return {};
    TRY(check_store(options_.store));
    TRY(prepare_rank());
    ASSIGN_OR_RETURN(folder_, choose_folder(place_ ? rank_folder_ : loaded_.config.report_dir));
    if (audit_) TRY(choose_folder((folder_ / "audit" / campaign::caching_folder(false)).string()));
    if (quiet()) return {};
    say_unsaid_load();
    say_notes({&loaded_.notes, &bundle_.notes, &rows, &test_notes_});
    for (const std::string& note :
         campaign::unscorable(loaded_.config, bundle_, options_.client.allow_code)) {
      say("note: " + note);
    }
    return {};
  }

  // After prepare(), in place of run().
  Result<int> show_plan() const {
    DryRun more;
    if (!options_.forecast.from.empty()) {
      ASSIGN_OR_RETURN(const auto known, campaign::known_system(options_.forecast.from));
      ASSIGN_OR_RETURN(const plan::Forecast forecast,
                       plan::forecast(bundle_.plan, bundle_.run_max, known.levels));
      more = dry_run(forecast, known, options_.forecast.prices(loaded_.config));
    }
    if (options_.json) {
      Json out = campaign::plan_json(bundle_);
      if (!more.json.is_null()) out.set("forecast", more.json);
      print(out.dump(2) + "\n");
    } else {
      print(campaign::plan_text(bundle_) + more.text);
    }
    return exit_code(ExitCode::done);
  }

  Result<int> run(const Args& args) {
    command_ = command_of(args);
    Ending ending;
    std::string failed;
    const bool main = !audit_ || !audit_->wish.only;
    Json result;
    if (main) {
      ASSIGN_OR_RETURN(campaign::RecordedRun recorded, measure_main());
      if (place_ && place_->index > 0) return end_rank(recorded);
      if (place_) {
        ASSIGN_OR_RETURN(folder_, merge_on_rank_0(*place_, folder_, loaded_.config, bundle_,
                                                  options_.client.allow_code, recorded));
      }
      ending = campaign::ending_of(recorded, options_.client);
      failed = metrics::failed_words(recorded.run.point);
      show(recorded.run);
      for (const std::string& note : recorded.notes) say("note: " + printable(note));
      result = campaign::summary_json(recorded.run);
      if (!recorded.run.accuracy.is_null()) result.set("accuracy", recorded.run.accuracy);
      gate_.judge(folder_.string(), recorded.run.point);
      options_.json ? write_error(gate_.text()) : print(gate_.text());
      if (audit_ && !recorded.run.point.complete()) {
        say("the output caching audit is left out: the run before it is not whole");
        audit_.reset();
      }
      if (tests_) TRY(run_tests(recorded, ending, result));
    }
    if (audit_) {
      ASSIGN_OR_RETURN(const metrics::CachingAudit verdict, measure_audit(main));
      if (!verdict.passed) ending.add(ExitCode::findings, "the output caching audit did not pass");
      Json said = metrics::caching_json(verdict);
      main ? static_cast<void>(result.set("output_caching_audit", std::move(said)))
           : static_cast<void>(result = std::move(said));
    }
    if (main) TRY(gate_.finish("assay run", ending, &result));
    if (options_.json) print(result.set("exit", ending.json()).dump(2) + "\n");
    if (main && !options_.store.empty()) TRY(put_in_store(folder_, options_.store));
    if (!failed.empty()) say("warning: " + printable(failed));
    say_exhausted(ending);
    return ending.code();
  }

 private:
  // One of LoadGen's scenarios: its queries take the place of the config's load. An accuracy test
  // asks each sample once, and so do the accuracy datasets of any run.
  Result<void> prepare_test(const RunFlags& settings) {
    ASSIGN_OR_RETURN(auto wanted, settings.scenario_test());
    const bool asks = wanted && wanted->test.requested.mode != loadgen::Mode::AccuracyOnly;
    if (!options_.compliance.empty()) {
      if (!asks) return invalid("--compliance: needs --scenario, one of LoadGen's, and its load");
      tests_ = {.config = loaded_.config, .asked = wanted->test};
      ASSIGN_OR_RETURN(tests_->tests, campaign::compliance_list(options_.compliance, *wanted));
      TRY(tests_->check());
    }
    if (!wanted) return {};
    test_notes_ = std::move(wanted->notes);
    if (!asks) {
      ASSIGN_OR_RETURN(
          test_, campaign::accuracy_scenario(std::move(wanted->test), loaded_.config, bundle_));
      return {};
    }
    ASSIGN_OR_RETURN(test_,
                     campaign::plan_scenario(std::move(wanted->test), options_.client.threads,
                                             loaded_.config, bundle_));
    test_notes_.insert(test_notes_.end(), test_->notes.begin(), test_->notes.end());
    return {};
  }

  bool quiet() const { return options_.quiet || (place_ && place_->index > 0); }

  Result<void> prepare_rank() {
    ASSIGN_OR_RETURN(place_, ranks::find_place(options_.ranks, ranks::process_environment()));
    if (!place_) return {};
    if (tests_) return invalid("--compliance: the tests are for one process (--rank none)");
    if (audit_) return invalid("audit: the output caching audit is for one process (--rank none)");
    if (loaded_.config.settings.prefix_reuse.block > 0) {
      return invalid("--prefix-reuse: a rank knows its own prompts only (--rank none)");
    }
    if (test_ && test_->in_turn.group > 0) {
      return invalid("--scenario: this scenario sends from one thread (--rank none)");
    }
    ASSIGN_OR_RETURN(const auto folder, rank_folder(*place_, loaded_.config.report_dir));
    TRY(check_load_of_ranks(*place_, loaded_.config));
    rank_folder_ = folder.string();
    if (!quiet()) {
      say(format("rank 0 of {} ({}): waiting for the others at {}:{}", place_->count, place_->from,
                 place_->host, place_->port));
    }
    return {};
  }

  // The verdict on the run is rank 0's; a launcher would take a code of this rank for a fault and
  // end them all.
  Result<int> end_rank(const campaign::RecordedRun& recorded) const {
    for (const ranks::LostRank& lost : recorded.lost) {
      say(format("rank {} of {}: rank {} was lost: {}\n  its own part is whole: {}", place_->index,
                 place_->count, lost.rank, lost.why, folder_.string()));
    }
    return exit_code(recorded.unwritten.empty() ? ExitCode::done : ExitCode::exhausted);
  }

  void say_unsaid_load() const {
    if (!loaded_.load_unsaid || test_) return;
    for (const PhasePlan& phase : bundle_.plan.phases) {
      if (phase.kind != PhaseKind::performance) continue;
      if (phase.arrivals.empty() || phase.arrivals.back() > Duration{}) continue;
      say(
          format("note: no load is named: max_throughput, {} queries at once (--concurrency or "
                 "--rate choose another; a file for a whole curve is for `assay curve`)",
                 with_thousands(static_cast<std::int64_t>(phase.stop.queries_max))));
    }
  }

  Result<campaign::RecordedRun> measure_main() {
    ASSIGN_OR_RETURN(const auto prometheus, open_prometheus(options_));
    campaign::RunRequest request{.config = &loaded_.config, .bundle = &bundle_, .folder = folder_};
    request.command = command_;
    request.preflight = &preflight_;
    if (!audit_) request.spent = &bundle_.datasets;
    request.place = place_;
    if (test_) {
      request.facts = test_->facts();
      request.in_turn = test_->in_turn;
    }
    std::unique_ptr<LiveFile> live;
    if (!options_.live.empty()) {
      ASSIGN_OR_RETURN(live, LiveFile::open(options_.live));
    }
    const InterruptGuard guard(control_);
    const campaign::Watch watch = watch_of(!quiet(), prometheus.get(), live.get());
    return campaign::record_run(request, options_.client, watch, control_);
  }

  Result<metrics::CachingAudit> measure_audit(bool main) {
    if (!options_.quiet) {
      say(format("output caching audit: {} queries of distinct rows, then {} of row {}{}",
                 plan::caching_queries(audit_->wish, false),
                 plan::caching_queries(audit_->wish, true), audit_->wish.sample_index,
                 main ? "; the run before it may have warmed a cache for both (audit.only)" : ""));
    }
    const InterruptGuard guard(control_);
    ASSIGN_OR_RETURN(
        const metrics::CachingAudit verdict,
        campaign::record_audit(*audit_, options_.client, folder_, command_, preflight_, control_));
    // The manifest lists the audit's files too.
    if (main) TRY(campaign::publish_again(folder_));
    const std::string text = metrics::caching_text(verdict);
    options_.json ? say(text) : print(text + "\n");
    return verdict;
  }

  // Each test is a run of its own, as long as its settings ask.
  Result<void> run_tests(const campaign::RecordedRun& main, Ending& ending, Json& result) {
    if (!main.run.point.complete()) {
      say("the compliance tests are left out: the run before them is not whole");
      return {};
    }
    Json said = Json::array();
    for (const std::string& test : tests_->tests) {
      if (!options_.quiet) say(format("{}: the same test with its audit.config", test));
      const InterruptGuard guard(control_);
      ASSIGN_OR_RETURN(
          const campaign::TestVerdict verdict,
          tests_->record(test, folder_, command_, options_.client, preflight_, control_));
      options_.json ? say(verdict.text()) : print(verdict.text());
      if (!verdict.passed()) ending.add(ExitCode::findings, test + " did not pass");
      said.push_back(verdict.to_json());
    }
    result.set("compliance", std::move(said));
    // The manifest lists the tests' files too.
    return campaign::publish_again(folder_);
  }

  void show(const campaign::LoadedRun& run) const {
    if (options_.json && options_.quiet) return;
    const report::TerminalStyle style = report::terminal_style(options_.json ? 2 : 1);
    const std::string text =
        report::terminal_report(run.point, campaign::report_context(run), style);
    options_.json ? write_error(text) : print(text);
    if (const std::string scores = interchange::accuracy_text(run.accuracy); !scores.empty()) {
      options_.json ? write_error(scores) : print(scores);
    }
    for (const std::string& line : campaign::workload_verdict(run.point)) {
      options_.json ? say(line) : print(line + "\n");
    }
  }

  const RunOptions& options_;
  Gate& gate_;
  plan::LoadedConfig loaded_{};
  plan::PlanBundle bundle_{};
  std::optional<campaign::PlannedScenario> test_{};
  std::vector<std::string> test_notes_{};
  std::optional<campaign::PlannedAudit> audit_{};
  std::optional<campaign::ComplianceSeries> tests_{};
  std::optional<ranks::RankPlace> place_{};
  std::string rank_folder_{};
  std::filesystem::path folder_{};
  std::vector<std::string> command_{};
  campaign::Preflight preflight_{};
  run::Control control_{};
};

// Several runs in one command, where one run would be measured.
Result<int> run_several(const RunFlags& settings, const RunOptions& options, const Gate& gate,
                        const Args& args) {
  const std::string_view flag = options.interference ? "--interference"
                                : options.each_class ? "--each-class"
                                : options.derate     ? "--derate"
                                                     : "--power-director";
  if (gate.asked()) return invalid(format("--require: {} is of several runs", flag));
  if (!options.store.empty() || options.prometheus || !options.live.empty() || options.dry_run) {
    return invalid(format("{}: has no --store, --prometheus, --live or --dry-run", flag));
  }
  if (options.interference + options.each_class + options.derate + !options.power_director.empty() >
      1) {
    return invalid("--interference, --each-class, --derate, --power-director: one of them");
  }
  const InterferenceOptions series{.client = options.client,
                                   .json = options.json,
                                   .quiet = options.quiet,
                                   .each = options.each_class,
                                   .target = options.derate_target};
  if (options.derate) return measure_derating(settings, series, command_of(args));
  if (options.interference || options.each_class) {
    return measure_interference(settings, series, command_of(args));
  }
  return measure_power_session(settings,
                               {.client = options.client,
                                .json = options.json,
                                .quiet = options.quiet,
                                .director = options.power_director},
                               command_of(args));
}

}  // namespace

Result<int> cmd_run(Args args) {
  RunOptions options;
  Flags flags("run", "one measurement point: load an endpoint, record every event, report");
  RunFlags settings(flags);
  settings.allow_tests();
  add_flags(flags, options);
  Gate gate(flags);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(options.client.check());
  TRY(gate.understand());
  TRY(options.forecast.check(options.dry_run));
  if (!options.find.empty()) {
    if (gate.asked()) return invalid("--require: --find looks for the limit itself");
    if (!options.store.empty() || options.prometheus || !options.live.empty()) {
      return invalid("--find qps: puts nothing in a store, serves no metrics and has no --live");
    }
    return find_rate(settings,
                     {.client = options.client, .json = options.json, .quiet = options.quiet},
                     command_of(args));
  }
  if (options.interference || options.each_class || options.derate ||
      !options.power_director.empty()) {
    return run_several(settings, options, gate, args);
  }

  RunCourse course(options, gate);
  TRY(course.prepare(settings));
  if (options.dry_run) return course.show_plan();
  return course.run(args);
}

}  // namespace assay::cli
