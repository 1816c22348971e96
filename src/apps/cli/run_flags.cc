#include "cli/run_flags.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/format.h"
#include "base/yaml.h"

namespace assay::cli {
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

}  // namespace

RunFlags::RunFlags(Flags& flags, const std::set<std::string>& without) {
  flags
      .add("--config,-c", &configs_,
           "a YAML config; flags overrule it. With --scenario also LoadGen's user.conf")
      .value("FILE");
  static constexpr const char* kWorkload = "Workload";
  flags.add("--workload", &workload_, "a suite's benchmark by name (assay workloads), or a file")
      .value("NAME")
      .group(kWorkload);
  flags
      .add("--scenario", &scenario_,
           "offline, server, interactive, single_stream, multi_stream: as LoadGen asks them, or "
           "with a load of your own as the workload has them")
      .value("NAME")
      .group(kWorkload);
  flags.add("--audit-config", &audit_conf_, "LoadGen's audit.config, of a compliance test")
      .value("FILE")
      .group(kWorkload);
  flags.add("--edition", &edition_, "whose rules (the workload's first)")
      .value("NAME")
      .group(kWorkload);
  flags
      .add("--dataset-dir", &dataset_dir_,
           "the files of the workload and of tasks ($ASSAY_DATASETS or datasets)")
      .value("DIR")
      .group(kWorkload);
  add_use_flags(flags, use_);
  // The first setting gets a name: two settings of the reference client share an alias, and some
  // switches have their own --no- form.
  std::set<std::string> taken = without;
  for (const plan::FlagInfo& info : plan::run_flags()) {
    std::string names;
    for (std::size_t i = 0; i <= info.aliases.size(); ++i) {
      const std::string name(i == 0 ? info.name : info.aliases[i - 1]);
      if (taken.insert(name).second) names += (names.empty() ? "" : ",") + name;
    }
    if (names.empty()) continue;
    Setting& setting = settings_.emplace_back();
    setting.name = info.name;
    setting.is_switch = info.value.empty();
    Flag& flag = setting.is_switch ? flags.add(names, &setting.on, info.help)
                                   : flags.add(names, &setting.values, info.help).value(info.value);
    if (info.hidden) flag.hidden();
    if (!setting.is_switch && !info.repeatable) flag.last_counts();
  }
  for (Setting& setting : settings_) {
    const std::string off = "--no-" + setting.name.substr(2);
    if (setting.is_switch && taken.insert(off).second) {
      flags.add(off, &setting.off, "the opposite").hidden();
    }
  }
}

bool RunFlags::names_load() const {
  const auto& names = campaign::load_flags();
  for (const Setting& setting : settings_) {
    const bool named = std::find(names.begin(), names.end(), setting.name) != names.end();
    if (named && !setting.values.empty()) return true;
  }
  for (const auto& [name, value] : decided_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  }
  for (const std::string& path : configs_) {
    if (!is_loadgen_file(path) && config_names_load(path)) return true;
  }
  return false;
}

// With a load of the user's own a workload's scenario chooses its config and limits, and nothing
// more. The reference client's suite has scenarios of its own.
bool RunFlags::is_test(const std::optional<plan::Workload>& workload) const {
  if (!tests_ || !campaign::is_scenario(scenario_)) return false;
  if (std::ranges::any_of(configs_, is_loadgen_file) || !audit_conf_.empty()) return true;
  if (workload && workload->edition.starts_with("endpoints-")) return false;
  // Conversations are such a workload's stream; LoadGen counts single queries.
  const bool replays =
      workload && workload->data["config"]["settings"]["load_pattern"]["type"].as_string() ==
                      "agentic_inference";
  if (replays) return false;
  return !names_load();
}

Result<std::optional<plan::Workload>> RunFlags::find_workload() const {
  if (!workload_.empty()) {
    ASSIGN_OR_RETURN(plan::Workload workload, plan::Workloads::builtin().find(workload_, edition_));
    return std::optional(std::move(workload));
  }
  const bool alone = tests_ && campaign::is_scenario(scenario_);
  for (const auto& [flag, value] :
       {std::pair{"--scenario", &scenario_}, {"--edition", &edition_}}) {
    if (value->empty() || alone) continue;
    return invalid(format("{}: needs --workload NAME{}", flag,
                          tests_ ? ", or one of LoadGen's scenarios" : ""));
  }
  if (!dataset_dir_.empty() && configs_.empty() && !is_typed("--task")) {
    return invalid("--dataset-dir: needs --workload NAME, or --task NAME");
  }
  return std::optional<plan::Workload>();
}

