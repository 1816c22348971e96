// The report at the end of a run, as a person reads it at a glance: warnings first, then the four
// numbers, the distributions, what they rest on, what failed, where the files are, what to type
// next. Lines are at most `style.columns` wide, 80 unless the terminal is wider; colour repeats
// what words say. Pure; any thread.
#pragma once

#include <string>

#include "report/content.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string terminal_report(const metrics::Point& point, const RunContext& context,
                            const TerminalStyle& style = {});

}  // namespace assay::report
