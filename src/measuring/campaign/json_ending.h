// A program that reads `--json` gets one document for every ending: where a course fails before it
// has a result (a bad URL, a refused test query, no disk), the document is the ending alone.
#pragma once

#include <functional>

#include "base/result.h"
#include "base/talk.h"

namespace assay::campaign {

// Runs the course with a talk of the same words. If it returns an error and has printed nothing,
// prints {"exit": {code, causes}} of that error. The error is returned either way.
Result<int> end_in_json(const Talk& talk, const std::function<Result<int>(const Talk&)>& course);

}  // namespace assay::campaign
