// The answer of `assay noise` on a terminal. Pure; any thread.
#pragma once

#include <string>

#include "compare/noise_answer.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string noise_report(const compare::NoiseAnswer& answer, const TerminalStyle& style = {});

}  // namespace assay::report
