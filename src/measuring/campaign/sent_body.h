// The body of a recorded query, made again as it was sent, salt included. Pure; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "domain/query.h"
#include "plan/make_plan.h"

namespace assay::campaign {

Result<std::string> sent_body(const plan::PlanBundle& bundle, const Query& query);

}  // namespace assay::campaign
