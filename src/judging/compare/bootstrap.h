// Block bootstrap of one run: how far a percentile or a rate would move if the run were repeated.
//
// Tokens of a stream are not independent, and neither are streams that were in flight together: a
// server's step serves all of them, and a slow second is slow for everybody. So what is drawn again
// is neither tokens nor streams but blocks of time with the whole streams that began in them. A
// block holds as many queries as were in flight on average, and at least the cube root of their
// number (Künsch 1989; Hall, Horowitz and Jing 1995 for the rate). How long a server remembers a
// slow moment is not known beforehand, so the same is done with blocks twice and four times as
// long, while ten remain, and the largest deviation stands.
//
// What is kept of the replicates is the standard deviation of the statistic's logarithm. Pure but
// for the generator that is handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "compare/query_rows.h"

namespace assay::compare {

// Half-open ranges of rows, in order.
struct TimeBlocks {
  std::vector<std::size_t> begins{};  // blocks + 1
  std::size_t count() const { return begins.empty() ? 0 : begins.size() - 1; }
};
// Shortest first; at least one. REQUIRES: rows ascend by sent.
std::vector<TimeBlocks> time_blocks(const std::vector<QueryRow>& rows);

// A statistic's value and the deviation of its logarithm.
struct Estimate {
  double value = 0;  // 0: there is none
  double log_deviation = 0;
  std::size_t blocks = 0;
  std::uint64_t values = 0;  // it is made of
};

// `count` values of `value` that block `block` holds.
struct BlockedValue {
  double value = 0;
  std::uint32_t block = 0;
  std::uint32_t count = 1;
};
// Sum of `amount` over sum of `seconds`.
struct BlockedRate {
  double amount = 0;
  double seconds = 0;
};

// A figure of a run in which block i is there times[i] times; 0 where there is none.
struct Statistic {
  std::function<double(const std::vector<std::uint32_t>& times)> of{};
  std::size_t blocks = 0;
  std::uint64_t values = 0;  // it is made of
};
// The `fraction` quantile: the least value with at least that share at or below it.
Statistic quantile_of(std::vector<BlockedValue> values, std::size_t blocks, double fraction);
Statistic rate_of(std::vector<BlockedRate> blocks);

Estimate bootstrap(const Statistic& statistic, std::size_t replicates, Rng& rng);
// Of b / a, where block i of both was measured at nearly the same time: a draw takes both.
// REQUIRES: as many blocks.
Estimate bootstrap_ratio(const Statistic& a, const Statistic& b, std::size_t replicates, Rng& rng);

// Student's t: the chance of a value above t, and the value that a chance of `tail` lies above.
// REQUIRES: degrees >= 1; 0 < tail < 0.5.
double student_tail(double t, double degrees);
double student_quantile(double tail, double degrees);

}  // namespace assay::compare
