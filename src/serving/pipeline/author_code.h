// Python of a pipeline's author (--allow-code): conditions and the list of partitions, each call in
// a jail: the disk as the user sees it, read-only, no network, no other process. What comes out is
// one answer. As in MedPerf a function gets one object with the run's folders and the partition.
// Blocks.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/places.h"

namespace assay::pipeline {

// A condition that raises does not hold. Errors: no jail on this machine, no such function.
Result<bool> ask_author(const std::string& function, const Places& places,
                        const std::string& partition);
Result<std::vector<std::string>> list_by_author(const std::string& function, const Places& places);

}  // namespace assay::pipeline
