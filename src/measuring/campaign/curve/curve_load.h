// A curve's folder as numbers: what `curve`, `report` and `pack` read. Each point's own files are
// the source; nothing is measured or replayed.
#pragma once

#include <optional>

#include "base/result.h"
#include "campaign/curve/curve_folder.h"
#include "metrics/curve.h"

namespace assay::campaign {

Result<metrics::Curve> load_curve(const CurveFolder& folder);

// Writes what is derived: curve_summary.json and report.html.
Result<void> publish_curve(const CurveFolder& folder, const metrics::Curve& curve);

}  // namespace assay::campaign
