// The flags that say what to measure, as `assay run` and its relatives take them: a workload, a
// config file on top of it, and the settings of plan/config_reader.h on top of both.
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
  // Adds --config and every setting's flag, but those that the command decides itself. This must
  // outlive flags.parse().
  explicit RunFlags(Flags& flags, const std::set<std::string>& without = {});

  // Before load(): a config file instead of --config, and a flag that comes after all others.
  void set_config(std::string path) { config_ = std::move(path); }
  void set_flag(std::string name, std::string value) {
    decided_.emplace_back(std::move(name), std::move(value));
  }
  void set_time_unsaid(Duration time) { time_unsaid_ = time; }  // see plan/config_reader.h
  // After flags.parse(): the file, then the flags in the order in which the help shows them.
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
