#include "cli/run_flags.h"

#include <filesystem>

#include "base/format.h"

namespace assay::cli {

RunFlags::RunFlags(Flags& flags, const std::set<std::string>& without) {
  flags.add("--config,-c", &config_, "a YAML config; flags overrule it").value("FILE");
  static constexpr const char* kWorkload = "Workload";
  flags.add("--workload", &workload_, "a suite's benchmark by name (assay workloads), or a file")
      .value("NAME")
      .group(kWorkload);
  flags.add("--scenario", &scenario_, "offline, server, interactive, …: as the workload has them")
      .value("NAME")
      .group(kWorkload);
  flags.add("--edition", &edition_, "whose rules (the workload's first)")
      .value("NAME")
      .group(kWorkload);
  flags.add("--dataset-dir", &dataset_dir_, "the workload's files ($ASSAY_DATASETS or datasets)")
      .value("DIR")
      .group(kWorkload);
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
  }
  for (Setting& setting : settings_) {
    const std::string off = "--no-" + setting.name.substr(2);
    if (setting.is_switch && taken.insert(off).second) {
      flags.add(off, &setting.off, "the opposite").hidden();
    }
  }
}

Result<std::optional<plan::Workload>> RunFlags::read_workload(plan::ConfigReader& reader) const {
  if (workload_.empty()) {
    for (const auto& [flag, value] : {std::pair{"--scenario", &scenario_},
                                      {"--edition", &edition_},
                                      {"--dataset-dir", &dataset_dir_}}) {
      if (!value->empty()) return invalid(format("{}: needs --workload NAME", flag));
    }
    return std::optional<plan::Workload>();
  }
  ASSIGN_OR_RETURN(plan::Workload workload, plan::Workloads::builtin().find(workload_, edition_));
  const std::filesystem::path folder =
      dataset_dir_.empty() ? plan::dataset_folder() : std::filesystem::path(dataset_dir_);
  ASSIGN_OR_RETURN(const std::string config, plan::run_config(workload, scenario_, folder));
  reader.read_text(config, "workload " + workload.name);
  return std::optional(std::move(workload));
}

Result<plan::LoadedConfig> RunFlags::load() const {
  plan::ConfigReader reader;
  reader.set_time_unsaid(time_unsaid_);
  ASSIGN_OR_RETURN(const auto workload, read_workload(reader));
  if (!config_.empty()) reader.read_file(config_);
  for (const Setting& setting : settings_) {
    if (setting.on) reader.flag(setting.name, "");
    if (setting.off) reader.flag("--no-" + setting.name.substr(2), "");
    for (const std::string& value : setting.values) reader.flag(setting.name, value);
  }
  for (const auto& [name, value] : decided_) reader.flag(name, value);
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, reader.finish());
  if (workload) {
    TRY(plan::check_files(*workload, loaded.config));
    loaded.config.workload = plan::scenario_facts(*workload, scenario_);
  }
  return loaded;
}

}  // namespace assay::cli
