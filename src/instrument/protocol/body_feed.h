// BodyFeed: makes the bodies of one measuring thread's queries in a thread of its own, a little
// ahead of the queries, in the plan's order, for datasets whose rows are made on request. So a run
// of a million prompts begins at once, and holds only a few thousand of them.
//
// The measuring thread never waits: it makes a missing body itself (the feed is behind, a phase
// ended early, a query goes out again), and made_here() counts it.
//
// body(), get_ahead() and made_here() belong to the measuring thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "domain/plan.h"
#include "protocol/prepared_requests.h"

namespace assay::protocol {

class BodyFeed {
 public:
  // `plan`: the measuring thread's own. REQUIRES: a dataset of it makes its rows on request.
  BodyFeed(std::shared_ptr<const PreparedBodies> bodies, const Plan& plan);
  ~BodyFeed();
  BodyFeed(const BodyFeed&) = delete;
  BodyFeed& operator=(const BodyFeed&) = delete;

  // Valid until the next call for another query.
  const PreparedBodies::Body& body(const Query& query);
  // Waits until no more may be made ahead, or until `limit`.
  void get_ahead(Clock& clock, Instant limit);

  std::uint64_t made_here() const { return made_here_; }
  std::size_t room() const { return slots_.size(); }  // bodies that are held at once, at most

 private:
  // `key` is the owner of the body: 0, the feed; kTaken, the thread that took it; else any taker.
  struct Slot {
    std::atomic<std::uint64_t> key{0};
    PreparedBodies::Body body{};
  };
  struct Phase {
    QueryStream queries;
    std::uint64_t count = 0;  // of this thread's
    const PreparedBodies::Variant* variant = nullptr;
    bool salted = false;
    std::size_t offset = 0;  // of its first query's slot: behind those of the phase before
  };

  void make_all();
  // False where the phase is over for this thread, or the feed must end.
  bool wait_for_room(std::size_t phase, std::uint64_t ordinal);
  // The first query that the feed makes; the measuring thread makes earlier ones.
  std::uint64_t skip_to(std::size_t phase, std::uint64_t ordinal);
  Slot& slot_of(std::size_t phase, std::uint64_t ordinal) {
    return slots_[(phases_[phase].offset + ordinal) % slots_.size()];
  }
  void begin_use(const Query& query);

  std::shared_ptr<const PreparedBodies> bodies_;
  std::vector<Phase> phases_{};
  std::uint32_t stride_;
  std::vector<Slot> slots_;
  // The furthest query so far: phase << 32 | ordinal + 1.
  std::atomic<std::uint64_t> reached_{0};
  std::atomic<std::uint32_t> steps_{0};  // changes when the feed should look again
  std::atomic<bool> stop_{false};
  std::atomic<bool> full_{false};

  std::uint64_t leap_ = 0;  // of the feed

  // For the measuring thread only.
  std::uint64_t current_ = 0;
  Slot* taken_ = nullptr;
  PreparedBodies::Body own_{};
  std::uint64_t made_here_ = 0;

  std::thread thread_{};
};

}  // namespace assay::protocol
