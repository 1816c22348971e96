// The report as one HTML file without external resources and scripts; the pictures are inline SVG.
// It follows the reader's light or dark setting and suits phones and paper. Every chart has a title
// that states its answer and a table with the same values.
//
// All text from configs, servers and files is escaped, and a content security policy in the page
// blocks anything that escaping missed. Pure; any thread.
#pragma once

#include <string>

#include "report/content.h"

namespace assay::report {

std::string html_report(const metrics::Point& point, const RunContext& context);

}  // namespace assay::report
