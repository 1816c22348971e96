// What a run shows while it runs: progress.json, counts that may leave the site, and state.json,
// which names what is waited for and what failed. Both are replaced as a whole. One thread.
#pragma once

#include <filesystem>
#include <functional>

#include "base/json.h"
#include "base/result.h"
#include "pipeline/engine.h"

namespace assay::pipeline {

// `report` may be empty.
Result<void> write_state(const std::filesystem::path& work, const Pipeline& pipeline,
                         const Engine& engine, bool running,
                         const std::function<void(const Json&)>& report);

}  // namespace assay::pipeline
