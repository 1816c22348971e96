// The rules that look at more than one setting (spec, section 3.3, and Assay's own).
#include <algorithm>
#include <limits>
#include <set>

#include "base/format.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "dataset/mix.h"
#include "domain/scorers.h"
#include "domain/traffic_class.h"
#include "plan/class_arrivals.h"
#include "plan/endpoint_url.h"
#include "plan/guard_rule.h"
#include "plan/memory_rule.h"
#include "plan/override.h"
#include "plan/power.h"
#include "plan/resolve.h"
#include "plan/words.h"

namespace assay::plan {
namespace {

std::string hint_of(std::string_view given, std::span<const std::string_view> words) {
  const std::string_view near = nearest(given, words);
  return format("{}one of: {}", near.empty() ? "" : format("did you mean \"{}\"?   ", near),
                one_of(words));
}

std::string dataset_path(std::size_t index) { return format("datasets[{}]", index); }

void check_model(const Config& config, Reading& reading) {
  if (config.model_params.name.empty()) {
    reading.wrong_setting(
        "model_params.name", "the model has no name",
        "--model NAME, as the server knows it (assay probe URL lists its models)");
  }
  if (config.type == RunType::submission && !config.benchmark_mode) {
    reading.wrong_setting("benchmark_mode", "a submission needs benchmark_mode",
                          "one of: offline, online");
  }
  if (config.submission_ref && config.submission_ref->ruleset.empty()) {
    reading.wrong_setting("submission_ref.ruleset", "is required", "");
  }
  const EndpointConfig& asked = config.endpoint_config;
  if (!streams(asked) && config.model_params.streaming == Switch::on) {
    reading.wrong_setting("model_params.streaming", format("{} does not stream", name_of(asked)),
                          "set it to off");
  }
}

void check_params(const ModelParams& params, const std::string& path, const Config& config,
                  bool agentic, Reading& reading) {
  const bool completions = config.endpoint_config.api_type == Api::openai_completions;
  const char* why =
      agentic ? "not with agentic_inference" : "only api_type: openai_completions has it";
  if (params.min_new_tokens != 1 && (!completions || agentic)) {
    reading.wrong_setting(path + ".min_new_tokens", why, "leave it at 1");
  }
  if (!params.skip_special_tokens && (!completions || agentic)) {
    reading.wrong_setting(path + ".skip_special_tokens", why, "leave it at true");
  }
  if (params.min_new_tokens > params.max_new_tokens) {
    reading.wrong_setting(
        path + ".min_new_tokens",
        format("{} is above max_new_tokens, {}", params.min_new_tokens, params.max_new_tokens));
  }
}

void check_accuracy(const DatasetConfig& data, const std::string& path, const Config& config,
                    Reading& reading) {
  const bool scored = data.type == DatasetType::accuracy;
  if (!data.accuracy_config || data.accuracy_config->eval_method.empty()) {
    if (scored) {
      reading.wrong_setting(path + ".accuracy_config.eval_method",
                            "an accuracy dataset needs a scorer",
                            "accuracy_config: {eval_method: pass_at_1, extractor: …}");
    }
    return;
  }
  const AccuracyConfig& accuracy = *data.accuracy_config;
  const ScorerFacts* const scorer = find_scorer(accuracy.eval_method);
  if (scorer == nullptr) {
    std::vector<std::string_view> names;
    for (const ScorerFacts& known : kScorers) names.push_back(known.name);
    reading.wrong_setting(path + ".accuracy_config.eval_method",
                          format("unknown scorer \"{}\"", accuracy.eval_method),
                          hint_of(accuracy.eval_method, names));
    return;
  }
  const std::string& extractor = accuracy.extractor;
  if (extractor.empty() && scorer->needs_extractor) {
    reading.wrong_setting(path + ".accuracy_config.extractor",
                          format("{} needs an extractor", scorer->name),
                          format("one of: {}", one_of(kExtractors)));
  }
  if (!extractor.empty() &&
      std::find(kExtractors.begin(), kExtractors.end(), extractor) == kExtractors.end()) {
    reading.wrong_setting(path + ".accuracy_config.extractor",
                          format("unknown extractor \"{}\"", extractor),
                          hint_of(extractor, kExtractors));
  }
  if (accuracy.num_repeats != 1 && (scorer->once || !scored)) {
    reading.wrong_setting(path + ".accuracy_config.num_repeats",
                          scored ? format("{} takes each row once", scorer->name)
                                 : "replies of the performance phase are scored once",
                          "leave it at 1");
  }
  if (asks_itself(scorer->name) && config.endpoint_config.endpoints.size() > 1) {
    reading.wrong_setting("endpoint_config.endpoints",
                          format("{} takes exactly one endpoint", scorer->name));
  }
}

void check_synthetic(const DatasetConfig& data, const std::string& path, Reading& reading) {
  if (data.synthetic && !data.path.empty()) {
    reading.wrong_setting(path + ".synthetic", "a dataset is a file or synthetic, not both",
                          "delete path, or synthetic");
  }
  if (data.synthetic && data.type == DatasetType::accuracy) {
    reading.wrong_setting(path + ".synthetic", "synthetic prompts have no right answers",
                          "type: performance");
  }
  if (!data.synthetic && data.path.empty() && data.name.empty()) {
    reading.wrong_setting(path, "this dataset has neither path, name nor synthetic");
  }
}

void check_prefixes(const DatasetConfig& data, const std::string& path, Reading& reading) {
  if (!data.synthetic || data.synthetic->shared_prefix.empty()) return;
  const auto levels = dataset::parse_prefixes(data.synthetic->shared_prefix);
  if (levels) return;
  reading.wrong_setting(path + ".synthetic.shared_prefix", levels.error().message);
}

void check_classes(const DatasetConfig& data, const std::string& path, Reading& reading) {
  if (!data.synthetic) return;
  std::set<std::string> names;
  for (const std::string& text : data.synthetic->classes) {
    const auto one = dataset::parse_class(text);
    if (!one) {
      reading.wrong_setting(path + ".synthetic.classes", one.error().message);
    } else if (!names.insert(one->name).second) {
      reading.wrong_setting(path + ".synthetic.classes",
                            format("two classes are called \"{}\"", one->name));
    }
  }
  if (names.size() > kClassesMax) {
    reading.wrong_setting(path + ".synthetic.classes", "more classes than a run may have",
                          format("at most {}", kClassesMax));
  }
}

// Classes with loads of their own are the load.
void check_class_loads(const Config& config, Reading& reading) {
  const auto* const classes = classes_with_loads(config);
  if (classes == nullptr) return;
  const std::string where = "datasets: synthetic.classes";
  for (const std::string& text : *classes) {
    const auto one = dataset::parse_class(text);
    if (!one) continue;
    if (!one->rate && !one->concurrency) {
      reading.wrong_setting(where, format("class {} has no load, and others have", one->name),
                            "rate=20 or concurrency=8 for each, or for none");
    }
    if (const auto law = check_law(one->law); !law) {
      reading.wrong_setting(where, format("class {}: {}", one->name, law.error().message));
    }
  }
  const LoadPattern& load = config.settings.load_pattern;
  if (load.type != Pattern::max_throughput || load.target_qps || load.target_concurrency) {
    reading.wrong_setting("settings.load_pattern", "the classes have loads of their own",
                          "leave out the load pattern, or the classes' rate and concurrency");
  }
  if (config.settings.runtime.min_duration) {
    reading.wrong_setting("settings.runtime.min_duration_ms",
                          "whole passes are not for classes with loads of their own",
                          "--duration or --samples");
  }
}

void check_datasets(const Config& config, Reading& reading) {
  std::set<std::pair<std::string, DatasetType>> seen;
  std::size_t performance = 0;
  for (std::size_t i = 0; i < config.datasets.size(); ++i) {
    const DatasetConfig& data = config.datasets[i];
    const std::string path = dataset_path(i);
    if (!seen.emplace(data.name, data.type).second) {
      reading.wrong_setting(
          path, format("another {} dataset is called \"{}\"", word(data.type), data.name),
          "give one of them another name");
    }
    if (data.type == DatasetType::performance) ++performance;
    check_synthetic(data, path, reading);
    check_classes(data, path, reading);
    check_prefixes(data, path, reading);
    check_accuracy(data, path, config, reading);
    if (data.agentic_inference && data.type == DatasetType::accuracy) {
      reading.wrong_setting(path + ".agentic_inference", "not for accuracy datasets");
    }
    const std::string override_path = path + ".generation_config_override";
    std::vector<Problem> problems;
    const ModelParams merged = merged_params(config.model_params, data.generation_config_override,
                                             override_path, problems);
    for (const Problem& problem : problems) {
      reading.wrong_setting(problem.path, problem.what, problem.hint);
    }
    if (!data.generation_config_override.is_null() && problems.empty()) {
      check_params(merged, override_path, config, data.agentic_inference.has_value(), reading);
    }
  }
  if (config.mode == Mode::acc) {
    if (!wants(config, DatasetType::accuracy)) {
      reading.wrong_setting("mode", "acc needs a dataset of type accuracy",
                            "add --dataset acc:FILE (mode = 1 of a user.conf asks for one too)");
    }
    return;
  }
  if (performance > 1) {
    reading.wrong_setting("datasets",
                          format("{} performance datasets; a run measures one", performance),
                          "mark the others as accuracy (acc:PATH), or run them one by one");
  }
  const bool only_accuracy = !config.datasets.empty() && !config.mode && performance == 0;
  if (performance == 0 && !only_accuracy) {
    reading.wrong_setting("datasets", "there is no performance dataset",
                          "--dataset FILE, or --isl and --osl for synthetic prompts");
  }
}

void check_pattern(const Config& config, Reading& reading) {
  check_class_loads(config, reading);
  const LoadPattern& load = config.settings.load_pattern;
  const auto mode = effective_mode(config);
  if (mode == BenchmarkMode::offline && load.type != Pattern::max_throughput) {
    reading.wrong_setting("settings.load_pattern.type",
                          format("an offline run is max_throughput, not {}", word(load.type)),
                          "type: online, or leave the pattern out");
  }
  const bool named_only = load.type == Pattern::burst || load.type == Pattern::step;
  const bool at_once =
      load.type == Pattern::max_throughput && classes_with_loads(config) == nullptr;
  if (mode == BenchmarkMode::online && (at_once || named_only)) {
    reading.wrong_setting("settings.load_pattern.type",
                          format("an online run cannot be {}", word(load.type)),
                          "one of: poisson, concurrency, agentic_inference, constant, gamma, ramp, "
                          "trace");
  }
  const bool rated = load.type == Pattern::poisson || load.type == Pattern::constant ||
                     load.type == Pattern::gamma;
  if (rated && !load.target_qps) {
    reading.wrong_setting("settings.load_pattern.target_qps",
                          format("{} needs a rate", word(load.type)),
                          "--rate R, in queries a second");
  }
  const bool closed = load.type == Pattern::concurrency || load.type == Pattern::agentic_inference;
  if (closed && !load.target_concurrency) {
    reading.wrong_setting("settings.load_pattern.target_concurrency",
                          format("{} needs a number in flight", word(load.type)),
                          "--concurrency N");
  }
  if (load.type == Pattern::ramp) {
    if (!load.ramp || load.ramp->to <= 0) {
      reading.wrong_setting("settings.load_pattern.ramp.to", "a ramp needs its last level",
                            "ramp: {of: concurrency, from: 1, to: 64, steps: 8, step_s: 30}");
    } else if (load.ramp->of == RampOf::concurrency &&
               (load.ramp->from < 1 || load.ramp->to < 1 || load.ramp->to > 4e9 ||
                load.ramp->from > 4e9)) {
      reading.wrong_setting("settings.load_pattern.ramp", "concurrency goes from 1 up",
                            "ramp: {of: concurrency, from: 1, to: 64}");
    }
  } else if (load.ramp) {
    reading.wrong_setting("settings.load_pattern.ramp",
                          format("has no effect with {}", word(load.type)),
                          "type: ramp, or delete the steps");
  }
}

void check_agentic(const Config& config, Reading& reading) {
  const DatasetConfig* data = performance_dataset(config);
  const bool pattern = config.settings.load_pattern.type == Pattern::agentic_inference;
  const bool block = data != nullptr && data->agentic_inference.has_value();
  if (pattern && !block) {
    reading.wrong_setting("settings.load_pattern.type",
                          "agentic_inference needs a performance dataset of conversations",
                          "give the dataset an agentic_inference block");
  }
  if (block && !pattern) {
    reading.wrong_setting("datasets", "a dataset of conversations needs its own load pattern",
                          "settings.load_pattern.type: agentic_inference");
  }
  if (pattern && config.settings.runtime.n_samples_to_issue) {
    reading.wrong_setting("settings.runtime.n_samples_to_issue",
                          "conversations are counted, not queries",
                          "agentic_inference.num_trajectories_to_issue");
  }
}

void check_runtime(const Config& config, Reading& reading) {
  const Runtime& runtime = config.settings.runtime;
  const LoadPattern& load = config.settings.load_pattern;
  if (runtime.min_duration && runtime.max_duration < *runtime.min_duration) {
    reading.wrong_setting("settings.runtime.max_duration_ms", "is below min_duration_ms",
                          "0 means no limit");
  }
  if (runtime.duration && runtime.max_duration < *runtime.duration) {
    reading.wrong_setting("settings.runtime.max_duration_ms", "is below duration_ms",
                          "0 means no limit");
  }
  if (runtime.passes && runtime.n_samples_to_issue) {
    reading.wrong_setting("settings.runtime.passes",
                          "passes and n_samples_to_issue both say how many queries", "keep one");
  }
  if (load.type == Pattern::max_throughput && runtime.duration && !runtime.n_samples_to_issue &&
      !runtime.passes && !load.max_in_flight && classes_with_loads(config) == nullptr) {
    reading.wrong_setting("settings.runtime.duration_ms",
                          "max_throughput sends everything at once and cannot last",
                          "--samples N, or --max-in-flight N to keep so many in flight");
  }
}

void check_endpoints(const Config& config, const Surroundings& around, Reading& reading) {
  const std::vector<std::string>& urls = config.endpoint_config.endpoints;
  if (urls.empty()) {
    reading.wrong_setting("endpoint_config.endpoints", "there is no endpoint to ask",
                          "--endpoint http://localhost:8000");
  }
  std::set<std::string> hosts;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    if (const std::string wrong = wrong_with_url(urls[i]); !wrong.empty()) {
      reading.wrong_setting(format("endpoint_config.endpoints[{}]", i), wrong);
    }
    hosts.insert(host_and_port(urls[i]));
  }
  const Client& client = config.settings.client;
  if (client.num_workers == 0) {
    reading.wrong_setting("settings.client.num_workers", "must be -1 or at least 1");
  } else if (client.num_workers > 0 && !urls.empty() &&
             static_cast<std::size_t>(client.num_workers) % urls.size() != 0) {
    reading.wrong_setting("settings.client.num_workers",
                          format("must be a multiple of the number of endpoints, {}", urls.size()));
  }
  if (const auto memory = memory_rule(client.memory_max); !memory) {
    reading.wrong_setting("settings.client.memory_max", memory.error().message);
  }
  const auto budget =
      static_cast<std::int64_t>(around.local_ports * std::max<std::size_t>(1, hosts.size()));
  if (client.max_connections == 0) {
    reading.wrong_setting("settings.client.max_connections", "must be -1 or at least 1");
  } else if (client.max_connections > budget) {
    reading.wrong_setting("settings.client.max_connections",
                          format("{} is more than the {} ports that this machine has for {}",
                                 client.max_connections, budget, counted(hosts.size(), "endpoint")),
                          "-1 uses what there is; net.ipv4.ip_local_port_range has more");
  }
  for (const auto& [name, value] : config.endpoint_config.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      reading.wrong_setting("endpoint_config.headers", format("\"{}\" is not a header", name),
                            "a name of letters, digits and -, and a value on one line");
    }
  }
  if (is_grpc(config.endpoint_config.api_type) &&
      config.settings.client.http == HttpVersion::http1) {
    reading.wrong_setting("settings.client.http", "gRPC is spoken over HTTP/2 alone",
                          "leave --http out");
  }
  for (const std::string& name : config.endpoint_config.session_id_headers) {
    if (!is_header_name(name)) {
      reading.wrong_setting("endpoint_config.session_id_headers",
                            format("\"{}\" is not a header's name", name));
    }
  }
}

