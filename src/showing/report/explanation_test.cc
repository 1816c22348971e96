// Every verdict and cause that is printed has an explanation under its printed name.
#include "report/explanation.h"

#include <gtest/gtest.h>

#include "audit/innocence.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "compare/accuracy.h"
#include "compare/compare.h"
#include "domain/event.h"
#include "metrics/steady_state.h"

namespace assay::report {
namespace {

void expect_explained(std::string_view code, std::string_view kind) {
  for (const Explanation& one : explanations_of(code)) {
    if (one.kind == kind && !one.means.empty()) return;
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
  EXPECT_EQ(explanations_of("steady-state").size(), 1U);
  EXPECT_EQ(explanations_of("Timed Out").size(), 1U);
  EXPECT_EQ(explanations_of("worse").size(), 2U) << "in speed and in accuracy";
  EXPECT_TRUE(explanations_of("nothing").empty());
}

}  // namespace
}  // namespace assay::report
