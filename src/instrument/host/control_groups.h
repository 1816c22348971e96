// The control groups of this process, as folders: the group that it is in and those above it, of
// version 2 and, of version 1, of one controller. A limit or a count of any of them holds for us.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace assay::host {

// `root` stands for "/": tests have their own. `file` is one that a group of that controller has in
// version 1 or 2: where the process's own path has none, it is one that only the host can see, and
// the mount's root stands for it.
void each_control_group(const std::filesystem::path& root, std::string_view controller,
                        std::string_view file,
                        const std::function<void(const std::filesystem::path& folder)>& visit);

}  // namespace assay::host
