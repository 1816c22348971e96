// The report at the end of a run, for a person: warnings first, then the four numbers, the
// distributions, their basis, the failures, the files, the next commands. Lines are at most
// `style.columns` wide, 80 unless the terminal is wider; colour repeats the meaning of words. Pure;
// any thread.
#pragma once

#include <string>

#include "report/content.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string terminal_report(const metrics::Point& point, const RunContext& context,
                            const TerminalStyle& style = {});

}  // namespace assay::report
