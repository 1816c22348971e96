#include "plan/resolve.h"
#include "plan/class_arrivals.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/format.h"
#include "base/text.h"
#include "dataset/program_rows.h"
#include "domain/scorers.h"
#include "plan/rulesets.h"
#include "plan/words.h"

namespace assay::plan {
namespace {

constexpr Duration kDefaultFloor{600'000'000'000};  // the reference client's min_duration_ms
constexpr std::uint64_t kDefaultQueries = 100;      // for a run that has no length given
constexpr double kSyntheticMax = 1e6;               // their order is drawn before the run
constexpr double kSyntheticUnknown = 10'000;        // prompts, where the number of queries is open

bool says_length(const Runtime& runtime) {
  return runtime.n_samples_to_issue || runtime.passes || runtime.duration || runtime.min_duration;
}

// Applies the length of a command that has its own, if the config gives none.
void resolve_unsaid_time(Config& config, const Surroundings& around, Reading& reading) {
  const LoadPattern& load = config.settings.load_pattern;
  const bool own_length = load.type == Pattern::ramp || load.type == Pattern::agentic_inference;
  const bool at_once = load.type == Pattern::max_throughput && !load.max_in_flight;
  if (around.time_unsaid == Duration{} || own_length || at_once) return;
  if (says_length(config.settings.runtime)) return;
  config.settings.runtime.duration = around.time_unsaid;
  reading.note(format("no length was named: {:g} s (--duration or --samples choose another)",
                      around.time_unsaid.seconds()));
}

// Gives safe defaults to what flags alone leave open; a note names each one.
void resolve_flags_alone(Config& config, const Surroundings& around, Reading& reading) {
  LoadPattern& load = config.settings.load_pattern;
  const bool by_class = classes_with_loads(config) != nullptr && !load.target_concurrency;
  if (!reading.given("settings.load_pattern.type") && !by_class) {
    load.type = Pattern::concurrency;
    if (!load.target_concurrency) {
      load.target_concurrency = 1;
      reading.note(
          "no load was named: one query at a time (--concurrency, --rate or --load-pattern "
          "choose another)");
    }
  }
  resolve_unsaid_time(config, around, reading);
  if (config.datasets.empty()) {
    DatasetConfig synthetic;
    synthetic.synthetic.emplace();
    config.datasets.push_back(std::move(synthetic));
    if (!says_length(config.settings.runtime) && load.type != Pattern::ramp) {
      config.settings.runtime.n_samples_to_issue = kDefaultQueries;
      reading.note(
          format("no dataset and no length were named: {} synthetic prompts (--dataset FILE; of a "
                 "run --samples or --duration)",
                 kDefaultQueries));
    }
  }
}

void resolve_type(Config& config, const Reading& reading) {
  if (!reading.given("type")) {
    const bool offline = config.settings.load_pattern.type == Pattern::max_throughput &&
                         classes_with_loads(config) == nullptr;
    config.type = offline ? RunType::offline : RunType::online;
  }
  if (config.name.empty()) config.name = format("{}_benchmark", word(config.type));
}

void resolve_model(Config& config) {
  ModelParams& model = config.model_params;
  if (model.name.empty() && config.submission_ref) model.name = config.submission_ref->model;
  if (model.streaming == Switch::automatic) {
    const bool whole =
        effective_mode(config) == BenchmarkMode::offline || !streams(config.endpoint_config);
    model.streaming = whole ? Switch::off : Switch::on;
  }
}

void resolve_runtime(Config& config, const Surroundings& around, Reading& reading) {
  Runtime& runtime = config.settings.runtime;
  const Pattern pattern = config.settings.load_pattern.type;
  const bool own_length = pattern == Pattern::ramp || pattern == Pattern::agentic_inference;
  if (says_length(runtime) || own_length) return;
  if (around.from_file && !config.settings.timeouts && wants(config, DatasetType::performance)) {
    runtime.min_duration = kDefaultFloor;
    if (runtime.max_duration < kDefaultFloor) runtime.min_duration = runtime.max_duration;
    reading.note(
        "settings.runtime says nothing of the run's length: min_duration_ms is 600000, as in the "
        "reference client");
  } else {
    runtime.min_duration = Duration{};
  }
}

void resolve_seeds(Config& config, Reading& reading) {
  if (!config.submission_ref) return;
  const auto ruleset = find_ruleset(config.submission_ref->ruleset);
  if (!ruleset) {
    const std::vector<std::string_view> names = ruleset_names();
    const std::string_view near = nearest(config.submission_ref->ruleset, names);
    const std::string what = format("unknown ruleset \"{}\"", config.submission_ref->ruleset);
    const std::string hint = format(
        "{}one of: {}", near.empty() ? "" : format("did you mean \"{}\"?   ", near), one_of(names));
    if (config.type == RunType::submission) {
      reading.wrong_setting("submission_ref.ruleset", what, hint);
    } else {
      reading.note(format("submission_ref.ruleset: {}, so no seed is pinned; {}", what, hint));
    }
    return;
  }
  Runtime& runtime = config.settings.runtime;
  runtime.scheduler_random_seed = ruleset->scheduler_seed;
  runtime.dataloader_random_seed = ruleset->sample_index_seed;
  config.settings.warmup.warmup_random_seed = ruleset->sample_index_seed;
  reading.note(
      format("ruleset {} pins the seeds of arrivals, sample order and warm-up", ruleset->name));
}

// Returns enough prompts to ask none twice, up to a million.
std::uint32_t synthetic_count(const Config& config) {
  const Runtime& runtime = config.settings.runtime;
  const LoadPattern& load = config.settings.load_pattern;
  double wanted = kSyntheticUnknown;
  if (runtime.n_samples_to_issue) {
    wanted = static_cast<double>(*runtime.n_samples_to_issue);
  } else if (runtime.passes || runtime.min_duration == Duration{}) {
    wanted = 1000;
  } else if (load.target_qps && is_open_loop(load)) {
    const Duration length = runtime.duration.value_or(runtime.min_duration.value_or(Duration{}));
    wanted = 1.1 * *load.target_qps * length.seconds();
  }
  return static_cast<std::uint32_t>(std::max(1.0, std::ceil(std::min(wanted, kSyntheticMax))));
}

void resolve_datasets(Config& config) {
  for (DatasetConfig& data : config.datasets) {
    if (data.synthetic) {
      SyntheticConfig& synthetic = *data.synthetic;
      if (data.name.empty()) data.name = "synthetic";
      if (!synthetic.isl) synthetic.isl = dataset::LengthSpec::fixed(256);
      if (!synthetic.count) synthetic.count = synthetic_count(config);
      if (synthetic.token_ids == Switch::automatic) {
        const bool ids = row_of(config.endpoint_config.api_type).takes_token_ids;
        synthetic.token_ids = ids ? Switch::on : Switch::off;
      }
    }
    if (data.name.empty() && dataset::is_row_program(data.path)) data.name = "program";
    if (data.name.empty()) data.name = std::filesystem::path(data.path).stem().string();
    // The scoring service runs as many conversations at once as the run had in flight.
    if (data.accuracy_config && data.accuracy_config->eval_method == "swe_bench_scorer" &&
        config.settings.load_pattern.target_concurrency &&
        data.accuracy_config->extras["workers"].is_null()) {
      data.accuracy_config->extras.set("workers", *config.settings.load_pattern.target_concurrency);
    }
  }
}

void resolve_key(EndpointConfig& endpoint, const Surroundings& around, Reading& reading) {
  if (endpoint.api_key == "<redacted>") {
    endpoint.api_key.clear();
    if (endpoint.api_key_env.empty()) {
      reading.wrong_setting("endpoint_config.api_key",
                            "this is a saved config, whose key was redacted",
                            "give the key's variable with --api-key-env NAME, or delete the line");
    }
  }
  if (endpoint.api_key_env.empty()) return;
  const auto key = around.environment(endpoint.api_key_env);
  if (!key || key->empty()) {
    reading.wrong_setting("endpoint_config.api_key_env",
                          format("the environment variable {} is not set", endpoint.api_key_env),
                          format("export {}=…", endpoint.api_key_env));
    return;
  }
  endpoint.api_key = *key;
}

}  // namespace

std::optional<BenchmarkMode> effective_mode(const Config& config) {
  switch (config.type) {
    case RunType::offline:
      return BenchmarkMode::offline;
    case RunType::online:
      return BenchmarkMode::online;
    case RunType::submission:
      return config.benchmark_mode;
    case RunType::eval:
      return std::nullopt;
  }
  return std::nullopt;
}

bool wants(const Config& config, DatasetType type) {
  const Mode skipped = type == DatasetType::performance ? Mode::acc : Mode::perf;
  if (config.mode == skipped) return false;
  return std::any_of(config.datasets.begin(), config.datasets.end(),
                     [&](const DatasetConfig& data) { return data.type == type; });
}

bool wants(const Config& config, const DatasetConfig& data) {
  const bool apart = data.type == DatasetType::accuracy && data.accuracy_config &&
                     asks_itself(data.accuracy_config->eval_method);
  const bool by_default = !config.mode && config.type != RunType::submission;
  if (apart && by_default && performance_dataset(config) != nullptr) return false;
  return wants(config, data.type);
}

const DatasetConfig* performance_dataset(const Config& config) {
  for (const DatasetConfig& data : config.datasets) {
    if (data.type == DatasetType::performance) return &data;
  }
  return nullptr;
}

bool is_open_loop(const LoadPattern& load) {
  switch (load.type) {
    case Pattern::max_throughput:
    case Pattern::poisson:
    case Pattern::constant:
    case Pattern::gamma:
    case Pattern::trace:
      return true;
    case Pattern::ramp:
      return load.ramp && load.ramp->of == RampOf::rate;
    default:
      return false;
  }
}

void resolve(Config& config, const Surroundings& around, Reading& reading) {
  around.from_file ? resolve_unsaid_time(config, around, reading)
                   : resolve_flags_alone(config, around, reading);
  resolve_type(config, reading);
  resolve_model(config);
  resolve_runtime(config, around, reading);
  resolve_datasets(config);
  resolve_seeds(config, reading);
  resolve_key(config.endpoint_config, around, reading);
  Switch& keep = config.settings.recording.keep_text;
  if (keep == Switch::automatic) keep = wants_text(config) ? Switch::on : Switch::off;
}

bool wants_text(const Config& config) {
  const bool scored =
      std::any_of(config.datasets.begin(), config.datasets.end(),
                  [](const DatasetConfig& data) { return data.accuracy_config.has_value(); });
  return scored || !config.model_params.tokenizer_name.empty();
}

}  // namespace assay::plan
