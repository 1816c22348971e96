// Desk: where a system under test hands in its completions, from any thread, and where the loop of
// a run takes them out. Each issued sample has a slot; its id names the desk, the slot and how
// often the slot was used, so that a completion which comes twice, late or for an id that was never
// given out is recognised and changes nothing.
//
// One short lock for each call, whatever the number of its responses. The bytes of an answer are
// copied outside the lock, and only those that will be logged.
//
// Threads: complete() and first_token() from any; the rest from the loop that owns the test.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/time.h"
#include "sut/mlperf/loadgen.h"
#include "sut/mlperf/query_sample.h"

namespace assay::sut {

enum class Misuse : std::uint8_t {
  completed_twice,
  first_token_twice,
  first_token_late,  // after the sample was completed
  old_sample,        // of a series that has ended
  unknown_sample,    // no such id was given out
};
// As an entry of the detail log has it; LoadGen's words where it has any.
std::string_view to_string(Misuse misuse);

using Bytes = std::vector<std::uint8_t>;

// The bytes of a sample that is logged.
struct Answer {
  Bytes data{};
  Bytes token_data{};  // of its first token
};

// What came in. One call gives an entry for each of its samples, and one for itself if the desk
// traces calls.
struct Entry {
  enum class Kind : std::uint8_t { sample, first_token, misuse, call };
  Kind kind = Kind::sample;
  bool of_first_token = false;  // call: which of the two
  Misuse misuse = Misuse::unknown_sample;
  std::uint32_t slot = 0;
  Instant at{};   // the begin of the call
  Instant end{};  // call: its end
  std::uint64_t thread = 0;
  Instant first_token = Instant::none();
  std::int64_t tokens = 0;
  std::uint64_t size = 0;            // of the answer, bytes
  std::unique_ptr<Answer> answer{};  // where it is logged
};

class Desk {
 public:
  // `number`: below 256; no two desks of a process have the same.
  explicit Desk(std::uint8_t number) : number_(number) {}

  // Begins a series. `traced`: calls and first tokens are entries too. `at_once`: how many samples
  // there will be room for before the first is completed.
  void begin(const Clock& clock, bool traced, std::size_t at_once = 0) MUST_NOT_HOLD(mutex_);
  struct Ticket {
    std::uint32_t slot = 0;
    mlperf::ResponseId id = 0;
  };
  // `logged`: keep the answer's bytes.
  Ticket open(bool logged) MUST_NOT_HOLD(mutex_);
  bool pending() const { return pending_.load(std::memory_order_acquire); }
  // Until something comes in, at most for `limit`. May return early.
  void wait(Duration limit) MUST_NOT_HOLD(mutex_);
  // What came in, in its order, behind what `out` has. Slots of completed samples are free again.
  void take(std::vector<Entry>& out) MUST_NOT_HOLD(mutex_);
  // Ends the series: what is still open is forgotten, and completions for it are old.
  void end() MUST_NOT_HOLD(mutex_);
  // Samples completed in this series, those that were not taken out included.
  std::uint64_t completed() const { return completed_.load(std::memory_order_relaxed); }

  // REQUIRES: all ids name this desk (desk_of()), or no desk.
  void complete(std::span<mlperf::QuerySampleResponse> responses, Instant at,
                const mlperf::ResponseCallback& callback) MUST_NOT_HOLD(mutex_);
  void first_token(std::span<mlperf::QuerySampleResponse> responses, Instant at)
      MUST_NOT_HOLD(mutex_);

 private:
  enum class State : std::uint8_t { free, open, done };
  struct Slot {
    std::uint32_t used = 0;  // how often, in 24 bits
    State state = State::free;
    bool logged = false;
    // The use in which a series ended before the sample was completed.
    std::uint32_t abandoned = 0xffffffff;
    Instant first_token = Instant::none();
    std::unique_ptr<Answer> answer{};  // where its first token's bytes are logged
  };

  Slot* find(mlperf::ResponseId id, Misuse& why) REQUIRES_LOCK(mutex_);
  void refuse(Misuse why, Instant at) REQUIRES_LOCK(mutex_);
  void hand_in(std::uint32_t slot, const mlperf::QuerySampleResponse& response, Instant at,
               std::unique_ptr<Answer> answer) REQUIRES_LOCK(mutex_);
  void finish_call(bool of_first_token, Instant at) REQUIRES_LOCK(mutex_);

  const std::uint8_t number_;
  mutable Mutex mutex_{};
  Condition came_{};
  const Clock* clock_ GUARDED_BY(mutex_) = nullptr;
  bool active_ GUARDED_BY(mutex_) = false;
  bool traced_ GUARDED_BY(mutex_) = false;
  bool waiting_ GUARDED_BY(mutex_) = false;
  std::vector<Slot> slots_ GUARDED_BY(mutex_){};
  std::vector<std::uint32_t> free_ GUARDED_BY(mutex_){};
  std::vector<Entry> entries_ GUARDED_BY(mutex_){};
  std::atomic<bool> pending_{false};
  std::atomic<std::uint64_t> completed_{0};
};

// The number of the desk that an id names.
constexpr std::uint8_t desk_of(mlperf::ResponseId id) {
  return static_cast<std::uint8_t>(id >> 32);
}

// The system's number of the calling thread, as traces have it.
std::uint64_t this_thread_number();

}  // namespace assay::sut
