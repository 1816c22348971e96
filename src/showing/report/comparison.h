// A comparison of two runs in three forms: for a person, as JUnit XML for a CI system, and as
// GitHub annotations. Pure; any thread.
#pragma once

#include <string>

#include "compare/compare.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string comparison_report(const compare::Comparison& comparison, const compare::ComparedRun& a,
                              const compare::ComparedRun& b, const compare::CompareOptions& options,
                              const TerminalStyle& style = {});

// One test case for each metric: worse is a failure, unresolved is skipped, a refusal is an error.
std::string comparison_junit(const compare::Comparison& comparison, const compare::ComparedRun& a,
                             const compare::ComparedRun& b);

// Workflow commands, one a line: ::error for a worse metric, ::warning for a refusal.
std::string comparison_github(const compare::Comparison& comparison, const compare::ComparedRun& a,
                              const compare::ComparedRun& b);

}  // namespace assay::report
