// How much of a run failed, and why: what a report says first, and what a run's exit code hangs on.
// A query that we gave up ourselves (an interrupt, the drain's time limit) did not fail, nor did
// one that was in flight when the run was cut off; they count neither as failed nor as tried.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/point.h"

namespace assay::metrics {

inline constexpr double kFailedShareSaid = 0.01;  // above this a report says so first
inline constexpr double kFailedShareMost = 0.10;  // above this the run is one that failed

struct FailedShare {
  std::uint64_t failed = 0;
  std::uint64_t tried = 0;      // those that failed or succeeded
  bool none_succeeded = false;  // though some were sent, and not all given up by us unheard

  double share() const {
    return tried == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(tried);
  }
  bool said() const { return none_succeeded || share() > kFailedShareSaid; }
  bool too_many() const { return none_succeeded || share() > kFailedShareMost; }
};

// Of the performance phases; of all, where a run has none.
FailedShare failed_share(const Point& point);

// "92.0 % of the queries failed, 184 of 200: HTTP 500: overloaded"; "" where !said(). What the
// endpoint wrote is in it as it came.
std::string failed_words(const Point& point);

// Why most of the failed queries failed: "HTTP 401: Incorrect API key provided"; "" where none did.
std::string failure_cause(const Point& point);

}  // namespace assay::metrics
