// The test query: one query before a load, sent in the same way as the load, so that a wrong key,
// model, path or field gives one refusal with advice instead of many (docs/decisions/0053).
//
// It uses the row with which the plan begins, salted where that is text, so that no counted query
// finds its prompt in a cache. It ends at the reply's end, or soon after its stream has begun. It
// is in no count and in no log; its result is in the run's facts, as `preflight`. If the endpoint
// refuses a field that Assay sends by default, that field is dropped from the query and then from
// the load; if it refuses the limit of a reply's length, the limit's other name is used. With
// several endpoints each gets one, all at the same time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/event.h"
#include "domain/request_spec.h"
#include "plan/config.h"
#include "plan/make_plan.h"
#include "plan/unasked_fields.h"
#include "run/run.h"

namespace assay::campaign {

// The result; one for all runs of a command.
struct Preflight {
  bool sent = false;
  plan::Adaptation adaptation{};  // to the fields that the endpoints refuse
  // {outcome, http_status, detail, took_ms, left_out, limit_field?}; with several endpoints also
  // endpoints: [{endpoint, outcome, http_status, detail}], and the whole's values are those of the
  // first failure, if any; null if no query was sent.
  Json facts{};
};

struct TestAnswer {
  Outcome outcome = Outcome::cancelled;
  int http_status = 0;
  std::string detail{};
  bool began = false;  // its stream began
  bool ended = false;  // its reply ended
};

// The reason why no load may follow, with advice; nullopt if it may. Temporary failures (a busy or
// a slow server, a row that is too long) are not refusals.
std::optional<Error> refusal_of(const TestAnswer& answer, const Endpoints& endpoints);

// Whether the answer refuses this field name for the length limit, rather than its value.
bool refuses_limit(const TestAnswer& answer, std::string_view field);

// The fields among `fields` that the answer refuses.
std::vector<std::string> refused_fields(const TestAnswer& answer,
                                        const std::vector<std::string>& fields);

// The facts of one endpoint, for plans that give each endpoint its own run.
Json preflight_of(const Json& facts, std::size_t endpoint);

// Sends it and waits at most one minute. The error is an endpoint that cannot be reached or that
// refuses; a stop through `control` is not an error.
Result<Preflight> send_test_query(const plan::Config& config, const plan::PlanBundle& bundle,
                                  const std::string& ca_file, const run::Control& control);

}  // namespace assay::campaign
