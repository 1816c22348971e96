#include "domain/plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/enum_name.h"

namespace assay {

std::string_view to_string(PhaseKind kind) { return enum_name(kind); }

namespace {

// How many of 0, 1, …, total − 1 equal `index` modulo `count`.
template <typename T>
T share(T total, std::uint32_t index, std::uint32_t count) {
  if (total == std::numeric_limits<T>::max()) return total;
  return static_cast<T>(total / count + (total % count > index ? 1 : 0));
}

// Gives whole conversations to as many shards as have a slot. Call it before the limits are split.
void shard_conversations(PhasePlan& phase, std::uint32_t index, std::uint32_t count) {
  if (!phase.replay) return;
  const std::uint32_t used = std::min(count, phase.limits.front().in_flight_max);
  std::vector<Conversation> mine;
  for (std::size_t k = index; index < used && k < phase.conversations.size(); k += used) {
    mine.push_back(std::move(phase.conversations[k]));
  }
  phase.conversations = std::move(mine);
}

}  // namespace

Plan shard(const Plan& plan, std::uint32_t index, std::uint32_t count) {
  CHECK(count > 0 && index < count && plan.shard_count == 1);
  Plan out = plan;
  out.shard_index = index;
  out.shard_count = count;
  for (PhasePlan& phase : out.phases) {
    std::vector<Duration> mine;
    for (std::size_t k = index; k < phase.arrivals.size(); k += count) {
      mine.push_back(phase.arrivals[k]);
    }
    phase.arrivals = std::move(mine);
    shard_conversations(phase, index, count);
    for (UserLoop& loop : phase.loops) {
      loop.first = index;
      loop.stride = count;
    }
    for (LimitStep& step : phase.limits) {
      step.in_flight_max = share(step.in_flight_max, index, count);
    }
    phase.stop.queries_min = share(phase.stop.queries_min, index, count);
    phase.stop.queries_max = share(phase.stop.queries_max, index, count);
    // `pass` keeps the whole plan's size: the loop tests its global index against it.
  }
  return out;
}

std::uint64_t users_of(const PhasePlan& phase) {
  std::uint64_t users = 0;
  for (const UserLoop& loop : phase.loops) users += loop.users;
  return users;
}

QueryStream::QueryStream(const PhasePlan& phase, std::uint16_t phase_index,
                         std::uint32_t shard_index, std::uint32_t shard_count)
    : order_(phase.order),
      salts_(phase.salt_seed),
      salted_(phase.salted),
      phase_(phase_index),
      first_(shard_index),
      stride_(shard_count) {}

Query QueryStream::draw() {
  Query query{.index = index_, .phase = phase_, .salted = salted_, .sample = order_.next()};
  // randbytes(8) is getrandbits(64), little end first; as hex, the first byte comes first.
  if (salted_) query.salt = __builtin_bswap64(salts_.bits(64));
  ++index_;
  return query;
}

Query QueryStream::next() {
  const std::uint32_t skip = index_ == 0 ? first_ : stride_ - 1;
  for (std::uint32_t i = 0; i < skip; ++i) draw();
  return draw();
}

}  // namespace assay
