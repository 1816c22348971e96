// The control groups of this process, as folders: its own group and those above it, of version 2
// and, for one controller, of version 1. A limit or a count of each of them applies to us.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace assay::host {

// `root` stands for "/": tests have their own. `file` is the name of a file that groups of that
// controller have in version 1 or 2. Where the process's own path does not have it, only the host
// can see that path, and the mount's root is used instead.
void each_control_group(const std::filesystem::path& root, std::string_view controller,
                        std::string_view file,
                        const std::function<void(const std::filesystem::path& folder)>& visit);

}  // namespace assay::host
