// The failed share of a run, and its cause: a report's first line and a run's exit code depend on
// it. A query that the client ended (an interrupt, the drain's time limit) did not fail, and
// neither did one in flight when the run was cut off; these count neither as failed nor as tried.
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "metrics/point.h"

namespace assay::metrics {

inline constexpr double kFailedShareSaid = 0.01;  // above this a report begins with it
inline constexpr double kFailedShareMost = 0.10;  // above this the run counts as failed

struct FailedShare {
  std::uint64_t failed = 0;
  std::uint64_t tried = 0;      // failed or succeeded
  bool none_succeeded = false;  // though some were sent, and not all given up by us unheard

  double share() const {
    return tried == 0 ? 0 : static_cast<double>(failed) / static_cast<double>(tried);
  }
  bool said() const { return none_succeeded || share() > kFailedShareSaid; }
  bool too_many() const { return none_succeeded || share() > kFailedShareMost; }
};

// Over the performance phases; over all, where a run has none.
FailedShare failed_share(const Point& point);

// "92.0 % of the queries failed, 184 of 200: HTTP 500: overloaded"; "" where !said(). The
// endpoint's own text is unchanged in it.
std::string failed_words(const Point& point);

// The commonest cause of failure: "HTTP 401: Incorrect API key provided"; "" without failures.
std::string failure_cause(const Point& point);

}  // namespace assay::metrics
