#include "campaign/rate_search.h"

#include <algorithm>
#include <vector>

#include "base/exit_code.h"
#include "base/format.h"
#include "campaign/interrupt.h"
#include "campaign/run_talk.h"
#include "campaign/scenario/find_rate.h"
#include "campaign/scenario/scenario_run.h"
#include "metrics/failed_share.h"

namespace assay::campaign {
namespace {

// An overloaded endpoint answers long after its last query; a short probe needs no such answer.
constexpr Duration kDrainLeast = 10_s;

class RateProber {
 public:
  RateProber(const RateSearchOptions& options, plan::Config config, std::vector<Dataset> datasets,
             loadgen::Test asked, std::filesystem::path folder, std::vector<std::string> command)
      : options_(options),
        config_(std::move(config)),
        datasets_(std::move(datasets)),
        asked_(std::move(asked)),
        folder_(std::move(folder)),
        command_(std::move(command)) {}

  Result<loadgen::RateProbe> measure(const loadgen::RateSearch::Next& next, std::uint64_t index) {
    plan::Config config = config_;
    config.settings.load_pattern.target_qps = next.rate;
    ASSIGN_OR_RETURN(plan::PlanBundle bundle, plan::make_plan(config, datasets_));
    ASSIGN_OR_RETURN(
        const PlannedScenario planned,
        plan_scenario(probe_test(asked_, next, index), options_.client.threads, config, bundle));
    if (!next.is_long) shorten_drain(bundle);
    RunRequest request{.config = &config, .bundle = &bundle, .preflight = &preflight_};
    request.folder = folder_ / "search" / format("q{:02}", index);
    request.facts = planned.facts();
    request.command = command_;
    const InterruptGuard guard(control_);
    ASSIGN_OR_RETURN(const RecordedRun recorded,
                     record_run(request, options_.client, LiveView(), control_));
    failed_ = metrics::failed_words(recorded.run.point);
    answered_ = answered_ || recorded.run.point.counts.completed > 0;
    const RunEnd& end = recorded.run.point.end;
    if (!recorded.unwritten.empty()) return Error{Code::exhausted, recorded.unwritten};
    if (end.state != RunState::complete) {
      return Error{end.out_of_space ? Code::exhausted : Code::refused,
                   format("the probe at {:g}/s was stopped: {}", next.rate, end.reason)};
    }
    return loadgen::probe_of(*recorded.run.test);
  }

  bool interrupted() const { return control_.request() != run::Control::Request::none; }
  bool answered() const { return answered_; }
  const std::string& failed() const { return failed_; }

 private:
  static void shorten_drain(plan::PlanBundle& bundle) {
    for (PhasePlan& phase : bundle.plan.phases) {
      if (phase.kind != PhaseKind::performance) continue;
      const Duration lasts = phase.arrivals.empty() ? Duration{} : phase.arrivals.back();
      phase.stop.drain_max = std::min(phase.stop.drain_max, std::max(kDrainLeast, lasts));
    }
  }

  const RateSearchOptions& options_;
  plan::Config config_;
  std::vector<Dataset> datasets_;
  loadgen::Test asked_;
  std::filesystem::path folder_;
  std::vector<std::string> command_;
  Preflight preflight_{};
  run::Control control_{};
  std::string failed_{};
  bool answered_ = false;
};

}  // namespace

Result<int> search_rate(const RunSettings& settings, const RateSearchOptions& options,
                        std::vector<std::string> command, const Talk& talk) {
  ASSIGN_OR_RETURN(auto wanted, settings.scenario_test());
  if (!wanted || wanted->test.requested.scenario != loadgen::Scenario::Server) {
    return invalid(
        "--find qps: needs --scenario server or interactive, and no load of your own; the "
        "user.conf's "
        "target_qps is where the search begins");
  }
  const loadgen::Test asked = wanted->test;
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, settings.load());
  ASSIGN_OR_RETURN(auto datasets, plan::load_datasets(loaded.config));
  ASSIGN_OR_RETURN(const auto folder, choose_folder(loaded.config.report_dir));
  const loadgen::RateWish wish{.first = asked.requested.server_target_qps,
                               .percentile = asked.requested.server_target_latency_percentile};
  if (!options.quiet) {
    say_notes(talk, {&loaded.notes, &wanted->notes});
    talk.say(cost_text(asked, wish));
  }
  RateProber prober(options, std::move(loaded.config), std::move(datasets), asked, folder,
                    std::move(command));
  const auto measure = [&prober](const auto& next, std::uint64_t index) {
    return prober.measure(next, index);
  };
  auto found = find_rate(wish, measure, [&options, &talk](const std::string& line) {
    if (!options.quiet) talk.say(line);
  });
  if (!found && prober.interrupted()) {
    talk.say(found.error().message);
    return exit_code(ExitCode::interrupted);
  }
  if (!found) return found.error();
  Ending ending;
  const bool stopped = (*found)["stopped"].is_string();
  if (stopped) ending.add(ExitCode::exhausted, std::string((*found)["stopped"].as_string()));
  if (!prober.answered() && !prober.failed().empty()) {
    ending.add(ExitCode::too_many_failed, prober.failed());
  }
  if (!stopped && (*found)["edge"].is_null()) {
    ending.add(ExitCode::findings, "no rate that was asked keeps the limits");
  }
  talk.print(options.json ? found->set("exit", ending.json()).dump(2) + "\n" : rate_text(*found));
  say_exhausted(ending, talk);
  return ending.code();
}

}  // namespace assay::campaign
