// The scores of a run in its HTML report, and its judged replies as a table that a reader can
// filter by their verdict and open reply by reply. No script: the filter is a group of radio
// buttons and a style sheet, so it works offline, with the keyboard, and under a content security
// policy that allows no script. For html.h. Pure; any thread.
#pragma once

#include <string>

#include "report/content.h"

namespace assay::report {

// "" where nothing was scored.
std::string html_accuracy(const RunContext& context);
// The style of the judged replies; "" where there are none.
std::string accuracy_stylesheet(const RunContext& context);

}  // namespace assay::report
