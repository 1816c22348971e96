// A curve's folder as numbers, for `curve`, `report` and `pack`. The source is each point's own
// files; nothing is measured or replayed.
#pragma once

#include "base/result.h"
#include "campaign/curve/curve_folder.h"
#include "metrics/curve.h"

namespace assay::campaign {

Result<metrics::Curve> load_curve(const CurveFolder& folder);

// Writes the derived files: curve_summary.json and report.html.
Result<void> publish_curve(const CurveFolder& folder, const metrics::Curve& curve);

}  // namespace assay::campaign
