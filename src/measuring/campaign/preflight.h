// The test query: one query before a load, sent as the load will send it, so that a wrong key,
// model, path or field is one refusal with advice and not a load of them (docs/decisions/0053).
//
// It asks the row with which the plan begins, salted where that is text, so that no counted query
// finds its prompt in a cache. It ends at the reply's end, or soon after its stream has begun. It
// is in no count and in no log; what came of it is in the run's facts, as `preflight`. A field that
// Assay sends unasked, and that the endpoint refuses, is left out of it and then of the load; the
// limit of a reply's length goes by its other name where its own is refused. Of several endpoints
// each gets one, all at the same time.
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

// What came of it; one for all runs of a command.
struct Preflight {
  bool sent = false;
  plan::Adaptation adaptation{};  // to what the endpoints refuse
  // {outcome, http_status, detail, took_ms, left_out, limit_field?}, of several endpoints also
  // endpoints: [{endpoint, outcome, http_status, detail}], and the first that failed, if one did,
  // is the whole's; null where none was sent.
  Json facts{};
};

struct TestAnswer {
  Outcome outcome = Outcome::cancelled;
  int http_status = 0;
  std::string detail{};
  bool began = false;  // its stream did
  bool ended = false;  // so did it
};

// Why no load may follow, with what to change; nullopt where it may. What passes (a busy or a slow
// server, a row that is too long) is no refusal.
std::optional<Error> refusal_of(const TestAnswer& answer, const Endpoints& endpoints);

// Whether the answer refuses this name for the limit of a reply's length, and not its value.
bool refuses_limit(const TestAnswer& answer, std::string_view field);

// Which of `fields` the answer refuses.
std::vector<std::string> refused_fields(const TestAnswer& answer,
                                        const std::vector<std::string>& fields);

// The facts of one endpoint's own, where each has a run of its own.
Json preflight_of(const Json& facts, std::size_t endpoint);

// Sends it and waits, one minute at most. An error is an endpoint that cannot be reached or that
// refuses; a stop that `control` asks for is none.
Result<Preflight> send_test_query(const plan::Config& config, const plan::PlanBundle& bundle,
                                  const std::string& ca_file, const run::Control& control);

}  // namespace assay::campaign
