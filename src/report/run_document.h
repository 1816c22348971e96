// A run in the words of docs/formats/api.yaml: what the store keeps and the explorer shows. Two
// sources: a Point, folded from an event log of ours, which knows everything; or
// result_summary.json as the reference client and ours write it, which knows the distributions and
// the counts.
//
// Times become milliseconds. What is not known is left out. Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "metrics/point.h"
#include "report/content.h"

namespace assay::report {

// Schema Point without id, region, offline, accuracy and findings, which are not the run's to know.
Json point_document(const metrics::Point& point, const RunContext& context);
Json point_document(const Json& summary);

// Schema Run without id, point, curve, system, model, dataset, accuracy and findings.
Json run_document(const metrics::Point& point, const RunContext& context);
Json run_document(const Json& summary);

}  // namespace assay::report
