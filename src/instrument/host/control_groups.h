// The control groups of this process, as folders: its own group and those above it, of version 2
// and, for one controller, of version 1. A limit or a count of each of them applies to us.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace assay::host {

// `root` stands for "/": tests have their own. Where the process's own path is no folder, only the
// host can see that path, and the mount's root is used instead. A group need not have the
// controller's files: those above it may.
void each_control_group(const std::filesystem::path& root, std::string_view controller,
                        const std::function<void(const std::filesystem::path& folder)>& visit);

}  // namespace assay::host
