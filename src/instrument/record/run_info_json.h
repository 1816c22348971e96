// RunInfo and RunEnd as JSON: the first and the last block of an event log, and assay/run.json.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "domain/run_info.h"

namespace assay::record {

Json to_json(const RunInfo& info);
Result<RunInfo> run_info_from(const Json& json);

Json to_json(const RunEnd& end);
Result<RunEnd> run_end_from(const Json& json);

}  // namespace assay::record