Result<void> RunFlags::read_workload(const std::optional<plan::Workload>& workload, bool test,
                                     plan::ConfigReader& reader) const {
  if (!workload) return {};
  const std::filesystem::path folder =
      dataset_dir_.empty() ? plan::dataset_folder() : std::filesystem::path(dataset_dir_);
  const bool known = workload->data["scenarios"].find(scenario_) != nullptr;
  ASSIGN_OR_RETURN(const std::string config,
                   plan::run_config(*workload, test && !known ? std::string() : scenario_, folder,
                                    test ? plan::ScenarioLoad::none : plan::ScenarioLoad::own));
  reader.read_text(config, "workload " + workload->name);
  return {};
}

// The one that is no file of LoadGen's; "" without one.
Result<std::string> RunFlags::config_file(bool test) const {
  std::string yaml;
  for (const std::string& path : configs_) {
    if (is_loadgen_file(path) && test) continue;
    if (!yaml.empty()) return invalid(format("--config: '{}' and '{}': name one", yaml, path));
    yaml = path;
  }
  return yaml;
}

Result<std::optional<campaign::ScenarioTest>> RunFlags::scenario_test() const {
  ASSIGN_OR_RETURN(const auto workload, find_workload());
  if (!is_test(workload)) {
    if (!audit_conf_.empty()) return invalid("--audit-config: needs --scenario, one of LoadGen's");
    return std::optional<campaign::ScenarioTest>();
  }
  if (names_load()) {
    return invalid(
        "--scenario: a LoadGen file says the load, and so do flags or a config here; leave one out "
        "(--rate, --concurrency, --samples, --duration and their like)");
  }
  campaign::ScenarioWish wish{.scenario = scenario_,
                              .edition = edition_,
                              .workload = workload ? &*workload : nullptr,
                              .audit_conf = audit_conf_,
                              .target_qps = target_qps_};
  for (const std::string& path : configs_) {
    if (!is_loadgen_file(path)) continue;
    if (!wish.user_conf.empty()) {
      return invalid(format("--config: '{}' and '{}': name one", wish.user_conf, path));
    }
    wish.user_conf = path;
  }
  ASSIGN_OR_RETURN(campaign::ScenarioTest test, campaign::read_scenario(wish));
  return std::optional(std::move(test));
}

bool RunFlags::is_typed(std::string_view name) const {
  return std::any_of(settings_.begin(), settings_.end(), [&](const Setting& setting) {
    return setting.name == name && !setting.values.empty();
  });
}

Result<plan::LoadedConfig> RunFlags::load() const {
  plan::ConfigReader reader;
  if (!dataset_dir_.empty()) reader.set_dataset_folder(dataset_dir_);
  reader.set_time_unsaid(time_unsaid_);
  ASSIGN_OR_RETURN(const auto workload, find_workload());
  ASSIGN_OR_RETURN(const auto test, scenario_test());
  TRY(read_workload(workload, test.has_value(), reader));
  ASSIGN_OR_RETURN(const std::string config, config_file(test.has_value()));
  if (!config.empty()) reader.read_file(config);
  if (test) {
    for (const auto& [name, value] : campaign::scenario_flags(test->test)) reader.flag(name, value);
  }
  for (const Setting& setting : settings_) {
    if (setting.on) reader.flag(setting.name, "");
    if (setting.off) reader.flag("--no-" + setting.name.substr(2), "");
    for (const std::string& value : setting.values) reader.flag(setting.name, value);
  }
  for (const auto& [name, value] : decided_) reader.flag(name, value);
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, reader.finish());
  TRY(ask_policies(use_, loaded));
  if (workload) {
    TRY(plan::check_files(*workload, loaded.config));
    const bool known = workload->data["scenarios"].find(scenario_) != nullptr;
    loaded.config.workload = plan::scenario_facts(*workload, known ? scenario_ : std::string());
    // A test counts its queries by LoadGen's settings.
    if (test) loaded.config.workload.erase("queries_min");
  }
  return loaded;
}

}  // namespace assay::cli
