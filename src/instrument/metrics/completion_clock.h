// CompletionClock: how fast the queries of a closed loop ended. Where replies take equally long,
// all slots of the loop end together, and the time between two single completions is 0 or a whole
// service time. So the instant "after k completions" is the mean over as many completions as there
// are slots, those before the first being the start: each slot is counted once, and the rate of a
// block does not depend on where it cuts a burst. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::metrics {

struct Issued;

class CompletionClock {
 public:
  // Queries without an end are left out. REQUIRES: slots > 0.
  CompletionClock(std::span<const Issued> queries, std::uint32_t slots);

  // Successful queries a second among completions `from` to `to`, exclusive, in the order of their
  // ends. 0 where nothing is known.
  double rate(std::size_t from, std::size_t to) const;

 private:
  double instant(std::size_t completions) const;

  std::size_t slots_;
  std::vector<double> instants_{0};  // ns since the first query was sent, summed
  std::vector<std::size_t> ok_{0};   // successful ones among the first
};

}  // namespace assay::metrics
