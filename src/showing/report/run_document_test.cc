#include "report/run_document.h"

#include <gtest/gtest.h>

#include <tuple>

namespace assay::report {
namespace {

// qps, what is shown as completed, and the number of warnings.
std::tuple<double, std::int64_t, std::size_t> told(Json summary) {
  summary.set("duration_ns", 10'000'000'000);
  const Json run = run_document(summary);
  return {point_document(summary)["qps"].as_double(), run["counts"]["completed"].as_int(),
          run["warnings"].size()};
}

Json counts(int issued, int completed, int failed) {
  return Json()
      .set("n_samples_issued", issued)
      .set("n_samples_completed", completed)
      .set("n_samples_failed", failed);
}

TEST(RunDocument, failures_that_the_reference_client_counts_as_completed_are_taken_off) {
  EXPECT_EQ(told(counts(100, 100, 16)), std::tuple(8.4, 84, 1u));
  EXPECT_EQ(told(counts(100, 84, 16)), std::tuple(8.4, 84, 0u)) << "counted apart";
  EXPECT_EQ(told(counts(100, 90, 0)), std::tuple(9.0, 90, 0u)) << "cut off: 10 did not end";
  EXPECT_EQ(told(counts(10, 10, 20)), std::tuple(0.0, 0, 1u)) << "no count below none";
  EXPECT_EQ(told(counts(100, 100, 16).set("assay", Json::object())), std::tuple(10.0, 100, 0u))
      << "Assay's own never has them";
}

}  // namespace
}  // namespace assay::report
