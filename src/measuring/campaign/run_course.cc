#include "campaign/run_course.h"

#include <memory>
#include <optional>
#include <string>

#include "base/display.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "campaign/accuracy.h"
#include "campaign/caching_files.h"
#include "campaign/class_series.h"
#include "campaign/dry_run.h"
#include "campaign/interrupt.h"
#include "campaign/json_ending.h"
#include "campaign/power_session.h"
#include "campaign/prometheus_server.h"
#include "campaign/ranked_run.h"
#include "campaign/rate_search.h"
#include "campaign/recorded_run.h"
#include "campaign/run_audit.h"
#include "campaign/run_folder.h"
#include "campaign/run_talk.h"
#include "campaign/scenario/compliance_series.h"
#include "campaign/scenario/scenario_run.h"
#include "campaign/workload_verdict.h"
#include "interchange/accuracy_text.h"
#include "metrics/failed_share.h"
#include "report/live_lines.h"
#include "report/terminal.h"

namespace assay::campaign {
namespace {

// Starts every live view of a run; they end with the returned object, in the order of its fields.
struct LiveViews {
  std::shared_ptr<void> painter{};
  std::shared_ptr<void> lines{};
  PrometheusServer* server = nullptr;
  LiveViews() = default;
  LiveViews(const LiveViews&) = delete;
  LiveViews& operator=(const LiveViews&) = delete;
  ~LiveViews() {
    if (server != nullptr) server->hide();
  }
};

LiveView watch_of(bool painted, PrometheusServer* server, LiveFile* file, const Talk& talk) {
  if (!painted && server == nullptr && file == nullptr) return {};
  return [painted, server, file, &talk](const Json& facts,
                                        std::function<metrics::LiveSnapshot()> snapshot) {
    auto views = std::make_shared<LiveViews>();
    if (painted) views->painter = paint_live(facts, snapshot, talk);
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

Result<std::unique_ptr<PrometheusServer>> open_prometheus(const RunOptions& options,
                                                          const Talk& talk) {
  if (!options.prometheus) return std::unique_ptr<PrometheusServer>();
  ASSIGN_OR_RETURN(auto server, PrometheusServer::open(*options.prometheus));
  talk.say("metrics at " + server->url());
  return server;
}

// The run, and the audit that its config may ask for.
class RunCourse {
 public:
  RunCourse(const RunOptions& options, Gate& gate, const Talk& talk) noexcept
      : options_(options), gate_(gate), talk_(talk) {}

  // Makes every check that needs no query.
  Result<void> prepare(const RunSettings& settings) {
    ASSIGN_OR_RETURN(loaded_, settings.load());
    ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded_.config));
    const std::vector<std::string> rows = plan::row_notes(loaded_.config.workload, datasets);
    ASSIGN_OR_RETURN(bundle_, plan::make_plan(loaded_.config, std::move(datasets)));
    TRY(prepare_test(settings));
    ASSIGN_OR_RETURN(audit_, plan_audit(loaded_.config, bundle_));
    if (options_.dry_run) return {};
    TRY(options_.results.check());
    TRY(prepare_rank());
    ASSIGN_OR_RETURN(folder_, choose_folder(place_ ? rank_folder_ : loaded_.config.report_dir));
    if (audit_) TRY(choose_folder((folder_ / "audit" / caching_folder(false)).string()));
    if (quiet()) return {};
    say_unsaid_load();
    say_notes(talk_, {&loaded_.notes, &bundle_.notes, &rows, &test_notes_});
    for (const std::string& note :
         unscorable(loaded_.config, bundle_, options_.client.allow_code)) {
      talk_.say("note: " + note);
    }
    return {};
  }

  // After prepare(), in place of run().
  Result<int> show_plan() const {
    DryRun more;
    if (!options_.forecast.from.empty()) {
      ASSIGN_OR_RETURN(const auto known, known_system(options_.forecast.from));
      ASSIGN_OR_RETURN(const plan::Forecast forecast,
                       plan::forecast(bundle_.plan, bundle_.run_max, known.levels));
      more = dry_run(forecast, known, options_.forecast.prices(loaded_.config));
    }
    if (options_.json) {
      Json out = plan_json(bundle_);
      if (!more.json.is_null()) out.set("forecast", more.json);
      talk_.print(out.dump(2) + "\n");
    } else {
      talk_.print(plan_text(bundle_) + more.text);
    }
    return exit_code(ExitCode::done);
  }

  Result<int> run(std::span<const std::string> args) {
    command_ = command_of("run", args);
    Ending ending;
    std::string failed;
    const bool main = !audit_ || !audit_->wish.only;
    Json result;
    if (main) {
      ASSIGN_OR_RETURN(RecordedRun recorded, measure_main());
      if (place_ && place_->index > 0) return end_rank(recorded);
      if (place_) {
        ASSIGN_OR_RETURN(folder_, merge_on_rank_0(*place_, folder_, loaded_.config, bundle_,
                                                  options_.client.allow_code, recorded, talk_));
      }
      ending = ending_of(recorded, options_.client);
      failed = metrics::failed_words(recorded.run.point);
      show(recorded.run);
      for (const std::string& note : recorded.notes) talk_.say("note: " + printable(note));
      result = summary_json(recorded.run);
      if (!recorded.run.accuracy.is_null()) result.set("accuracy", recorded.run.accuracy);
      gate_.judge(folder_.string(), recorded.run.point);
      options_.json ? talk_.paint(gate_.text()) : talk_.print(gate_.text());
      if (audit_ && !recorded.run.point.complete()) {
        talk_.say("the output caching audit is left out: the run before it is not whole");
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
    if (options_.json) talk_.print(result.set("exit", ending.json()).dump(2) + "\n");
    if (main && !options_.store.empty()) TRY(options_.results.put(folder_));
    if (!failed.empty()) talk_.say("warning: " + printable(failed));
    say_exhausted(ending, talk_);
    return ending.code();
  }

 private:
  // One of LoadGen's scenarios: its queries take the place of the config's load. An accuracy test
  // asks each sample once, and so do the accuracy datasets of any run.
  Result<void> prepare_test(const RunSettings& settings) {
    ASSIGN_OR_RETURN(auto wanted, settings.scenario_test());
    const bool asks = wanted && wanted->test.requested.mode != loadgen::Mode::AccuracyOnly;
    if (!options_.compliance.empty()) {
      if (!asks) return invalid("--compliance: needs --scenario, one of LoadGen's, and its load");
      tests_ = {.config = loaded_.config, .asked = wanted->test};
      ASSIGN_OR_RETURN(tests_->tests, compliance_list(options_.compliance, *wanted));
      TRY(tests_->check());
    }
    if (!wanted) return {};
    test_notes_ = std::move(wanted->notes);
    if (!asks) {
      ASSIGN_OR_RETURN(test_, accuracy_scenario(std::move(wanted->test), loaded_.config, bundle_));
      return {};
    }
    ASSIGN_OR_RETURN(test_, plan_scenario(std::move(wanted->test), options_.client.threads,
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
      talk_.say(format("rank 0 of {} ({}): waiting for the others at {}:{}", place_->count,
                       place_->from, place_->host, place_->port));
    }
    return {};
  }

  // The verdict on the run is rank 0's; a launcher would take a code of this rank for a fault and
  // end them all.
  Result<int> end_rank(const RecordedRun& recorded) const {
    for (const ranks::LostRank& lost : recorded.lost) {
      talk_.say(format("rank {} of {}: rank {} was lost: {}\n  its own part is whole: {}",
                       place_->index, place_->count, lost.rank, lost.why, folder_.string()));
    }
    return exit_code(recorded.unwritten.empty() ? ExitCode::done : ExitCode::exhausted);
  }

  void say_unsaid_load() const {
    if (!loaded_.load_unsaid || test_) return;
    for (const PhasePlan& phase : bundle_.plan.phases) {
      if (phase.kind != PhaseKind::performance) continue;
      if (phase.arrivals.empty() || phase.arrivals.back() > Duration{}) continue;
      talk_.say(
          format("note: no load is named: max_throughput, {} queries at once (--concurrency or "
                 "--rate choose another; a file for a whole curve is for `assay curve`)",
                 with_thousands(static_cast<std::int64_t>(phase.stop.queries_max))));
    }
  }

  Result<RecordedRun> measure_main() {
    ASSIGN_OR_RETURN(const auto prometheus, open_prometheus(options_, talk_));
    RunRequest request{.config = &loaded_.config, .bundle = &bundle_, .folder = folder_};
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
    const LiveView watch = watch_of(!quiet(), prometheus.get(), live.get(), talk_);
    return record_run(request, options_.client, watch, control_);
  }

  Result<metrics::CachingAudit> measure_audit(bool main) {
    if (!options_.quiet) {
      talk_.say(
          format("output caching audit: {} queries of distinct rows, then {} of row {}{}",
                 plan::caching_queries(audit_->wish, false),
                 plan::caching_queries(audit_->wish, true), audit_->wish.sample_index,
                 main ? "; the run before it may have warmed a cache for both (audit.only)" : ""));
    }
    const InterruptGuard guard(control_);
    ASSIGN_OR_RETURN(
        const metrics::CachingAudit verdict,
        record_audit(*audit_, options_.client, folder_, command_, preflight_, control_));
    // The manifest lists the audit's files too.
    if (main) TRY(publish_again(folder_));
    const std::string text = metrics::caching_text(verdict);
    options_.json ? talk_.say(text) : talk_.print(text + "\n");
    return verdict;
  }

  // Each test is a run of its own, as long as its settings ask.
  Result<void> run_tests(const RecordedRun& main, Ending& ending, Json& result) {
    if (!main.run.point.complete()) {
      talk_.say("the compliance tests are left out: the run before them is not whole");
      return {};
    }
    Json said = Json::array();
    for (const std::string& test : tests_->tests) {
      if (!options_.quiet) talk_.say(format("{}: the same test with its audit.config", test));
      const InterruptGuard guard(control_);
      ASSIGN_OR_RETURN(
          const TestVerdict verdict,
          tests_->record(test, folder_, command_, options_.client, preflight_, control_));
      options_.json ? talk_.say(verdict.text()) : talk_.print(verdict.text());
      if (!verdict.passed()) ending.add(ExitCode::findings, test + " did not pass");
      said.push_back(verdict.to_json());
    }
    result.set("compliance", std::move(said));
    // The manifest lists the tests' files too.
    return publish_again(folder_);
  }

  void show(const LoadedRun& run) const {
    if (options_.json && options_.quiet) return;
    const report::TerminalStyle style = report::terminal_style(options_.json ? 2 : 1);
    const std::string text = report::terminal_report(run.point, report_context(run), style);
    options_.json ? talk_.paint(text) : talk_.print(text);
    if (const std::string scores = interchange::accuracy_text(run.accuracy); !scores.empty()) {
      options_.json ? talk_.paint(scores) : talk_.print(scores);
    }
    for (const std::string& line : workload_verdict(run.point)) {
      options_.json ? talk_.say(line) : talk_.print(line + "\n");
    }
  }

  const RunOptions& options_;
  Gate& gate_;
  const Talk& talk_;
  plan::LoadedConfig loaded_{};
  plan::PlanBundle bundle_{};
  std::optional<PlannedScenario> test_{};
  std::vector<std::string> test_notes_{};
  std::optional<PlannedAudit> audit_{};
  std::optional<ComplianceSeries> tests_{};
  std::optional<ranks::RankPlace> place_{};
  std::string rank_folder_{};
  std::filesystem::path folder_{};
  std::vector<std::string> command_{};
  Preflight preflight_{};
  run::Control control_{};
};

// Several runs in one command, where one run would be measured.
Result<int> run_several(const RunSettings& settings, const RunOptions& options, const Gate& gate,
                        std::span<const std::string> args, const Talk& talk) {
  const std::string_view flag = options.interference ? "--interference"
                                : options.each_class ? "--each-class"
                                : options.derate     ? "--derate"
                                                     : "--power-director";
  if (gate.asked()) return invalid(format("--require: checks one run, and {} makes several", flag));
  if (!options.store.empty() || options.prometheus || !options.live.empty() || options.dry_run) {
    return invalid(format("{}: has no --store, --prometheus, --live or --dry-run", flag));
  }
  if (options.interference + options.each_class + options.derate + !options.power_director.empty() >
      1) {
    return invalid(
        "--interference, --each-class, --derate, --power-director: give only one of them");
  }
  const InterferenceOptions series{.client = options.client,
                                   .json = options.json,
                                   .quiet = options.quiet,
                                   .each = options.each_class,
                                   .target = options.derate_target};
  if (options.derate) return measure_derating(settings, series, command_of("run", args), talk);
  if (options.interference || options.each_class) {
    return measure_interference(settings, series, command_of("run", args), talk);
  }
  return measure_power_session(settings,
                               {.client = options.client,
                                .json = options.json,
                                .quiet = options.quiet,
                                .director = options.power_director},
                               command_of("run", args), talk);
}

Result<int> measure_once(const RunSettings& settings, const RunOptions& options, Gate& gate,
                         std::span<const std::string> args, const Talk& talk) {
  TRY(options.client.check());
  TRY(gate.understand());
  TRY(options.forecast.check(options.dry_run));
  if (!options.find.empty()) {
    if (gate.asked()) return invalid("--require: --find looks for the limit itself");
    if (!options.store.empty() || options.prometheus || !options.live.empty()) {
      return invalid("--find qps: puts nothing in a store, serves no metrics and has no --live");
    }
    return search_rate(settings,
                       {.client = options.client, .json = options.json, .quiet = options.quiet},
                       command_of("run", args), talk);
  }
  if (options.interference || options.each_class || options.derate ||
      !options.power_director.empty()) {
    return run_several(settings, options, gate, args, talk);
  }

  RunCourse course(options, gate, talk);
  TRY(course.prepare(settings));
  if (options.dry_run) return course.show_plan();
  return course.run(args);
}

// Whether the run's document is another process's to print. Flags that name no rank are reported by
// each process.
bool is_another_ranks(const RunOptions& options) {
  const auto place = ranks::find_place(options.ranks, ranks::process_environment());
  return place && *place && (*place)->index > 0;
}

}  // namespace

Result<int> run_once(const RunSettings& settings, const RunOptions& options, Gate& gate,
                     std::span<const std::string> args, const Talk& talk) {
  const auto course = [&](const Talk& to) {
    return measure_once(settings, options, gate, args, to);
  };
  return options.json && !is_another_ranks(options) ? end_in_json(talk, course) : course(talk);
}

}  // namespace assay::campaign
