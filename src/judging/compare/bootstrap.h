// Block bootstrap of one run: how far a percentile or a rate would vary if the run were repeated.
//
// Tokens of a stream are not independent, nor are streams that were in flight together: a server's
// step serves all of them, and a slow second slows all of them. So it resamples neither tokens nor
// streams but blocks of time with the whole streams that began in them. A block holds as many
// queries as were in flight on average, and at least the cube root of their number (Künsch 1989;
// Hall, Horowitz and Jing 1995 for the rate). The memory of a server for a slow moment is unknown,
// so blocks twice and four times as long are tried too, while at least ten remain. The largest
// deviation is the result.
//
// It keeps the standard deviation of the statistic's logarithm over the replicates. Pure, except
// for the generator that the caller passes in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "compare/query_rows.h"
#include "score/uncertainty.h"

namespace assay::compare {

// Half-open ranges of rows, in order.
struct TimeBlocks {
  std::vector<std::size_t> begins{};  // blocks + 1
  std::size_t count() const { return begins.empty() ? 0 : begins.size() - 1; }
};
// Shortest blocks first; at least one entry. REQUIRES: rows ascend by sent.
std::vector<TimeBlocks> time_blocks(const std::vector<QueryRow>& rows);

// A statistic's value and the deviation of its logarithm.
struct Estimate {
  double value = 0;  // 0: no value
  double log_deviation = 0;
  std::size_t blocks = 0;
  std::uint64_t values = 0;  // number of values in it
};

// `count` values of `value` in block `block`.
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

// A figure of a run that contains block i times[i] times; 0 if it has no value.
struct Statistic {
  std::function<double(const std::vector<std::uint32_t>& times)> of{};
  std::size_t blocks = 0;
  std::uint64_t values = 0;  // number of values in it
};
// The `fraction` quantile: the least value with at least this share at or below it.
Statistic quantile_of(std::vector<BlockedValue> values, std::size_t blocks, double fraction);
Statistic rate_of(std::vector<BlockedRate> blocks);

Estimate bootstrap(const Statistic& statistic, std::size_t replicates, Rng& rng);
// Bootstraps b / a, where block i of both was measured at nearly the same time: a draw takes both.
// REQUIRES: equal numbers of blocks.
Estimate bootstrap_ratio(const Statistic& a, const Statistic& b, std::size_t replicates, Rng& rng);

using score::student_quantile;
using score::student_tail;

}  // namespace assay::compare