void check_guard(const Guarding& guard, Reading& reading) {
  if (!guard_rule(guard)) {
    reading.wrong_setting("settings.guard.max_failures",
                          format("\"{}\" is neither a number nor a share", guard.max_failures),
                          "--max-failures 20, or --max-failures 5%");
  }
  if (guard.max_cost && !guard.price_in && !guard.price_out) {
    reading.wrong_setting("settings.guard.max_cost", "a cost needs prices",
                          "--price-in and --price-out, of a million tokens each");
  }
}

void check_rest(const Config& config, Reading& reading) {
  const Settings& settings = config.settings;
  if (settings.warmup.warmup_random_seed > std::numeric_limits<std::uint64_t>::max() - 2) {
    reading.wrong_setting("settings.warmup.warmup_random_seed",
                          "the two seeds after it must fit in 64 bits too");
  }
  if (settings.timeouts && reading.given("settings.drain")) {
    reading.wrong_setting("settings.drain",
                          "settings.timeouts is the newer spelling of the same limits",
                          "keep one of the two");
  }
  if (settings.client.transport.type != "zmq") {
    reading.wrong_setting("settings.client.transport.type", "only zmq is known", "leave it out");
  }
  if (!settings.profiling.engine.empty() && settings.profiling.engine != "vllm") {
    reading.wrong_setting("settings.profiling.engine",
                          format("unknown value \"{}\"", settings.profiling.engine),
                          "one of: vllm");
  }
  for (const std::string& meter : settings.telemetry.meters) {
    const std::string_view kind = std::string_view(meter).substr(0, meter.find(':'));
    if (kind == "nvml" || kind == "rapl" || kind == "host" || kind == "ptd" || kind == "query") {
      continue;
    }
    reading.wrong_setting("settings.telemetry.meters", format("unknown meter \"{}\"", meter),
                          "one of: nvml, rapl, host, ptd:HOST:PORT, query:URL");
  }
  if (const auto power = telemetry_with_power(settings); !power) {
    reading.wrong_setting("settings.power", power.error().message);
  }
  if (settings.telemetry.interval < Duration{10'000'000}) {
    reading.wrong_setting("settings.telemetry.interval_s", "below 10 ms",
                          "a reading costs the server and this machine time");
  }
  if (config.audit && config.audit->test != "output_caching_test") {
    reading.wrong_setting("audit.test", format("unknown value \"{}\"", config.audit->test),
                          "one of: output_caching_test");
  }
  if (config.audit && config.audit->samples == 0) {
    reading.wrong_setting("audit.samples", "is required");
  }
  const Pattern pattern = settings.load_pattern.type;
  if (config.audit && pattern != Pattern::concurrency && pattern != Pattern::max_throughput) {
    reading.wrong_setting(
        "audit",
        format("two rates are compared, and with {} the schedule says them", word(pattern)),
        "settings.load_pattern.type: concurrency, or max_throughput");
  }
}

}  // namespace

void check(const Config& config, const Surroundings& around, Reading& reading) {
  const DatasetConfig* data = performance_dataset(config);
  check_model(config, reading);
  check_params(config.model_params, "model_params", config,
               data != nullptr && data->agentic_inference.has_value(), reading);
  check_datasets(config, reading);
  check_pattern(config, reading);
  check_agentic(config, reading);
  check_runtime(config, reading);
  check_endpoints(config, around, reading);
  check_guard(config.settings.guard, reading);
  check_rest(config, reading);
}

}  // namespace assay::plan
