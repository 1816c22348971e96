#include "sut/desk.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace assay::sut {
namespace {

static_assert(sizeof(mlperf::ResponseId) == 8, "an id has 64 bits");
constexpr int kUsedShift = 40;
constexpr int kDeskShift = 32;
constexpr std::uint32_t kUsedMask = 0xffffff;
constexpr std::uint32_t kSlotsMax = 0xfffffff0;

Bytes copy_of(const mlperf::QuerySampleResponse& response) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(response.data);
  if (begin == nullptr) return {};
  return {begin, begin + response.size};
}

}  // namespace

std::uint64_t this_thread_number() {
  thread_local const auto number = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  return number;
}

std::string_view to_string(Misuse misuse) {
  switch (misuse) {
    case Misuse::completed_twice:
    case Misuse::first_token_twice:
      return "Attempted to complete a sample twice.";
    case Misuse::first_token_late:
      return "Attempted to record token latency after sample was completed";
    case Misuse::old_sample:
      return "Received completion for an old sample.";
    case Misuse::unknown_sample:
      return "Received completion for an unknown sample.";
  }
  CHECK(false && "no such Misuse");
  return "";
}

void Desk::begin(const Clock& clock, bool traced, std::size_t at_once) {
  Lock lock(mutex_);
  clock_ = &clock;
  active_ = true;
  traced_ = traced;
  entries_.clear();
  slots_.reserve(at_once);
  pending_.store(false, std::memory_order_relaxed);
  completed_.store(0, std::memory_order_relaxed);
}

void Desk::end() {
  Lock lock(mutex_);
  active_ = false;
  entries_.clear();
  free_.clear();
  for (std::size_t i = slots_.size(); i-- > 0;) {
    Slot& slot = slots_[i];
    if (slot.state == State::open) {
      slot.abandoned = slot.used;
      slot.used = (slot.used + 1) & kUsedMask;
    }
    slot.state = State::free;
    slot.answer = nullptr;
    free_.push_back(static_cast<std::uint32_t>(i));
  }
}

