#include "campaign/run_config.h"

#include <optional>
#include <string>
#include <utility>

#include "plan/config_reader.h"

namespace assay::campaign {

Result<plan::Config> recorded_config(const std::filesystem::path& folder) {
  constexpr std::uint32_t kPorts = 28000;
  plan::ConfigReader reader([](const std::string&) { return std::optional<std::string>("unset"); },
                            kPorts);
  reader.read_file(folder / "config.yaml");
  ASSIGN_OR_RETURN(plan::LoadedConfig loaded, reader.finish());
  return std::move(loaded.config);
}

}  // namespace assay::campaign
