// Fields of a request that Assay sends though the config does not ask for them. An endpoint that
// refuses one of them is asked without it, or, for the limit of a reply's length, by the other name
// that servers know for it. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "plan/config.h"
#include "plan/make_plan.h"

namespace assay::plan {

// ignore_eos (with an output length), stream_options, and of completions min_tokens and
// skip_special_tokens: those of them that neither a setting nor extra_body names.
std::vector<std::string> unasked_fields(const Config& config);

// The other name of the field that carries the limit of a reply's length (max_completion_tokens,
// max_tokens); "" where the API has one name, or extra_body names either.
std::string other_limit_field(const Config& config);

// What an endpoint was found to take in place of what the config alone would send.
struct Adaptation {
  std::vector<std::string> left_out{};
  std::string limit_field{};  // ""; the API's own
  bool operator==(const Adaptation&) const = default;
};
// As the facts of a run have it, under `preflight`: what it was adapted to, so that its plan can be
// made again.
Adaptation adaptation_of(const Json& preflight);
void adapt(const Adaptation& to, PlanBundle& bundle);

// Takes the fields out of every request of the plan, but where a dataset's own extra_body has them.
void leave_out(const std::vector<std::string>& fields, PlanBundle& bundle);

}  // namespace assay::plan