Desk::Ticket Desk::open(bool logged) {
  Lock lock(mutex_);
  if (free_.empty()) {
    CHECK(slots_.size() < kSlotsMax);
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = slots_[number];
  slot.state = State::open;
  slot.logged = logged;
  slot.first_token = Instant::none();
  return {number, std::uint64_t{slot.used} << kUsedShift | std::uint64_t{number_} << kDeskShift |
                      (std::uint64_t{number} + 1)};
}

void Desk::wait(Duration limit) {
  Lock lock(mutex_);
  if (!entries_.empty() || limit <= Duration{}) return;
  waiting_ = true;
  came_.wait_for(lock, limit);
  waiting_ = false;
}

void Desk::take(std::vector<Entry>& out) {
  Lock lock(mutex_);
  pending_.store(false, std::memory_order_relaxed);
  for (const Entry& entry : entries_) {
    if (entry.kind != Entry::Kind::sample) continue;
    slots_[entry.slot].state = State::free;
    free_.push_back(entry.slot);
  }
  if (out.empty()) {
    out.swap(entries_);
  } else {
    std::move(entries_.begin(), entries_.end(), std::back_inserter(out));
    entries_.clear();
  }
}

// The slot of an open sample; null where the id is of none.
Desk::Slot* Desk::find(mlperf::ResponseId id, Misuse& why) {
  const std::uint64_t number = id & 0xffffffff;
  why = Misuse::unknown_sample;
  if (number == 0 || number > slots_.size() || desk_of(id) != number_) return nullptr;
  Slot& slot = slots_[number - 1];
  const auto used = static_cast<std::uint32_t>(id >> kUsedShift);
  if (used == slot.used && slot.state == State::open) return &slot;
  // How many uses ago, on the circle of 24 bits: the upper half lies in the future.
  if (used == slot.used || ((slot.used - used) & kUsedMask) > kUsedMask / 2) return nullptr;
  why = used == slot.abandoned ? Misuse::old_sample : Misuse::completed_twice;
  return nullptr;
}

void Desk::refuse(Misuse why, Instant at) {
  if (!active_) return;
  entries_.push_back({.kind = Entry::Kind::misuse, .misuse = why, .at = at});
}

void Desk::hand_in(std::uint32_t number, const mlperf::QuerySampleResponse& response, Instant at,
                   std::unique_ptr<Answer> answer) {
  Slot& slot = slots_[number];
  entries_.push_back({.kind = Entry::Kind::sample,
                      .slot = number,
                      .at = at,
                      .first_token = slot.first_token,
                      .tokens = response.n_tokens,
                      .size = response.size,
                      .answer = std::move(answer)});
}

void Desk::finish_call(bool of_first_token, Instant at) {
  if (!active_) return;
  if (traced_) {
    entries_.push_back({.kind = Entry::Kind::call,
                        .of_first_token = of_first_token,
                        .at = at,
                        .end = clock_->now(),
                        .thread = this_thread_number()});
  }
  pending_.store(true, std::memory_order_release);
  if (waiting_) came_.notify_one();
}

void Desk::complete(std::span<mlperf::QuerySampleResponse> responses, Instant at,
                    const mlperf::ResponseCallback& callback) {
  // From the first logged one on, in their order: slot, place in `responses`, and the bytes.
  struct Waiting {
    std::uint32_t slot = 0;
    std::size_t place = 0;
    std::unique_ptr<Answer> answer{};  // where it is logged
  };
  std::vector<Waiting> waiting;
  {
    Lock lock(mutex_);
    std::uint64_t count = 0;
    // A call of millions would copy the entries at each growth.
    if (const std::size_t all = entries_.size() + responses.size(); all > entries_.capacity()) {
      entries_.reserve(std::max(all, 2 * entries_.capacity()));
    }
    for (std::size_t i = 0; i < responses.size(); ++i) {
      Misuse why = Misuse::unknown_sample;
      Slot* const slot = find(responses[i].id, why);
      if (slot == nullptr) {
        refuse(why, at);
        continue;
      }
      // From here on the id is used up, although the loop has not seen the sample.
      slot->used = (slot->used + 1) & kUsedMask;
      slot->state = State::done;
      ++count;
      const auto number = static_cast<std::uint32_t>(slot - slots_.data());
      if (slot->logged || !waiting.empty()) {
        auto answer = std::move(slot->answer);
        if (slot->logged && answer == nullptr) answer = std::make_unique<Answer>();
        waiting.push_back({.slot = number, .place = i, .answer = std::move(answer)});
      } else {
        hand_in(number, responses[i], at, nullptr);
      }
    }
    completed_.fetch_add(count, std::memory_order_relaxed);
    if (waiting.empty()) return finish_call(false, at);
  }
  for (Waiting& one : waiting) {
    if (one.answer == nullptr) continue;
    if (callback) callback(&responses[one.place]);
    one.answer->data = copy_of(responses[one.place]);
  }
  Lock lock(mutex_);
  // A series that ended meanwhile has given the slots away.
  if (!active_) return;
  for (Waiting& one : waiting) {
    if (slots_[one.slot].state != State::done) continue;
    hand_in(one.slot, responses[one.place], at, std::move(one.answer));
  }
  finish_call(false, at);
}

void Desk::first_token(std::span<mlperf::QuerySampleResponse> responses, Instant at) {
  Lock lock(mutex_);
  for (const mlperf::QuerySampleResponse& response : responses) {
    Misuse why = Misuse::unknown_sample;
    Slot* const slot = find(response.id, why);
    if (slot == nullptr) {
      refuse(why == Misuse::completed_twice ? Misuse::first_token_late : why, at);
      continue;
    }
    if (slot->first_token.known()) {
      refuse(Misuse::first_token_twice, at);
      continue;
    }
    slot->first_token = at;
    if (slot->logged) {
      slot->answer = std::make_unique<Answer>();
      slot->answer->token_data = copy_of(response);
    }
    if (!traced_ || !active_) continue;
    entries_.push_back({.kind = Entry::Kind::first_token,
                        .slot = static_cast<std::uint32_t>(slot - slots_.data()),
                        .at = at});
  }
  finish_call(true, at);
}

}  // namespace assay::sut
