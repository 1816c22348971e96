// What this machine is, in the words of a submission's system_desc.json (one entry of node_types):
// processors, memory, network cards, accelerators, driver, operating system, file system. Read from
// /proc and /sys, never by running other programs, so that it works wherever a kernel does. What
// the system does not tell is left out: a person's answers fill it. Any thread.
#pragma once

#include <filesystem>

#include "base/json.h"

namespace assay::host {

// `root`: where /proc and /sys lie; another place in tests.
Json capture_node(const std::filesystem::path& root = "/");

}  // namespace assay::host
