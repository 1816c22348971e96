// A check's report in four forms: for a person on a terminal, for a program (our JSON), for a code
// host (SARIF 2.1.0) and for a CI system (JUnit XML). Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "rules/check_tree.h"

namespace assay::rules {

// Findings by file, then the verdict. `quiet` leaves warnings out.
std::string report_text(const CheckReport& report, bool strict, bool quiet);

// {"submission_path","edition","clean",…,"results":[{"rule","severity","message","path","line",…}]}
// It has the keys of the reference checker's report, and ours in addition.
Json report_json(const CheckReport& report, bool strict);

Json report_sarif(const CheckReport& report);

// One test case for each rule; its errors (and warnings when strict) are its failure.
std::string report_junit(const CheckReport& report, bool strict);

// The catalogue for documents: a markdown table for each group. `of_inference`: the rules of a tree
// of MLPerf Inference.
std::string rules_markdown(bool of_inference);
Json rules_json(bool of_inference);

// One line: "found; expected …".
std::string message_of(const Finding& finding);

}  // namespace assay::rules
