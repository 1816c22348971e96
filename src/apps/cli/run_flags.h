// The flags that define what to measure, for `assay run` and related commands: a workload, a config
// file that overrides it, and the settings of plan/config_reader.h that override both. With
// --scenario the load may be a test of LoadGen's, whose settings replace all others about it.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flags.h"
#include "campaign/scenario/scenario_run.h"
#include "cli/use_flags.h"
#include "plan/config_reader.h"
#include "plan/workload.h"

namespace assay::cli {

class RunFlags {
 public:
  // Adds --config and every setting's flag, except those that the command sets itself. This must
  // outlive flags.parse().
  explicit RunFlags(Flags& flags, const std::set<std::string>& without = {});

  // Before load(): a config file in place of --config, and a flag that overrides all others.
  void set_config(std::string path) { configs_ = {std::move(path)}; }
  void set_flag(std::string name, std::string value) {
    decided_.emplace_back(std::move(name), std::move(value));
  }
  // From now on --scenario asks for one of LoadGen's tests where no load is named; else it only
  // chooses among a workload's loads.
  void allow_tests() { tests_ = true; }
  void set_target_qps(double rate) { target_qps_ = rate; }      // of such a test, over its files
  void set_time_unsaid(Duration time) { time_unsaid_ = time; }  // see plan/config_reader.h
  // After flags.parse(): reads the file, then the flags in the order of the help. Fails if a
  // dataset's policy denies the stated use.
  Result<plan::LoadedConfig> load() const;
  // The test that the flags ask for; nullopt: none. Its notes are for the user.
  Result<std::optional<campaign::ScenarioTest>> scenario_test() const;
  bool names_scenario() const { return !scenario_.empty(); }

 private:
  struct Setting {
    std::string name{};
    bool is_switch = false;
    bool on = false;
    bool off = false;  // --no-NAME
    std::vector<std::string> values{};
  };
  Result<std::optional<plan::Workload>> find_workload() const;
  Result<void> read_workload(const std::optional<plan::Workload>& workload, bool test,
                             plan::ConfigReader& reader) const;
  Result<std::string> config_file(bool test) const;
  bool names_load() const;
  bool is_test(const std::optional<plan::Workload>& workload) const;
  bool is_typed(std::string_view name) const;  // a flag with a value

  std::vector<std::string> configs_{};
  std::string audit_conf_{};
  bool tests_ = false;
  std::optional<double> target_qps_{};
  std::string workload_{};
  std::string edition_{};
  std::string scenario_{};
  std::string dataset_dir_{};
  Duration time_unsaid_{};
  UseFlags use_{};
  std::deque<Setting> settings_{};
  std::vector<std::pair<std::string, std::string>> decided_{};
};

}  // namespace assay::cli
