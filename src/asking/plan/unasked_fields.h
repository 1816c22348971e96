// Fields of a request that Assay sends although the config does not ask for them. If an endpoint
// refuses one, requests go without it; the limit of a reply's length gets its other name instead.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "plan/config.h"
#include "plan/make_plan.h"

namespace assay::plan {

// Returns those of these fields that neither a setting nor extra_body names: ignore_eos (with an
// output length), stream_options, and for completions min_tokens and skip_special_tokens.
std::vector<std::string> unasked_fields(const Config& config);

// Returns the other name of the limit of a reply's length (max_completion_tokens, max_tokens); ""
// if the API has only one name, or extra_body has either.
std::string other_limit_field(const Config& config);

// Changes of the requests that an endpoint was found to need.
struct Adaptation {
  std::vector<std::string> left_out{};
  std::string limit_field{};  // "": the API's own
  bool operator==(const Adaptation&) const = default;
};
// Reads the adaptation from a run's facts, under `preflight`, so that its plan can be made again.
Adaptation adaptation_of(const Json& preflight);
void adapt(const Adaptation& to, PlanBundle& bundle);

// Removes the fields from every request of the plan, except those in a dataset's own extra_body.
void leave_out(const std::vector<std::string>& fields, PlanBundle& bundle);

}  // namespace assay::plan
