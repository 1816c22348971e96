// The report of a curve as one HTML file without external resources: the step curve of throughput
// against interactivity, three charts over concurrency, the table of points, the basis of the
// curve. All text from outside is escaped. Pure; any thread.
#pragma once

#include <string>

#include "metrics/curve.h"
#include "report/curve_text.h"

namespace assay::report {

std::string curve_html(const metrics::Curve& curve, const CurveOptions& options);

}  // namespace assay::report
