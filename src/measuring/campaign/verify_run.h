// verify_run checks a run folder against its event log. It computes every published figure again
// from the events, checks every file against the manifest, and, with a tokenizer, counts every
// recorded reply again. A folder of the reference client is checked as verify_reference.h says.
// One thread.
#pragma once

#include <string>

#include "base/result.h"
#include "campaign/verified_run.h"

namespace assay::campaign {

// `tokenizer`: a folder; "" does not count again. Fails if the folder holds no run.
Result<VerifiedRun> verify_run(const std::string& folder, const std::string& tokenizer);

}  // namespace assay::campaign
