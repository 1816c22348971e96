#include "campaign/run_settings.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/yaml.h"
#include "dataset/croissant.h"
#include "dataset/use_words.h"

namespace assay::campaign {
namespace {

// LoadGen's own files, by the names that its users give them.
bool is_loadgen_file(std::string_view path) {
  return path.ends_with(".conf") || path.ends_with(".config");
}

// Whether a run's config says what load it wants.
bool config_names_load(const std::string& path) {
  const auto text = read_file(path, std::size_t{4} << 20);
  const auto parsed = text ? yaml::parse(*text) : Result<yaml::Node>(text.error());
  if (!parsed || !parsed->is_map()) return false;
  const Json config = parsed->to_json();
  const Json& runtime = config["settings"]["runtime"];
  return !config["settings"]["load_pattern"].is_null() || !runtime["n_samples_to_issue"].is_null();
}

std::string use_reasons(const dataset::croissant::UseVerdict& verdict) {
  std::string out;
  for (const dataset::croissant::UseClause& one : verdict.decided) {
    out += format("\n  {}: {}", one.where, one.what);
  }
  return out;
}

Result<void> ask_policies(const dataset::UseWords& words, plan::LoadedConfig& loaded) {
  ASSIGN_OR_RETURN(dataset::croissant::DataUse use, words.use());
  for (const plan::DatasetConfig& data : loaded.config.datasets) {
    const bool croissant =
        data.path.starts_with(dataset::kCroissantPrefix) || data.format == "croissant";
    if (!croissant) continue;
    const dataset::CroissantSpec spec = dataset::croissant_spec(data.path);
    use.record_set = spec.record_set;
    const auto json = read_json_file(spec.file);
    if (!json) continue;  // the loader says what is wrong with it
    const dataset::croissant::UseVerdict verdict = dataset::croissant::judge_use(*json, use);
    if (verdict.allowed == dataset::croissant::Allowed::deny) {
      return invalid(
          format("dataset '{}': it may not be used so{}\n  nothing was sent; --purpose, "
                 "--commercial and their like state another use",
                 data.path, use_reasons(verdict)));
    }
    if (verdict.allowed == dataset::croissant::Allowed::unknown) {
      loaded.notes.push_back(format("dataset '{}': whether it may be used so is unknown{}",
                                    data.path, use_reasons(verdict)));
    }
  }
  return {};
}

}  // namespace

bool RunSettings::names_load() const {
  const auto& names = load_flags();
  for (const Setting& setting : settings) {
    const bool named = std::find(names.begin(), names.end(), setting.name) != names.end();
    if (named && !setting.values.empty()) return true;
  }
  for (const auto& [name, value] : decided_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  }
  for (const std::string& path : configs) {
    if (!is_loadgen_file(path) && config_names_load(path)) return true;
  }
  return false;
}

// With a load of the user's own a workload's scenario chooses its config and limits, and nothing
// more. The reference client's suite has scenarios of its own.
bool RunSettings::is_test(const std::optional<plan::Workload>& workload) const {
  if (!tests || !is_scenario(scenario)) return false;
  if (std::ranges::any_of(configs, is_loadgen_file) || !audit_conf.empty()) return true;
  if (workload && workload->edition.starts_with("endpoints-")) return false;
  // Conversations are such a workload's stream; LoadGen counts single queries.
  const bool replays =
      workload && workload->data["config"]["settings"]["load_pattern"]["type"].as_string() ==
                      "agentic_inference";
  if (replays) return false;
  return !names_load();
}

Result<std::optional<plan::Workload>> RunSettings::find_workload() const {
  if (!workload_name.empty()) {
    ASSIGN_OR_RETURN(plan::Workload workload,
                     plan::Workloads::builtin().find(workload_name, edition));
    return std::optional(std::move(workload));
  }
  const bool alone = tests && is_scenario(scenario);
  for (const auto& [flag, value] : {std::pair{"--scenario", &scenario}, {"--edition", &edition}}) {
    if (value->empty() || alone) continue;
    return invalid(format("{}: needs --workload NAME{}", flag,
                          tests ? ", or one of LoadGen's scenarios" : ""));
  }
  if (!dataset_dir.empty() && configs.empty() && !is_typed("--task")) {
    return invalid("--dataset-dir: needs --workload NAME, or --task NAME");
  }
  return std::optional<plan::Workload>();
}

Result<void> RunSettings::read_workload(const std::optional<plan::Workload>& workload, bool test,
                                        plan::ConfigReader& reader) const {
  if (!workload) return {};
  const std::filesystem::path folder =
      dataset_dir.empty() ? plan::dataset_folder() : std::filesystem::path(dataset_dir);
  const bool known = workload->data["scenarios"].find(scenario) != nullptr;
  ASSIGN_OR_RETURN(const std::string config,
                   plan::run_config(*workload, test && !known ? std::string() : scenario, folder,
                                    test ? plan::ScenarioLoad::none : plan::ScenarioLoad::own));
  reader.read_text(config, "workload " + workload->name);
  return {};
}

// The one that is no file of LoadGen's; "" without one.
Result<std::string> RunSettings::config_file(bool test) const {
  std::string yaml;
  for (const std::string& path : configs) {
    if (is_loadgen_file(path) && test) continue;
    if (!yaml.empty()) return invalid(format("--config: '{}' and '{}': name one", yaml, path));
    yaml = path;
  }
  return yaml;
}

Result<std::optional<ScenarioTest>> RunSettings::scenario_test() const {
  ASSIGN_OR_RETURN(const auto workload, find_workload());
  if (!is_test(workload)) {
    if (!audit_conf.empty()) return invalid("--audit-config: needs --scenario, one of LoadGen's");
    return std::optional<ScenarioTest>();
  }
  if (names_load()) {
    return invalid(
        "--scenario: a LoadGen file says the load, and so do flags or a config here; leave one out "
        "(--rate, --concurrency, --samples, --duration and their like)");
  }
  ScenarioWish wish{.scenario = scenario,
                    .edition = edition,
                    .workload = workload ? &*workload : nullptr,
                    .audit_conf = audit_conf,
                    .target_qps = target_qps};
  for (const std::string& path : configs) {
    if (!is_loadgen_file(path)) continue;
    if (!wish.user_conf.empty()) {
      return invalid(format("--config: '{}' and '{}': name one", wish.user_conf, path));
    }
    wish.user_conf = path;
  }
  ASSIGN_OR_RETURN(ScenarioTest test, read_scenario(wish));
  return std::optional(std::move(test));
}

bool RunSettings::is_typed(std::string_view name) const {
  return std::any_of(settings.begin(), settings.end(), [&](const Setting& setting) {
    return setting.name == name && !setting.values.empty();
  });
}

Result<plan::LoadedConfig> RunSettings::load() const {
  plan::ConfigReader reader;
  if (!dataset_dir.empty()) reader.set_dataset_folder(dataset_dir);
  reader.set_time_unsaid(time_unsaid);
  ASSIGN_OR_RETURN(const auto workload, find_workload());
  ASSIGN_OR_RETURN(const auto test, scenario_test());
  TRY(read_workload(workload, test.has_value(), reader));
  ASSIGN_OR_RETURN(const std::string config, config_file(test.has_value()));
  if (!config.empty()) reader.read_file(config);
  if (test) {
    for (const auto& [name, value] : scenario_flags(test->test)) reader.flag(name, value);
  }
  for (const Setting& setting : settings) {
    if (setting.on) reader.flag(setting.name, "");
    if (setting.off) reader.flag("--no-" + setting.name.substr(2), "");
    for (const std::string& value : setting.values) reader.flag(setting.name, value);
  }
  for (const auto& [name, value] : decided_) reader.flag(name, value);
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, reader.finish());
  TRY(ask_policies(use, loaded));
  if (workload) {
    TRY(plan::check_files(*workload, loaded.config));
    const bool known = workload->data["scenarios"].find(scenario) != nullptr;
    loaded.config.workload = plan::scenario_facts(*workload, known ? scenario : std::string());
    // A test counts its queries by LoadGen's settings.
    if (test) loaded.config.workload.erase("queries_min");
  }
  return loaded;
}

}  // namespace assay::campaign
