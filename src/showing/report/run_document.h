// A run in the schemas of docs/formats/api.yaml: the store keeps it and the explorer shows it. It
// has two sources: a Point, folded from our own event log and complete; or result_summary.json as
// the reference client and ours write it, with distributions and counts only.
//
// Times become milliseconds. Unknown fields are left out. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "metrics/point.h"
#include "report/content.h"

namespace assay::report {

// Schema Point without id, region, offline, accuracy and findings, which a run does not know.
Json point_document(const metrics::Point& point, const RunContext& context);
Json point_document(const Json& summary);

// The point's `steady`, from the words of a steady_state block: "yes" where a window is the result;
// "no" where the run drifts, or was long enough to be level and was not; "" where unknown.
// `super_passes`: complete ones in the run, 0 if unknown.
std::string_view steady_word(std::string_view status, std::string_view verdict,
                             std::uint64_t super_passes = 0);

// Schema Run without id, point, curve, system, model, dataset, accuracy and findings.
Json run_document(const metrics::Point& point, const RunContext& context);
Json run_document(const Json& summary);

}  // namespace assay::report
