// RunSettings: what to measure, as a person asks for it, for `assay run` and related commands: a
// workload, a config file that overrides it, and the settings of plan/config_reader.h that override
// both. With a scenario the load may be a test of LoadGen's, whose settings replace all others
// about it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "campaign/scenario/scenario_run.h"
#include "dataset/use_words.h"
#include "plan/config_reader.h"
#include "plan/workload.h"

namespace assay::campaign {

struct RunSettings {
  struct Setting {
    std::string name{};
    bool is_switch = false;
    bool on = false;
    bool off = false;  // --no-NAME
    std::vector<std::string> values{};
  };

  std::vector<std::string> configs{};
  std::string audit_conf{};
  std::string workload_name{};
  std::string edition{};
  std::string scenario{};
  std::string dataset_dir{};
  dataset::UseWords use{};
  std::deque<Setting> settings{};  // in the order of the help

  // --scenario asks for one of LoadGen's tests where no load is named; else it only chooses among a
  // workload's loads.
  bool tests = false;
  std::optional<double> target_qps{};  // of such a test, over its files
  Duration time_unsaid{};              // see plan/config_reader.h

  // Before load(): a config file in place of --config, and a flag that overrides all others.
  void set_config(std::string path) { configs = {std::move(path)}; }
  void set_flag(std::string name, std::string value) {
    decided_.emplace_back(std::move(name), std::move(value));
  }
  // Reads the file, then the settings in their order. Fails if a dataset's policy denies the stated
  // use.
  Result<plan::LoadedConfig> load() const;
  // The test that is asked for; nullopt: none. Its notes are for the user.
  Result<std::optional<ScenarioTest>> scenario_test() const;

 private:
  Result<std::optional<plan::Workload>> find_workload() const;
  Result<void> read_workload(const std::optional<plan::Workload>& workload, bool test,
                             plan::ConfigReader& reader) const;
  Result<std::string> config_file(bool test) const;
  bool names_load() const;
  bool is_test(const std::optional<plan::Workload>& workload) const;
  bool is_typed(std::string_view name) const;  // a flag with a value

  std::vector<std::pair<std::string, std::string>> decided_{};
};

}  // namespace assay::campaign
