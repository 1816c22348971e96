// ConfigReader: a Config from a YAML file, from flags, or from a file that flags overrule.
//
// Everything that is wrong is reported at once, each with where it stands, what is wrong and what
// to do about it; nothing is checked twice and nothing is printed here. Notes are for a person:
// keys that do nothing, defaults that were chosen. The order of calls is the order of precedence:
// what comes later overrules.
//
//   ConfigReader reader;
//   reader.read_file("config.yaml");        // optional
//   reader.flag("--concurrency", "64");     // any number
//   ASSIGN_OR_RETURN(auto loaded, reader.finish());
//
// Reads the file and environment variables; no other side effect. One thread.
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
  // Nobody chose to send everything at once: a file without a load means that.
  bool load_unsaid = false;
};

// A flag that flag() understands: for the command line's parser and its help.
struct FlagInfo {
  std::string_view name{};  // "--concurrency"
  std::vector<std::string_view> aliases{};
  std::string_view value{};  // what stands for the value in the help; "" for a switch
  std::string_view help{};
  std::string_view group{};  // a heading for the help
  bool repeatable = false;   // may be given more than once, each adds
  // One per setting, spelled as the reference client spells them
  // (--runtime.min-duration-ms): not worth a line in --help.
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
  // `name` stands for the file's in messages.
  void read_text(std::string_view yaml, std::string_view name);
  // `name` as run_flags() spells it, or an alias. A switch takes "" (or true, false), and --no-NAME
  // is the opposite of the switch --NAME.
  void flag(std::string_view name, std::string_view value);

  // How long a run lasts that nothing says a length of; without it, as assay run has it.
  void set_time_unsaid(Duration time);

  // The checked config, or one Error that lists all that is wrong.
  Result<LoadedConfig> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All flags that ConfigReader::flag takes, in the order in which a help should show them.
std::span<const FlagInfo> run_flags();

// A file alone.
Result<LoadedConfig> load_config(const std::filesystem::path& path);

}  // namespace assay::plan
