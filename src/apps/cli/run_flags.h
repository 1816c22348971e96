// The flags that define what to measure, for `assay run` and related commands: a workload, a config
// file that overrides it, and the settings of plan/config_reader.h that override both.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/flags.h"
#include "plan/config_reader.h"
#include "plan/workload.h"

namespace assay::cli {

class RunFlags {
 public:
  // Adds --config and every setting's flag, except those that the command sets itself. This must
  // outlive flags.parse().
  explicit RunFlags(Flags& flags, const std::set<std::string>& without = {});

  // Before load(): a config file in place of --config, and a flag that overrides all others.
  void set_config(std::string path) { config_ = std::move(path); }
  void set_flag(std::string name, std::string value) {
    decided_.emplace_back(std::move(name), std::move(value));
  }
  void set_time_unsaid(Duration time) { time_unsaid_ = time; }  // see plan/config_reader.h
  // After flags.parse(): reads the file, then the flags in the order of the help.
  Result<plan::LoadedConfig> load() const;

 private:
  struct Setting {
    std::string name{};
    bool is_switch = false;
    bool on = false;
    bool off = false;  // --no-NAME
    std::vector<std::string> values{};
  };
  Result<std::optional<plan::Workload>> read_workload(plan::ConfigReader& reader) const;

  std::string config_{};
  std::string workload_{};
  std::string edition_{};
  std::string scenario_{};
  std::string dataset_dir_{};
  Duration time_unsaid_{};
  std::deque<Setting> settings_{};
  std::vector<std::pair<std::string, std::string>> decided_{};
};

}  // namespace assay::cli
