// The report as one HTML file: nothing is fetched, no script runs, and the pictures are SVG inside.
// Light or dark as the reader's system is, fit for a phone and for paper; every chart has a title
// that is its answer and a table that says the same.
//
// All text from configs, servers and files is escaped, and a content security policy in the page
// forbids whatever might slip through. Pure; any thread.
#pragma once

#include <string>

#include "report/content.h"

namespace assay::report {

std::string html_report(const metrics::Point& point, const RunContext& context);

}  // namespace assay::report
