// A comparison of two runs, for a person, for a CI system that reads JUnit XML, and for GitHub's
// annotations. Pure; any thread.
#pragma once

#include <string>

#include "compare/compare.h"
#include "report/terminal_style.h"

namespace assay::report {

std::string comparison_report(const compare::Comparison& comparison, const compare::ComparedRun& a,
                              const compare::ComparedRun& b, const compare::CompareOptions& options,
                              const TerminalStyle& style = {});

// One test case a metric: worse is a failure, unresolved is skipped; a refusal is an error.
std::string comparison_junit(const compare::Comparison& comparison, const compare::ComparedRun& a,
                             const compare::ComparedRun& b);

// Workflow commands, a line each: ::error for what is worse, ::warning for a refusal.
std::string comparison_github(const compare::Comparison& comparison, const compare::ComparedRun& a,
                              const compare::ComparedRun& b);

}  // namespace assay::report
