// The machine's description with the keys of a submission's system_desc.json (one entry of
// node_types): processors, memory, network cards, accelerators, driver, operating system, file
// system. Reads /proc and /sys and runs no other programs, so it works on every kernel. Leaves out
// what the system does not report: a person's answers fill it. Any thread.
#pragma once

#include <filesystem>

#include "base/json.h"

namespace assay::host {

// `root`: the parent folder of /proc and /sys; tests have their own.
Json capture_node(const std::filesystem::path& root = "/");

}  // namespace assay::host
