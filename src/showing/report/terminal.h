// The report at the end of a run, for a person. One screen decides: the sentence, warnings, the
// four numbers, the distributions, what failed. Below it stands the detail: what the numbers rest
// on, the files, the next commands. Lines are at most `style.columns` wide; a terminal of less than
// 76 columns loses P99.9 and the mean, and has the numbers two by two. Colour repeats the meaning
// of words. Pure; any thread.
#pragma once

#include <string>

#include "report/content.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string terminal_report(const metrics::Point& point, const RunContext& context,
                            const TerminalStyle& style = {});

}  // namespace assay::report
