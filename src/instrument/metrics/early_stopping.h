// Early-stopping estimates: a value that the true percentile does not exceed with 99 % confidence,
// from a run of any length. t of n independent values lie above the estimate. If the percentile
// were higher, the chance of so few would be I_p(n − t, t + 1), the regularised incomplete beta
// function; the estimate is the highest value for which that chance is below 1 %.
//
// The rule and its numerics are those of MLPerf LoadGen and the reference client (confidence 0.99,
// tolerance 0), so that equal values give equal estimates. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace assay::metrics {

// I_x(a, b), by its continued fraction (Numerical Recipes, section 6.4).
double incomplete_beta(double a, double b, double x);

// The fewest values at or below the percentile that allow `above` values over it. `p` is a
// fraction. This is F(t) of the rules: F(1) + 1 values are needed for any estimate.
std::uint64_t least_below(double p, std::uint64_t above);

// How many of n values may lie at or above the estimate: 1 is the highest value. 0: n is too small.
std::uint64_t values_above(double p, std::uint64_t n);

// `percentile` as in 99.0. `sorted` ascends.
std::optional<double> early_stopping_estimate(std::span<const std::int64_t> sorted,
                                              double percentile);
std::optional<double> early_stopping_estimate(std::span<const double> sorted, double percentile);

}  // namespace assay::metrics
