#include "desk/verify_client.h"

#include <filesystem>
#include <system_error>

#include "base/json.h"
#include "desk/client_run.h"

namespace assay::desk {

// The result of `assay client`, where the run is one: it follows from the events too.
Result<void> verify_client(const std::string& folder, std::vector<campaign::Difference>& out) {
  const auto path = std::filesystem::path(folder) / kClientResult;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  const auto kept = read_json_file(path);
  if (!kept) {
    out.push_back({path.string(), kept.error().message});
    return {};
  }
  ASSIGN_OR_RETURN(const ClientResult made, client_result(folder));
  // Through text, so that both sides have the same rounding.
  ASSIGN_OR_RETURN(const Json again, Json::parse(made.json.dump()));
  if (*kept != again) out.push_back({path.string(), "is not what the events come to"});
  return {};
}

}  // namespace assay::desk
