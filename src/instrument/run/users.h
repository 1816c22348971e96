// Users: the state of closed loops (domain/plan.h, UserLoop): who asks next, when, and which row.
// The loop asks for it and reports ended queries; this class sends nothing and reads no clock. One
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "base/time.h"
#include "domain/plan.h"
#include "domain/query.h"

namespace assay::run {

class Users {
 public:
  // `loops` must outlive the object. `start`: of the phase.
  Users(const std::vector<UserLoop>& loops, Instant start);

  // When the next user asks, of several at one instant the one of the earlier loop; Instant::max()
  // while all wait for replies.
  Instant next() const { return due_.empty() ? Instant::max() : due_.front().at; }
  // That user asks as `query`; returns the row. REQUIRES: next() is an instant.
  std::uint32_t take(const Query& query);
  // A query ended, of a user or not.
  void ended(const Query& query, Instant done);

 private:
  struct Due {
    Instant at{};
    std::uint32_t loop = 0;
  };
  // For a heap whose top is due first.
  struct Later {
    bool operator()(const Due& a, const Due& b) const {
      return a.at != b.at ? b.at < a.at : b.loop < a.loop;
    }
  };
  void becomes_due(std::uint32_t loop, Instant at);

  const std::vector<UserLoop>& loops_;
  std::vector<std::uint64_t> asked_;   // by loop
  std::vector<Due> due_{};             // a heap by Later
  FlatMap<std::uint32_t> asking_{64};  // the loop of a query under way
};

}  // namespace assay::run
