#include "simulate/suite_course.h"

#include <algorithm>
#include <array>

#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "plan/workload.h"
#include "report/suite_simulated.h"
#include "sim/stages.h"
#include "simulate/layout_choice.h"

namespace assay::simulate {
namespace {

constexpr std::array<std::string_view, 4> kScenarios{"offline", "server", "interactive",
                                                     "single_stream"};

// What is asked, of whom.
struct Asked {
  report::SuiteAsked words{};
  Json limits{};
  sim::Scenario scenario{};
  sim::ModelSpec model{};
};

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

// The newest software generation of an Inference round that is not newer than the edition's; "" if
// there is none, and for editions of other suites.
std::string software_of(const sim::Catalogue& catalogue, std::string_view edition) {
  constexpr std::string_view kSuite = "inference-";
  if (!edition.starts_with(kSuite)) return {};
  const std::string_view round = edition.substr(kSuite.size());
  std::string out;
  for (const sim::SoftwareSpec& software : catalogue.all_software()) {
    if (software.name <= round && software.name > out) out = software.name;
  }
  return out;
}

// A fixed length is a number there.
std::string length_text(const Json& length) {
  return length.is_string() ? std::string(length.as_string()) : length.dump();
}

// Each token is drawn from the whole vocabulary.
bool is_sampled(const Json& params) {
  return params["temperature"].as_double(0) > 0 && params["top_k"].as_int(0) == 0;
}

Result<Asked> read_asked(const SuiteAsked& suite, SystemWords& system,
                         const sim::Catalogue& catalogue) {
  const auto workloads = plan::Workloads::builtin();
  ASSIGN_OR_RETURN(const plan::Workload workload, workloads.find(suite.workload, suite.edition));
  const std::string scenario = system.file.empty() ? "offline" : system.file;
  system.file.clear();
  std::vector<std::string> known;
  for (const std::string& name : workload.scenarios()) {
    if (std::ranges::find(kScenarios, name) != kScenarios.end()) known.push_back(name);
  }
  if (std::ranges::find(known, scenario) == known.end()) {
    return invalid(format("--scenario: {} in {} has {}, not '{}'", workload.name, workload.edition,
                          known.empty() ? "none that is simulated" : listed(known), scenario));
  }
  const Json& lengths = workload.data["lengths"];
  Asked out;
  out.words = {.workload = workload.name, .edition = workload.edition, .scenario = scenario};
  if (system.scenario.model.empty()) system.scenario.model = workload.name;
  if (const auto model = catalogue.model(system.scenario.model)) {
    out.model = *model;
  } else {
    return invalid(
        format("--workload: the serving model has no {}; --model names another, or a "
               "config.json",
               workload.name));
  }
  if (!out.model.is_stages()) {
    if (!lengths.is_object() && (system.isl.empty() || system.osl.empty())) {
      return invalid(
          format("--workload: how long the prompts and replies of {} are is not known; "
                 "--isl and --osl say it",
                 workload.name));
    }
    out.words.basis = system.isl.empty() && system.osl.empty() ? lengths["basis"].as_string() : "";
    if (system.isl.empty()) system.isl = length_text(lengths["input"]);
    if (system.osl.empty()) system.osl = length_text(lengths["output"]);
    out.words.lengths = system.lengths_text(catalogue);
  }
  out.limits = workload.data["scenarios"][scenario]["limits"];
  ASSIGN_OR_RETURN(out.scenario, system.resolve());
  // The stacks of the edition's own round, or of the newest one before it.
  if (out.scenario.software.empty())
    out.scenario.software = software_of(catalogue, workload.edition);
  out.words.software = out.scenario.software;
  if (out.words.software.empty() || out.model.is_stages()) return out;
  ASSIGN_OR_RETURN(const auto software, catalogue.software(out.words.software));
  out.scenario.sampled =
      software.sampled_entry_s > 0 && is_sampled(workload.data["config"]["model_params"]);
  if (out.scenario.sampled) out.words.drawn_from = out.model.vocabulary;
  return out;
}

// "ttft_ms_p99: 2000" as `--plan` has it.
Result<sim::Slo> limits_of(Asked& asked) {
  std::string text;
  for (const auto& [name, value] : asked.limits.members()) {
    const std::size_t ms = name.find("_ms_");
    if (ms == std::string::npos) continue;
    text += format("{}{}_{}={}ms", text.empty() ? "" : ",", name.substr(0, ms), name.substr(ms + 4),
                   value.as_double());
  }
  if (text.empty()) return sim::Slo{};
  asked.words.limits = text;
  return sim::parse_slo(text);
}

// The highest rate of a queue of stages whose figures keep the limits.
sim::SimPoint stages_within(const Asked& asked, const sim::HardwareSpec& hardware, unsigned gpus,
                            const sim::Slo& slo) {
  constexpr std::uint64_t kQueries = 40'000;
  constexpr int kHalvings = 12;
  sim::SimPoint best;
  double low = 0;
  double high = sim::stage_capacity(asked.model, hardware, gpus);
  for (int i = 0; i < kHalvings; ++i) {
    const double rate = (low + high) / 2;
    const sim::SimPoint point =
        sim::simulate_stages(asked.model, hardware, gpus, rate, kQueries, asked.scenario.seed);
    const bool good = slo.met(point) && point.qps >= sim::kKeepsUp * rate;
    (good ? low : high) = rate;
    if (good) best = point;
  }
  return best;
}

Result<report::LayoutsTried> run_stages(const Asked& asked, const sim::Catalogue& catalogue,
                                        const sim::Slo& slo) {
  constexpr std::uint32_t kOfflineBatches = 64;  // under way on each accelerator
  ASSIGN_OR_RETURN(const auto hardware, catalogue.hardware(asked.scenario.hardware));
  const unsigned gpus = std::max(1U, asked.scenario.gpus);
  const std::uint64_t seed = asked.scenario.seed;
  sim::SimPoint point;
  if (asked.words.scenario == "offline") {
    point = sim::simulate_stages_closed(asked.model, hardware, gpus,
                                        kOfflineBatches * asked.model.batch * gpus, seed);
  } else if (asked.words.scenario == "single_stream") {
    point = sim::simulate_stages_closed(asked.model, hardware, gpus, 1, seed);
  } else {
    point = stages_within(asked, hardware, gpus, slo);
  }
  return report::LayoutsTried{.fit = 1,
                              .best = {{format("{} x {}", gpus, hardware.name), std::move(point)}}};
}

// The suite allows drafts in Interactive only.
std::vector<sim::Scenario> with_drafts(const Asked& asked) {
  std::vector<sim::Scenario> out;
  if (asked.scenario.mtp) return {asked.scenario};
  const bool tried = asked.words.scenario == "interactive" && asked.model.mtp_layers > 0;
  for (const std::uint32_t drafts : {0U, 3U}) {
    if (drafts > 0 && !tried) continue;
    out.push_back(asked.scenario);
    out.back().mtp = drafts;
  }
  return out;
}

// Whether stacks of that generation serve the model with prefill apart.
Result<bool> serves_apart(const sim::Catalogue& catalogue, const std::string& software,
                          const sim::ModelSpec& model) {
  if (software.empty()) return true;
  ASSIGN_OR_RETURN(const sim::SoftwareSpec spec, catalogue.software(software));
  return spec.serves_apart(model.architecture);
}

// `apart`: layouts whose prefill is apart are tried too.
Result<report::LayoutsTried> run_tokens(const Asked& asked, bool apart, const SystemWords& system,
                                        const sim::Catalogue& catalogue, const sim::Slo& slo) {
  ASSIGN_OR_RETURN(const sim::Workload load, system.workload(catalogue));
  sim::SimulateOptions options{.queries_per_slot = 6};
  options.seed = asked.scenario.seed;
  report::LayoutsTried out;
  for (const sim::Scenario& scenario : with_drafts(asked)) {
    const sim::LayoutSearch found =
        asked.words.scenario == "offline"
            ? sim::best_offline(catalogue, scenario, load, apart, options)
        : asked.words.scenario == "single_stream"
            ? sim::best_at(catalogue, scenario, load, 1, options)
            : sim::best_within(catalogue, scenario, load, slo, apart, options);
    // The reason why the simplest layout does not fit.
    if (found.best.empty()) TRY(sim::make_cluster_spec(catalogue, scenario));
    const report::LayoutsTried tried = tried_of(catalogue, found);
    out.fit += tried.fit;
    out.best.insert(out.best.end(), tried.best.begin(), tried.best.end());
  }
  std::ranges::stable_sort(out.best, [](const auto& a, const auto& b) {
    return a.point.system_tps > b.point.system_tps;
  });
  return out;
}

// One lever after the other is taken from the older generation to the newer one; what each is worth
// depends on those before it, so their order is printed with them.
Result<int> explain(const SuiteAsked& suite, const SystemWords& system,
                    const sim::Catalogue& catalogue, Asked& asked, const sim::Slo& slo,
                    const Talk& talk) {
  if (asked.model.is_stages()) return invalid("--explain: of models that make tokens");
  const std::size_t dots = suite.explain.find("..");
  if (dots == std::string::npos) return invalid("--explain: expected A..B, as v5.1..v6.0");
  ASSIGN_OR_RETURN(const auto older, catalogue.software(suite.explain.substr(0, dots)));
  ASSIGN_OR_RETURN(const auto newer, catalogue.software(suite.explain.substr(dots + 2)));
  const bool apart_before = older.serves_apart(asked.model.architecture);
  const bool apart_after = newer.serves_apart(asked.model.architecture);
  sim::Catalogue all = catalogue;
  std::vector<report::LeverStep> steps;
  const auto take = [&](std::string lever, const std::string& software,
                        bool apart) -> Result<void> {
    asked.scenario.software = software;
    ASSIGN_OR_RETURN(const auto generation, all.software(software));
    asked.scenario.sampled = asked.words.drawn_from > 0 && generation.sampled_entry_s > 0;
    ASSIGN_OR_RETURN(const auto tried, run_tokens(asked, apart, system, all, slo));
    steps.push_back({std::move(lever), tried.best.empty() ? report::TriedLayout{} : tried.best[0]});
    return {};
  };
  TRY(take(older.name, older.name, apart_before));
  if (older.dp_wait_steps != newer.dp_wait_steps) {
    sim::SoftwareSpec between = newer;
    between.name = format("{} with the wait of {}", newer.name, older.name);
    between.dp_wait_steps = older.dp_wait_steps;
    const std::string name = between.name;
    all.add_software(std::move(between));
    TRY(take("kernels, launches and overlap", name, apart_before));
    TRY(take("wait of attention DP", newer.name, apart_before));
  } else {
    TRY(take("kernels, launches and overlap", newer.name, apart_before));
  }
  if (apart_after != apart_before) {
    TRY(take(apart_after ? "prefill apart" : "prefill no longer apart", newer.name, apart_after));
  }
  asked.words.software = format("{}..{}", older.name, newer.name);
  if (suite.json) {
    talk.print(report::levers_json(asked.words, steps).dump(2) + "\n");
  } else {
    talk.print(report::levers_text(asked.words, steps));
  }
  return exit_code(ExitCode::done);
}

}  // namespace

Result<int> simulate_suite(const SuiteAsked& suite, SystemWords system, const Talk& talk) {
  ASSIGN_OR_RETURN(const sim::Catalogue catalogue, system.read_catalogue());
  ASSIGN_OR_RETURN(Asked asked, read_asked(suite, system, catalogue));
  ASSIGN_OR_RETURN(const sim::Slo slo, limits_of(asked));
  if (!suite.explain.empty()) return explain(suite, system, catalogue, asked, slo, talk);
  report::LayoutsTried tried;
  if (asked.model.is_stages()) {
    ASSIGN_OR_RETURN(tried, run_stages(asked, catalogue, slo));
  } else {
    ASSIGN_OR_RETURN(const bool apart,
                     serves_apart(catalogue, asked.scenario.software, asked.model));
    ASSIGN_OR_RETURN(tried, run_tokens(asked, apart, system, catalogue, slo));
  }
  asked.words.tokens = !asked.model.is_stages();
  if (suite.json) {
    talk.print(report::suite_json(asked.words, tried).dump(2) + "\n");
  } else {
    talk.print(report::suite_text(asked.words, tried));
  }
  const bool found = !tried.best.empty() && tried.best.front().point.queries > 0;
  return exit_code(found ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::simulate
