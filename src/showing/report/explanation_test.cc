// Every verdict and cause that is printed has an explanation under its printed name.
#include "report/explanation.h"

#include <gtest/gtest.h>

#include "audit/innocence.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/json.h"
#include "compare/accuracy.h"
#include "compare/compare.h"
#include "domain/event.h"
#include "metrics/steady_state.h"

namespace assay::report {
namespace {

void expect_explained(std::string_view code, std::string_view kind) {
  const auto found = explain({.code = std::string(code), .json = true});
  ASSERT_TRUE(found) << found.error().message;
  const Json list = Json::parse(*found).value();
  for (const Json& one : list.items()) {
    if (one["kind"].as_string() == kind && !one["means"].as_string().empty()) return;
  }
  ADD_FAILURE() << kind << " '" << code << "' has no explanation";
}

TEST(Explanation, each_verdict_and_cause_has_one) {
  for (int i = 1; i < kOutcomes; ++i) {
    expect_explained(to_string(static_cast<Outcome>(i)), "failed query");
  }
  using audit::ClientLimited;
  for (const auto verdict : {ClientLimited::no, ClientLimited::suspected, ClientLimited::yes}) {
    expect_explained(audit::to_string(verdict), "client_limited");
  }
  using metrics::WindowStatus;
  for (const auto status : {WindowStatus::windowable, WindowStatus::insufficient_duration,
                            WindowStatus::insufficient_passes, WindowStatus::partial_dataset}) {
    expect_explained(metrics::to_string(status), "steady state, status");
  }
  using metrics::SteadyVerdict;
  for (const auto verdict :
       {SteadyVerdict::steady, SteadyVerdict::drifting_up, SteadyVerdict::drifting_down,
        SteadyVerdict::anomaly, SteadyVerdict::not_found}) {
    expect_explained(metrics::to_string(verdict), "steady state, verdict");
  }
  using compare::MetricVerdict;
  for (const auto verdict : {MetricVerdict::better, MetricVerdict::same, MetricVerdict::unresolved,
                             MetricVerdict::worse}) {
    expect_explained(compare::to_string(verdict), "compare");
  }
  using compare::AccuracyVerdict;
  for (const auto verdict : {AccuracyVerdict::better, AccuracyVerdict::as_good,
                             AccuracyVerdict::unresolved, AccuracyVerdict::worse}) {
    expect_explained(compare::to_string(verdict), "compare --accuracy");
  }
  expect_explained("0", "exit code");
  for (const ExitCode code : kGravest) {
    expect_explained(format("{}", exit_code(code)), "exit code");
  }
}

TEST(Explanation, a_code_is_found_however_it_is_typed) {
  const auto found = [](const char* code) {
    return Json::parse(explain({.code = code, .json = true}).value()).value().size();
  };
  EXPECT_EQ(found("steady-state"), 1U);
  EXPECT_EQ(found("Timed Out"), 1U);
  EXPECT_EQ(found("worse"), 2U) << "in speed and in accuracy";
  EXPECT_FALSE(explain({.code = "nothing"}));
}

}  // namespace
}  // namespace assay::report
