#include "run/users.h"

#include <algorithm>

#include "base/check.h"

namespace assay::run {

Users::Users(const std::vector<UserLoop>& loops, Instant start)
    : loops_(loops), asked_(loops.size()) {
  for (std::uint32_t i = 0; i < loops.size(); ++i) {
    const UserLoop& loop = loops[i];
    CHECK(!loop.rows.empty() && loop.stride > 0);
    const double apart = static_cast<double>(loop.think.ns) / static_cast<double>(loop.users);
    for (std::uint64_t user = loop.first; user < loop.users; user += loop.stride) {
      becomes_due(i,
                  start + Duration{static_cast<std::int64_t>(apart * static_cast<double>(user))});
    }
  }
}

void Users::becomes_due(std::uint32_t loop, Instant at) {
  due_.push_back({at, loop});
  std::ranges::push_heap(due_, Later{});
}

std::uint32_t Users::take(const Query& query) {
  CHECK(!due_.empty());
  const std::uint32_t of = due_.front().loop;
  std::ranges::pop_heap(due_, Later{});
  due_.pop_back();
  asking_.insert(query_key(query)) = of;
  const UserLoop& loop = loops_[of];
  return loop.rows[(loop.first + asked_[of]++ * loop.stride) % loop.rows.size()];
}

void Users::ended(const Query& query, Instant done) {
  const std::uint32_t* const found = asking_.find(query_key(query));
  if (found == nullptr) return;
  const std::uint32_t loop = *found;
  asking_.erase(query_key(query));
  becomes_due(loop, done + loops_[loop].think);
}

}  // namespace assay::run
