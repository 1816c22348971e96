// A pipeline as a DAG of Apache Airflow 3: one file of Python, for where one machine does not carry
// the work. Partitions are a mapped task group for each part of the pipeline that is partitioned,
// conditions a sensor with a task for each way, a manual approval the operator of that name, a file
// that is waited for a sensor. A DAG has no rings: where a loop begins a new round, a task fails
// and says which task to clear. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/places.h"

namespace assay::pipeline {

// Code::unsupported for a condition that is Python of the author, and for a container without an
// engine and a stand-in. `engine`: podman, docker, or empty.
Result<std::string> airflow_dag(const Pipeline& pipeline, const Places& places,
                                const std::vector<std::string>& partitions,
                                const std::string& engine);

}  // namespace assay::pipeline
