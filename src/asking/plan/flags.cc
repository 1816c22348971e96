#include "plan/flags.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "plan/dataset_spec.h"
#include "plan/flag_table.h"
#include "plan/settings.h"

namespace assay::plan {
namespace {

// Puts `value` at `path` of a config's map.
yaml::Node nest(std::string_view path, yaml::Node value) {
  const std::size_t dot = path.find('.');
  if (dot != std::string_view::npos) value = nest(path.substr(dot + 1), std::move(value));
  yaml::Node map{.kind = yaml::Node::Kind::map};
  map.members.emplace_back(yaml::Key{std::string(path.substr(0, dot))}, std::move(value));
  return map;
}

void set(Config& config, std::string_view path, yaml::Node value, Reading& reading) {
  read_part(config_part(), nest(path, std::move(value)), &config, "", reading);
}

void set_text(Config& config, std::string_view path, std::string_view value, Reading& reading) {
  set(config, path, yaml::Node::scalar(std::string(value)), reading);
}

// Returns false after it reported the missing unit.
bool has_unit(std::string_view path, std::string_view value, Reading& reading) {
  const std::string_view text = trim(value);
  const bool bare =
      !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  if (!bare || text == "0") return true;
  reading.wrong({}, std::string(path), format("{} of what?", text),
                format("say the unit: {0}s, {0}ms or {0}m", text));
  return false;
}

void set_time(Config& config, std::string_view path, std::string_view value, Reading& reading) {
  if (has_unit(path, value, reading)) set_text(config, path, value, reading);
}

void add_to_list(Config& config, const FlagRow& flag, bool first, std::string_view value,
                 Reading& reading) {
  std::vector<std::string>& list =
      flag.path == "settings.profiling.urls"      ? config.settings.profiling.urls
      : flag.path == "settings.telemetry.metrics" ? config.settings.telemetry.metrics
      : flag.path == "settings.telemetry.meters"  ? config.settings.telemetry.meters
                                                  : config.endpoint_config.endpoints;
  if (first) list.clear();
  for (const std::string_view part : split(value, ',')) {
    if (trim(part).empty()) continue;
    reading.saw(format("{}[{}]", flag.path, list.size()), {});
    list.emplace_back(trim(part));
  }
  reading.saw(flag.path, {});
}

void add_header(Config& config, std::string_view value, Reading& reading) {
  const std::size_t colon = value.find(':');
  if (colon == std::string_view::npos || trim(value.substr(0, colon)).empty()) {
    reading.wrong({}, "endpoint_config.headers", format("\"{}\" is not a header", value),
                  "--header 'Name: value'");
    return;
  }
  reading.saw("endpoint_config.headers", {});
  config.endpoint_config.headers.emplace_back(trim(value.substr(0, colon)),
                                              trim(value.substr(colon + 1)));
}

void add_dataset(Config& config, bool first, std::string_view value, Reading& reading) {
  if (first) config.datasets.clear();
  const std::string path = format("datasets[{}]", config.datasets.size());
  reading.saw("datasets", {});
  reading.saw(path, {});
  yaml::Node node = yaml::Node::scalar(std::string(value));
  DatasetConfig& data = config.datasets.emplace_back();
  read_dataset(node, data, path, reading);
  for (const auto& [target, source] : data.parser) {
    if (target == "prompt" || target == "system" || target.starts_with("body.") ||
        target == "messages" || target == "input_tokens" || target == "tools" ||
        target == "max_new_tokens" || target == "session") {
      continue;
    }
    if (data.type == DatasetType::accuracy) continue;  // a scorer's column
    reading.wrong({}, path + ".parser", format("\"{}\" is not a column that is asked", target),
                  "one of: prompt, system, messages, input_tokens, tools, max_new_tokens, session, "
                  "body.NAME");
  }
}

void set_ramp(Config& config, std::string_view value, Reading& reading) {
  // OF:FROM-TO[,steps=N][,step=TIME]
  constexpr std::string_view kPath = "settings.load_pattern.ramp";
  const std::vector<std::string_view> parts = split(value, ',');
  const std::size_t colon = parts[0].find(':');
  const std::size_t dash = parts[0].find('-', colon == std::string_view::npos ? 0 : colon);
  if (colon == std::string_view::npos || dash == std::string_view::npos) {
    reading.wrong({}, std::string(kPath), format("\"{}\" is not a ramp", value),
                  "--ramp concurrency:1-64,steps=8,step=30s");
    return;
  }
  config.settings.load_pattern.ramp.reset();
  set_text(config, "settings.load_pattern.type", "ramp", reading);
  set_text(config, format("{}.of", kPath), trim(parts[0].substr(0, colon)), reading);
  set_text(config, format("{}.from", kPath), parts[0].substr(colon + 1, dash - colon - 1), reading);
  set_text(config, format("{}.to", kPath), parts[0].substr(dash + 1), reading);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string_view key = trim(parts[i].substr(0, equals));
    const std::string_view text =
        equals == std::string_view::npos ? std::string_view() : parts[i].substr(equals + 1);
    if (key == "steps") {
      set_text(config, format("{}.steps", kPath), text, reading);
    } else if (key == "step") {
      set_time(config, format("{}.step_s", kPath), text, reading);
    } else {
      reading.wrong({}, std::string(kPath), format("\"{}\" is not part of a ramp", parts[i]),
                    "steps=N and step=TIME are");
    }
  }
}

// Applies --isl, --osl and --prompts, which may come before the dataset that they describe.
void set_synthetic(FlagState& state, std::string_view name, std::string_view value,
                   Reading& reading) {
  const std::string_view key = name == "--prompts"         ? "count"
                               : name == "--shared-prefix" ? "shared_prefix"
                                                           : name.substr(2);
  const Part& part = *find_setting(dataset_part(), "synthetic")->part;
  yaml::Node map{.kind = yaml::Node::Kind::map};
  map.members.emplace_back(yaml::Key{std::string(key)}, yaml::Node::scalar(std::string(value)));
  read_part(part, map, &state.synthetic, "datasets[].synthetic", reading);
  state.synthetic_given = true;
}

// Sets how long a run lasts: a flag replaces all that a file gave.
void set_length(Config& config, FlagState& state, const FlagRow& flag, std::string_view value,
                Reading& reading) {
  Runtime& runtime = config.settings.runtime;
  const bool by_flags = state.given.contains("samples") || state.given.contains("passes") ||
                        state.given.contains("duration");
  if (!by_flags) {
    runtime.n_samples_to_issue.reset();
    runtime.passes.reset();
    runtime.duration.reset();
    if (!state.given.contains("min-duration")) runtime.min_duration.reset();
  }
  if (flag.info.name == "--duration") {
    set_time(config, flag.path, value, reading);
  } else {
    set_text(config, flag.path, value, reading);
  }
}

void set_run_seed(Config& config, FlagState& state, std::string_view value, Reading& reading) {
  const std::size_t problems = reading.problems.size();
  set_text(config, "settings.runtime.scheduler_random_seed", value, reading);
  if (reading.problems.size() > problems) return;  // one report is enough
  config.settings.runtime.dataloader_random_seed = config.settings.runtime.scheduler_random_seed;
  set_text(config, "settings.warmup.warmup_random_seed", value, reading);
  config.settings.runtime.salt_random_seed = config.settings.runtime.scheduler_random_seed;
  state.synthetic.seed = config.settings.runtime.scheduler_random_seed;
}

void set_run_timeout(Config& config, std::string_view value, Reading& reading) {
  if (!config.settings.timeouts) {
    // The newer block replaces all of `drain`; keep the values of `drain`.
    const Drain& drain = config.settings.drain;
    Timeouts& timeouts = config.settings.timeouts.emplace();
    timeouts.warmup_drain_timeout = drain.warmup_timeout;
    timeouts.performance_drain_timeout = drain.performance_timeout;
    timeouts.accuracy_drain_timeout = drain.accuracy_timeout;
    config.settings.drain = {};
    reading.forget("settings.drain");
  }
  set_time(config, "settings.timeouts.run_timeout_s", value, reading);
}

void set_drain(Config& config, const FlagRow& flag, std::string_view value, Reading& reading) {
  std::string path = flag.path;
  if (config.settings.timeouts) {
    const std::string_view phase = flag.info.name == "--warmup-drain-timeout"        ? "warmup"
                                   : flag.info.name == "--performance-drain-timeout" ? "performance"
                                                                                     : "accuracy";
    path = format("settings.timeouts.{}_drain_timeout_s", phase);
  }
  set_time(config, path, value, reading);
}

void apply_own(Config& config, FlagState& state, const FlagRow& flag, bool first,
               std::string_view value, Reading& reading) {
  const std::string_view name = flag.info.name;
  if (name == "--header") {
    add_header(config, value, reading);
  } else if (name == "--dataset") {
    add_dataset(config, first, value, reading);
  } else if (name == "--kind") {
    reading.saw("endpoint_config.kind", {});
    config.endpoint_config.kind = Json().set("file", value);
  } else if (name == "--chaos") {
    reading.saw("settings.chaos", {});
    config.settings.chaos = Json().set("file", value);
  } else if (name == "--task") {
    reading.saw("datasets", {});
    state.tasks.emplace_back(value);
  } else if (name == "--ramp") {
    set_ramp(config, value, reading);
  } else if (name == "--samples" || name == "--passes" || name == "--duration") {
    set_length(config, state, flag, value, reading);
  } else if (name == "--isl" || name == "--osl" || name == "--prompts" ||
             name == "--shared-prefix") {
    set_synthetic(state, name, value, reading);
  } else if (name == "--class") {
    state.synthetic.classes.emplace_back(value);
    state.synthetic_given = true;
  } else if (name == "--run-seed") {
    set_run_seed(config, state, value, reading);
  } else if (name == "--timeout") {
    set_run_timeout(config, value, reading);
  } else if (name.ends_with("-drain-timeout")) {
    set_drain(config, flag, value, reading);
  } else if (name == "--accuracy-only") {
    set_text(config, "mode", "acc", reading);
  } else if (name == "--warmup-requests") {
    config.settings.warmup.enabled = true;
    set_text(config, flag.path, value, reading);
  } else {  // for --concurrency, --rate, --burstiness see finish_flags
    set_text(config, flag.path, value, reading);
  }
}

// Sets the load that --rate, --concurrency and --burstiness imply if no flag names one.
void imply_pattern(Config& config, const FlagState& state, Reading& reading) {
  const auto given = [&](const char* name) { return state.given.contains(name); };
  if (given("load-pattern") || given("load-pattern.type") || given("ramp")) return;
  LoadPattern& load = config.settings.load_pattern;
  if (given("rate") && given("concurrency")) {
    reading.wrong({}, "settings.load_pattern",
                  "--rate is an open loop and --concurrency a closed one",
                  "keep one; a cap on the queries in flight of an open loop is --max-in-flight");
    return;
  }
  std::string_view pattern;
  if (given("burstiness")) {
    pattern = "gamma";
  } else if (given("rate") && load.type != Pattern::constant && load.type != Pattern::gamma) {
    pattern = "poisson";
  } else if (given("concurrency") && load.type != Pattern::agentic_inference) {
    pattern = "concurrency";
  }
  if (!pattern.empty()) set_text(config, "settings.load_pattern.type", pattern, reading);
}

void place_synthetic(Config& config, FlagState& state, Reading& reading) {
  if (config.datasets.empty()) {
    if (state.synthetic_given) config.datasets.emplace_back().synthetic.emplace();
  }
  DatasetConfig* data = nullptr;
  for (DatasetConfig& candidate : config.datasets) {
    if (candidate.type == DatasetType::performance) data = &candidate;
  }
  if (data == nullptr || !state.synthetic_given) return;
  const SyntheticConfig& flags = state.synthetic;
  if (data->synthetic) {
    if (flags.isl) data->synthetic->isl = flags.isl;
    if (flags.osl) data->synthetic->osl = flags.osl;
    if (flags.count) data->synthetic->count = flags.count;
    if (!flags.shared_prefix.empty()) data->synthetic->shared_prefix = flags.shared_prefix;
    if (!flags.classes.empty()) data->synthetic->classes = flags.classes;
    return;
  }
  if (flags.isl || flags.count || !flags.shared_prefix.empty() || !flags.classes.empty()) {
    reading.wrong({}, "datasets",
                  "--isl, --prompts, --shared-prefix and --class shape synthetic prompts, and "
                  "there is a file",
                  "leave --dataset out, or give rows_max=N with it");
  }
  if (!flags.osl) return;
  if (!flags.osl->is_fixed()) {
    reading.wrong({}, "datasets", "--osl with a file is one limit for all its rows", "--osl 128");
    return;
  }
  config.model_params.max_new_tokens = static_cast<std::int64_t>(flags.osl->a);
}

// Tasks are further datasets: --dataset replaces those of a file, and --task does not.
void place_tasks(Config& config, const FlagState& state) {
  for (const std::string& name : state.tasks) {
    DatasetConfig& data = config.datasets.emplace_back();
    data.type = DatasetType::accuracy;
    AccuracyConfig& how = data.accuracy_config.emplace();
    how.eval_method = "task";
    how.extras.set("task", name);
  }
}

}  // namespace

