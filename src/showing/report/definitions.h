// One run in the words of many tools: a block a metric, a line a tool, and beside the numbers the
// rule that made them. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "metrics/definitions/definition_fold.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string definitions_report(const std::vector<metrics::DefinedPoint>& points,
                               const TerminalStyle& style = {});

}  // namespace assay::report
