// ConfigReader: a Config from a YAML file, from flags, or from both; flags override the file.
//
// All problems are reported at once; each has its place, what is wrong and what to do. Nothing is
// checked twice and nothing is printed here. Notes are for the user: keys without effect, chosen
// defaults. Later calls override earlier ones.
//
//   ConfigReader reader;
//   reader.read_file("config.yaml");        // optional
//   reader.flag("--concurrency", "64");     // any number
//   ASSIGN_OR_RETURN(auto loaded, reader.finish());
//
// Reads the file, the files of tasks and environment variables; no other side effect. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/config.h"
#include "plan/environment.h"

namespace assay::plan {

struct LoadedConfig {
  Config config{};
  std::vector<std::string> notes{};
  // True when no load was given, so that everything is sent at once.
  bool load_unsaid = false;
};

// A flag that flag() understands: for the command line's parser and its help.
struct FlagInfo {
  std::string_view name{};  // "--concurrency"
  std::vector<std::string_view> aliases{};
  std::string_view value{};  // stands for the value in the help; "" for a switch
  std::string_view help{};
  std::string_view group{};  // a heading for the help
  bool repeatable = false;   // may be given more than once; each one adds
  // One for each setting, in the reference client's spelling (--runtime.min-duration-ms): not shown
  // by --help.
  bool hidden = false;
};

class ConfigReader {
 public:
  // The process's environment and this machine's number of outgoing ports.
  ConfigReader();
  ConfigReader(Environment environment, std::uint32_t ports);
  ConfigReader(ConfigReader&&) noexcept;
  ConfigReader& operator=(ConfigReader&&) noexcept;
  ~ConfigReader();

  void read_file(const std::filesystem::path& path);
  // `name` replaces the file's name in messages.
  void read_text(std::string_view yaml, std::string_view name);
  // `name` is a name from run_flags() or an alias. A switch takes "" (or true, false); --no-NAME is
  // the opposite of the switch --NAME.
  void flag(std::string_view name, std::string_view value);

  // Duration of a run if no setting gives one; without this call, the default of `assay run`.
  void set_time_unsaid(Duration time);

  // Where the datasets of tasks are; without this call $ASSAY_DATASETS, else "datasets".
  void set_dataset_folder(std::filesystem::path folder);

  // Returns the checked config, or one Error that lists all problems.
  Result<LoadedConfig> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All flags that ConfigReader::flag takes, in the order of the help.
std::span<const FlagInfo> run_flags();

}  // namespace assay::plan
