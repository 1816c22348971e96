// A check's report in the four forms in which it is read: by a person on a terminal, by a program
// (our JSON), by a code host (SARIF 2.1.0) and by a CI system (JUnit XML). Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "rules/check_tree.h"

namespace assay::rules {

// Findings by file, then a verdict. `quiet` leaves warnings out.
std::string report_text(const CheckReport& report, bool strict, bool quiet);

// {"submission_path","edition","clean",…,"results":[{"rule","severity","message","path","line",…}]}
// The keys of the reference checker's report, and ours beside them.
Json report_json(const CheckReport& report, bool strict);

Json report_sarif(const CheckReport& report);

// One test case a rule; its errors (and warnings when strict) are its failure.
std::string report_junit(const CheckReport& report, bool strict);

// The catalogue for documents: a markdown table a group.
std::string rules_markdown();
Json rules_json();

// "found; expected …", one line.
std::string message_of(const Finding& finding);

}  // namespace assay::rules
