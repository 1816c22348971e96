// Conversations: the state of a replay: which conversations are under way, which turn of each is
// due next, and what a reply or a failure means for later turns. The loop asks for due turns and
// reports ended queries; this class sends nothing and reads no clock. One thread.
//
// A turn is due its delay after the last reply that it waits for. One that waits for a turn which
// failed, directly or through others, is given up; the trajectory's other branches go on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "base/time.h"
#include "domain/plan.h"
#include "domain/query.h"

namespace assay::run {

class Conversations {
 public:
  // `all` must outlive the object. Begins the first `at_once` of them at `now`.
  Conversations(const std::vector<Conversation>& all, std::uint32_t at_once, Instant now);

  // A turn that may be sent.
  struct DueTurn {
    std::uint32_t slot = 0;
    std::uint32_t turn = 0;  // index into the conversation's turns
    std::uint32_t sample = 0;
    Instant at{};
  };
  // The earliest due turn, of several the one in the first slot; nullopt while every conversation
  // waits for a reply. Takes the same time however many slots there are.
  std::optional<DueTurn> next() const;
  // `turn`, which next() returned last, was sent as `query`.
  void sent(const DueTurn& turn, const Query& query);

  // A query ended. If it failed, returns the samples of the turns that are given up with it.
  std::vector<std::uint32_t> ended(const Query& query, Instant done, bool ok);

  // A slot has no conversation left to begin: fewer than `at_once` are under way from now on.
  bool thinning() const { return thinning_; }
  // No turn is left to send.
  bool finished() const;

 private:
  // A turn of a trajectory that waits for others.
  struct Waiting {
    std::uint32_t missing = 0;  // replies that it still waits for
    bool given_up = false;
    Instant last{};                     // the latest end of those that came
    std::vector<std::uint32_t> next{};  // turns that wait for it
  };
  struct Slot {
    const Conversation* conversation = nullptr;  // null: has none left
    std::size_t left = 0;                        // turns that have not ended
    std::vector<Waiting> waiting{};              // of a trajectory; empty: turn after turn
  };
  // A turn that waits for no reply.
  struct Due {
    Instant at{};
    std::uint32_t slot = 0;
    std::uint32_t turn = 0;
  };
  // For a heap whose top is due first.
  struct Later {
    bool operator()(const Due& a, const Due& b) const {
      if (a.at != b.at) return b.at < a.at;
      return a.slot != b.slot ? b.slot < a.slot : b.turn < a.turn;
    }
  };
  struct UnderWay {
    std::uint32_t slot = 0;
    std::uint32_t turn = 0;
  };
  void begin_next(std::uint32_t slot, Instant now);
  void begin_trajectory(std::uint32_t slot, Instant now);
  void becomes_due(std::uint32_t slot, std::size_t turn, Instant at);
  // What the end of a turn means for those that wait for it; returns the samples given up.
  std::vector<std::uint32_t> turn_ended(const UnderWay& one, Instant done, bool ok);
  std::vector<std::uint32_t> node_ended(const UnderWay& one, Instant done, bool ok);

  const std::vector<Conversation>& all_;
  std::size_t begun_ = 0;
  std::vector<Slot> slots_{};
  std::vector<Due> due_{};     // a heap by Later
  std::size_t under_way_ = 0;  // slots with a conversation
  FlatMap<UnderWay> in_flight_{64};
  bool thinning_ = false;
};

}  // namespace assay::run
