#include "campaign/scenario/scenario_run.h"

#include <algorithm>
#include <array>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "loadgen/builtin_conf.h"
#include "loadgen/conf_file.h"
#include "loadgen/measured_fold.h"
#include "loadgen/phase.h"
#include "plan/saved_config.h"

namespace assay::campaign {
namespace {

using loadgen::Scenario;

constexpr std::size_t kConfBytesMax = std::size_t{1} << 20;
constexpr std::string_view kSuite = "inference-";
constexpr std::array<std::pair<std::string_view, Scenario>, 5> kWords{{
    {"single_stream", Scenario::SingleStream},
    {"multi_stream", Scenario::MultiStream},
    {"server", Scenario::Server},
    {"interactive", Scenario::Server},
    {"offline", Scenario::Offline},
}};

// "inference-v6.1-edge" and "v6.1" → "v6.1"; "" → the newest.
Result<std::string> release_of(std::string_view edition) {
  if (edition.empty()) return std::string(loadgen::kNewestConf);
  std::string_view wanted = edition;
  if (wanted.starts_with(kSuite)) wanted.remove_prefix(kSuite.size());
  wanted = wanted.substr(0, wanted.find('-'));
  const auto known = loadgen::conf_editions();
  if (std::ranges::find(known, wanted) != known.end()) return std::string(wanted);
  std::string list;
  for (const std::string_view one : known) list += format(" {}", one);
  return invalid(format("--edition: \"{}\" names no release of LoadGen's settings; there are{}",
                        edition, list));
}

// The model's name in configuration files.
Result<std::string> scenario_model(const ScenarioWish& wish, std::string_view release,
                                   std::vector<std::string>& notes) {
  const bool interactive = wish.scenario == "interactive";
  if (wish.workload == nullptr) {
    if (interactive)
      return invalid("--scenario interactive: needs --workload NAME, whose limits count");
    return std::string("*");
  }
  const std::string base(wish.workload->data["model"]["loadgen"].as_string());
  ASSIGN_OR_RETURN(const auto known, loadgen::conf_models(release));
  const auto has = [&known](const std::string& name) {
    return !name.empty() && std::ranges::find(known, name) != known.end();
  };
  if (interactive && has(base + "-interactive")) return base + "-interactive";
  const Json& limits = wish.workload->data["scenarios"][wish.scenario]["limits"];
  if (interactive && limits.size() == 0) {
    return invalid(
        format("workload {}: neither it nor LoadGen's settings of {} have limits for "
               "interactive",
               wish.workload->name, release));
  }
  if (interactive || !has(base)) {
    notes.push_back(
        format("workload {}: LoadGen's settings of {} have no lines for {}; {} and the "
               "workload's own limits count",
               wish.workload->name, release, wish.scenario,
               has(base) ? "those of " + base : "those for any model"));
  }
  return has(base) ? base : std::string("*");
}

Result<std::string> apply_file(const std::string& path, std::string_view model, Scenario scenario,
                               loadgen::TestSettings& settings, std::vector<std::string>& notes) {
  if (path.empty()) return std::string();
  ASSIGN_OR_RETURN(std::string text, read_file(path, kConfBytesMax));
  const auto conf = loadgen::ConfFile::parse(text);
  if (!conf) return conf.error().within(path);
  for (const std::string& key : conf->unused_keys()) {
    notes.push_back(format("{}: \"{}\" is not a setting of LoadGen, and is ignored", path, key));
  }
  if (const auto applied = conf->apply(model, scenario, loadgen::ConfKind::user, settings);
      !applied) {
    return applied.error().within(path);
  }
  return text;
}

// A workload's edition may have other limits than the release: the rules' in place of the
// checker's, or those of a workload of the user's own.
void apply_limits(const Json& limits, loadgen::TestSettings& settings) {
  const auto ns = [&limits](std::string_view key, std::uint64_t& out) {
    if (limits[key].is_number()) out = static_cast<std::uint64_t>(limits[key].as_double() * 1e6);
  };
  ns("latency_ms_p99", settings.server_target_latency_ns);
  if (limits["ttft_ms_p99"].is_null() && limits["tpot_ms_p99"].is_null()) return;
  settings.use_token_latencies = true;
  ns("ttft_ms_p99", settings.server_ttft_latency);
  ns("tpot_ms_p99", settings.server_tpot_latency);
}

PhasePlan* performance_phase(plan::PlanBundle& bundle, std::uint16_t& index) {
  for (std::size_t i = 0; i < bundle.plan.phases.size(); ++i) {
    if (bundle.plan.phases[i].kind != PhaseKind::performance) continue;
    index = static_cast<std::uint16_t>(i);
    return &bundle.plan.phases[i];
  }
  return nullptr;
}

Result<void> check_streaming(const loadgen::Test& test, const Generation& generation) {
  const bool needed =
      test.requested.use_token_latencies && test.requested.scenario != Scenario::Offline;
  if (needed && !generation.stream) {
    return invalid(
        "--streaming off: the test measures times to the first token, which need a stream");
  }
  return {};
}

// The system, and what the accuracy phases ask.
void name_parts(const plan::Config& config, const plan::PlanBundle& bundle, loadgen::Test& test) {
  test.sut_name = config.endpoint_config.endpoints.empty()
                      ? config.model_params.name
                      : format("{} at {}", config.model_params.name,
                               plan::redact_url(config.endpoint_config.endpoints.front()));
  for (std::size_t i = 0; i < bundle.plan.phases.size(); ++i) {
    const PhasePlan& phase = bundle.plan.phases[i];
    if (phase.kind != PhaseKind::accuracy) continue;
    test.accuracy.push_back(
        {.phase = static_cast<std::uint16_t>(i), .samples = phase.stop.queries_max});
  }
}

std::string note_of(const loadgen::Test& test, const loadgen::EffectiveSettings& settings,
                    const loadgen::PhaseCounts& counts) {
  const std::string seconds =
      three_digits(static_cast<double>(settings.min_duration_ms) / 1000.0) + " s";
  switch (settings.scenario) {
    case Scenario::SingleStream:
    case Scenario::MultiStream:
      return format("LoadGen {}: {} at a time, at least {} queries and {}, at most {} queries",
                    test.name, counted(counts.group, "sample"),
                    count_text(settings.min_query_count), seconds, count_text(counts.queries));
    case Scenario::Server:
      return format("LoadGen {}: {} queries in LoadGen's schedule at {} a second, for {} or longer",
                    test.name, count_text(counts.queries), three_digits(settings.target_qps),
                    seconds);
    case Scenario::Offline:
      break;
  }
  return format("LoadGen {}: one query of {} samples, at most {} in flight (--max-in-flight)",
                test.name, count_text(counts.samples), count_text(test.in_flight_max));
}

}  // namespace

bool is_scenario(std::string_view name) {
  return std::ranges::any_of(kWords, [name](const auto& word) { return word.first == name; });
}

std::vector<std::string_view> scenario_words() {
  std::vector<std::string_view> out;
  for (const auto& [word, scenario] : kWords) out.push_back(word);
  return out;
}

Result<ScenarioTest> read_scenario(const ScenarioWish& wish) {
  const auto* const word = std::ranges::find_if(
      kWords, [&wish](const auto& known) { return known.first == wish.scenario; });
  if (word == kWords.end()) {
    std::string list;
    for (const std::string_view one : scenario_words()) list += format(" {}", one);
    return invalid(
        format("--scenario: \"{}\" is none of LoadGen's; there are{}", wish.scenario, list));
  }
  ScenarioTest out;
  loadgen::Test& test = out.test;
  test.name = wish.scenario;
  const bool suite = wish.workload == nullptr || wish.workload->edition.starts_with(kSuite);
  ASSIGN_OR_RETURN(test.edition,
                   release_of(wish.workload == nullptr ? std::string_view(wish.edition)
                              : suite                  ? std::string_view(wish.workload->edition)
                                                       : std::string_view()));
  ASSIGN_OR_RETURN(test.model, scenario_model(wish, test.edition, out.notes));
  loadgen::TestSettings& settings = test.requested;
  settings.scenario = word->second;
  ASSIGN_OR_RETURN(const auto built_in, loadgen::builtin_conf(test.edition));
  TRY(built_in.apply(test.model, settings.scenario, loadgen::ConfKind::built_in, settings));
  if (wish.workload != nullptr) {
    out.checker_names = wish.workload->data["model"]["checker_name"].as_string();
  }
  if (wish.workload != nullptr && settings.scenario == Scenario::Server) {
    apply_limits(wish.workload->data["scenarios"][wish.scenario]["limits"], settings);
  }
  ASSIGN_OR_RETURN(test.user_conf,
                   apply_file(wish.user_conf, test.model, settings.scenario, settings, out.notes));
  if (wish.target_qps) settings.server_target_qps = *wish.target_qps;
  // An audit's file is read for any model, as LoadGen reads it.
  ASSIGN_OR_RETURN(test.audit_conf,
                   apply_file(wish.audit_conf, "*", settings.scenario, settings, out.notes));
  if (settings.mode == loadgen::Mode::FindPeakPerformance) {
    return invalid("mode = 3: the highest rate is found by --find qps");
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> scenario_flags(const loadgen::Test& test) {
  const loadgen::TestSettings& asked = test.requested;
  std::vector<std::pair<std::string, std::string>> out;
  switch (asked.scenario) {
    case Scenario::SingleStream:
      out.emplace_back("--concurrency", "1");
      break;
    case Scenario::MultiStream:
      out.emplace_back("--concurrency", format("{}", std::max<std::uint64_t>(
                                                         asked.multi_stream_samples_per_query, 1)));
      break;
    case Scenario::Server:
      out.emplace_back("--rate", format("{}", asked.server_target_qps));
      break;
    case Scenario::Offline:
      out.emplace_back("--load-pattern", "max_throughput");
      break;
  }
  // The plan's own count replaces it; synthetic prompts are as many.
  out.emplace_back("--samples", "1000");
  const bool accuracy = asked.mode == loadgen::Mode::AccuracyOnly;
  const bool both = asked.mode == loadgen::Mode::SubmissionRun;
  out.emplace_back("--mode", accuracy ? "acc" : both ? "both" : "perf");
  return out;
}

const std::vector<std::string_view>& load_flags() {
  static const std::vector<std::string_view> kNames{
      "--load-pattern", "--rate",   "--concurrency", "--burstiness",  "--ramp",
      "--samples",      "--passes", "--duration",    "--min-duration"};
  return kNames;
}

Json PlannedScenario::facts() const {
  return Json::object().set(loadgen::kTestFact, test.to_json());
}

Result<PlannedScenario> accuracy_scenario(loadgen::Test test, const plan::Config& config,
                                          const plan::PlanBundle& bundle) {
  name_parts(config, bundle, test);
  for (const loadgen::AccuracyRows& one : test.accuracy) {
    test.library.total += one.samples;
  }
  test.library.performance = test.library.total;
  if (const auto settings = loadgen::effective(test.requested, test.library); !settings) {
    return settings.error();
  }
  PlannedScenario out;
  out.test = std::move(test);
  return out;
}

Result<PlannedScenario> plan_scenario(loadgen::Test test, std::uint64_t threads,
                                      plan::Config& config, plan::PlanBundle& bundle) {
  PlannedScenario out;
  std::uint16_t index = 0;
  PhasePlan* const phase = performance_phase(bundle, index);
  if (phase == nullptr) {
    return invalid("--scenario: a test of LoadGen's needs the performance dataset (--mode perf)");
  }
  const PlannedDataset& planned = bundle.datasets[phase->dataset];
  TRY(check_streaming(test, planned.generation));
  test.library = {.total = planned.dataset.rows(), .performance = planned.dataset.rows()};
  test.library_name = planned.dataset.name;
  name_parts(config, bundle, test);
  plan::LoadPattern& load = config.settings.load_pattern;
  const bool offline = test.requested.scenario == Scenario::Offline;
  if (offline) test.in_flight_max = load.max_in_flight.value_or(kOfflineInFlight);
  ASSIGN_OR_RETURN(const auto settings, loadgen::effective(test.requested, test.library));
  ASSIGN_OR_RETURN(const auto counts, loadgen::set_phase(settings, test.in_flight_max,
                                                         planned.dataset.groups, *phase));
  test.generated = counts.queries;
  if (counts.group > 0 && threads > 1) {
    return invalid(format("--threads: {} asks from one thread", test.name));
  }
  if (!offline && load.max_in_flight) {
    return invalid(format(
        "--max-in-flight: works only with offline; {} sets itself what is in flight", test.name));
  }
  if (offline) load.max_in_flight = test.in_flight_max;
  // A test that logs answers needs their texts.
  const loadgen::TestSettings& asked = test.requested;
  if (asked.accuracy_log_sampling_target > 0 || asked.accuracy_log_probability > 0) {
    bundle.keep_text = true;
    config.settings.recording.keep_text = plan::Switch::on;
  }
  config.settings.runtime.n_samples_to_issue = phase->stop.queries_min;
  out.notes.push_back(note_of(test, settings, counts));
  if (!planned.dataset.groups.empty()) {
    out.notes.push_back(format("{}: {} groups of rows; each waits until the one before is answered",
                               planned.dataset.name, planned.dataset.groups.size()));
  }
  out.in_turn = {.phase = index, .group = counts.group};
  out.test = std::move(test);
  return out;
}

}  // namespace assay::campaign
