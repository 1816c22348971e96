// The test query: one query before a load, sent as the load will send it, so that a wrong key,
// model, path or field is one refusal with advice and not a load of them (docs/decisions/0053).
//
// It asks the row with which the plan begins, salted where that is text, so that no counted query
// finds its prompt in a cache. It ends at the reply's end, or soon after its stream has begun. It
// is in no count and in no log; what came of it is in the run's facts, as `preflight`. A field that
// Assay sends unasked, and that the endpoint refuses, is left out of it and then of the load.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "domain/event.h"
#include "domain/request_spec.h"
#include "plan/config.h"
#include "plan/make_plan.h"
#include "run/run.h"

namespace assay::campaign {

// What came of it; one for all runs of a command.
struct Preflight {
  bool sent = false;
  std::vector<std::string> left_out{};  // fields that the endpoint refuses
  Json facts{};  // {outcome, http_status, detail, took_ms, left_out}; null where none was sent
};

struct TestAnswer {
  Outcome outcome = Outcome::cancelled;
  int http_status = 0;
  std::string detail{};
  bool began = false;  // its stream did
};

// Why no load may follow, with what to change; nullopt where it may. What passes (a busy or a slow
// server, a row that is too long) is no refusal.
std::optional<Error> refusal_of(const TestAnswer& answer, const Endpoints& endpoints);

// Which of `fields` the answer refuses.
std::vector<std::string> refused_fields(const TestAnswer& answer,
                                        const std::vector<std::string>& fields);

// Sends it and waits, one minute at most. An error is an endpoint that cannot be reached or that
// refuses; a stop that `control` asks for is none.
Result<Preflight> send_test_query(const plan::Config& config, const plan::PlanBundle& bundle,
                                  const std::string& ca_file, const run::Control& control);

}  // namespace assay::campaign
