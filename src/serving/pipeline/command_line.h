// What a step becomes on this machine: words, environment and folders. Pure but for folders_for().
// Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "pipeline/places.h"
#include "pipeline/process.h"

namespace assay::pipeline {

// `box`: the container's name, unique to this attempt. Code::unsupported for a container without an
// engine and without a stand-in.
Result<Launch> launch_of(const Pipeline& pipeline, const Places& places, const Step& step,
                         const std::string& partition, const std::string& engine,
                         const std::string& box);

// Makes the folders that its outputs need.
Result<void> folders_for(const Places& places, const Step& step);

}  // namespace assay::pipeline