void apply_flag(Config& config, FlagState& state, std::string_view name, std::string_view value,
                Reading& reading) {
  reading.enter(std::string(name), true);
  const FlagRow* flag = find_flag(name);
  constexpr std::string_view kNo = "--no-";
  if (flag == nullptr && name.starts_with(kNo)) {
    const FlagRow* opposite = find_flag("--" + std::string(name.substr(kNo.size())));
    if (opposite != nullptr && (opposite->take == Take::on_off || opposite->take == Take::off)) {
      set_text(config, opposite->path, opposite->take == Take::off ? "true" : "false", reading);
      state.given.insert(std::string(opposite->info.name.substr(2)));
      return;
    }
  }
  if (flag == nullptr) {
    std::vector<std::string_view> names;
    for (const FlagRow& row : flag_rows()) names.push_back(row.info.name);
    const std::string_view near = nearest(name, names);
    reading.wrong({}, "", "unknown flag", near.empty() ? "" : format("did you mean {}?", near));
    return;
  }
  const std::string key(flag->info.name.substr(2));
  const bool first = !state.given.contains(key);
  const Setting* setting = find_setting(config_part(), flag->path);
  if (setting != nullptr && setting->nothing) reading.does_nothing(flag->path);
  switch (flag->take) {
    case Take::plain:
      set_text(config, flag->path, value, reading);
      break;
    case Take::timed:
      set_time(config, flag->path, value, reading);
      break;
    case Take::on_off:
      set_text(config, flag->path, value.empty() ? "true" : value, reading);
      break;
    case Take::off:
      set_text(config, flag->path, "false", reading);
      break;
    case Take::json: {
      auto json = Json::parse(value);
      if (json && json->is_object()) {
        set(config, flag->path, yaml::Node::from_json(*json), reading);
      } else {
        reading.wrong({}, flag->path, "expected an object in JSON", R"(such as '{"min_p": 0.1}')");
      }
      break;
    }
    case Take::list:
      add_to_list(config, *flag, first, value, reading);
      break;
    case Take::own:
      apply_own(config, state, *flag, first, value, reading);
      break;
  }
  state.given.insert(key);
}

void finish_flags(Config& config, FlagState& state, Reading& reading) {
  if (state.given.empty()) return;
  reading.enter("flags", true);
  imply_pattern(config, state, reading);
  place_synthetic(config, state, reading);
  place_tasks(config, state);
  if (state.given.contains("run-seed")) {
    for (DatasetConfig& data : config.datasets) {
      if (data.synthetic) data.synthetic->seed = state.synthetic.seed;
    }
  }
  if (state.given.contains("samples") && state.given.contains("duration")) {
    reading.note(
        "--samples is exact: the run ends with the last of them, whatever --duration says");
  }
  if (state.given.contains("api-key")) {
    reading.note("--api-key can be seen by other users of this machine; --api-key-env NAME cannot");
  }
}

}  // namespace assay::plan
