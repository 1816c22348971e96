// Fields of a request that Assay sends though the config does not ask for them. An endpoint that
// refuses one of them is asked without it. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/config.h"
#include "plan/make_plan.h"

namespace assay::plan {

// ignore_eos (with an output length), stream_options, and of completions min_tokens and
// skip_special_tokens: those of them that neither a setting nor extra_body names.
std::vector<std::string> unasked_fields(const Config& config);

// Takes the fields out of every request of the plan, but where a dataset's own extra_body has them.
void leave_out(const std::vector<std::string>& fields, PlanBundle& bundle);

}  // namespace assay::plan
