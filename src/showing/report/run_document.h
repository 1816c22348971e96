// A run in the words of docs/formats/api.yaml: what the store keeps and the explorer shows. Two
// sources: a Point, folded from an event log of ours, which knows everything; or
// result_summary.json as the reference client and ours write it, which knows the distributions and
// the counts.
//
// Times become milliseconds. What is not known is left out. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "metrics/point.h"
#include "report/content.h"

namespace assay::report {

// Schema Point without id, region, offline, accuracy and findings, which are not the run's to know.
Json point_document(const metrics::Point& point, const RunContext& context);
Json point_document(const Json& summary);

// The point's `steady` of the words of a steady_state block: "yes" where a window is the result,
// "no" where the run drifts or was long enough to be level and was not, "" where that is not known.
// `super_passes`: whole ones in the run, 0 where nobody said.
std::string_view steady_word(std::string_view status, std::string_view verdict,
                             std::uint64_t super_passes = 0);

// Schema Run without id, point, curve, system, model, dataset, accuracy and findings.
Json run_document(const metrics::Point& point, const RunContext& context);
Json run_document(const Json& summary);

}  // namespace assay::report
