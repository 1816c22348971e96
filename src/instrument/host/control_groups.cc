#include "host/control_groups.h"

#include <algorithm>
#include <string>

#include "base/files.h"
#include "base/text.h"

namespace assay::host {
namespace {

using Path = std::filesystem::path;

void visit_up(const Path& mount, std::string_view group,
              const std::function<void(const Path&)>& visit) {
  Path path = Path(group).relative_path().lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::exists(mount / path, ignored)) path.clear();
  for (; !path.empty() && path != "."; path = path.parent_path()) visit(mount / path);
  visit(mount);
}

}  // namespace

void each_control_group(const Path& root, std::string_view controller,
                        const std::function<void(const Path& folder)>& visit) {
  const Result<std::string> groups = read_file(root / "proc/self/cgroup");
  if (!groups) return;
  const Path mounts = root / "sys/fs/cgroup";
  for (const std::string_view line : split(*groups, '\n')) {
    // "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    const auto names = split(controllers, ',');
    std::error_code ignored;
    if (controllers.empty()) {
      const bool both = std::filesystem::exists(mounts / "unified", ignored);
      visit_up(both ? mounts / "unified" : mounts, path, visit);
    } else if (std::ranges::find(names, controller) != names.end()) {
      const bool whole_name = std::filesystem::exists(mounts / controllers, ignored);
      visit_up(mounts / (whole_name ? controllers : controller), path, visit);
    }
  }
}

}  // namespace assay::host
