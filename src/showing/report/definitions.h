// One run by the definitions of many tools: a block for each metric, a line for each tool, and
// beside each number its rule. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "metrics/definitions/definition_fold.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string definitions_report(const std::vector<metrics::DefinedPoint>& points,
                               const TerminalStyle& style = {});

}  // namespace assay::report
