// For the room's own tests, benchmarks and fuzzers: a sink that records every call as text, so that
// two sequences can be compared, and a generator of random calls, likely or hostile.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "domain/quiet_sink.h"

namespace assay::record {

// Not atomic and not synced; removes an existing file first (ext4 would sync it): a test writes
// hundreds.
inline void put_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

class Said final : public QuietSink {
 public:
  void on_phase(const PhaseMark& m) override {
    lines.push_back(format("phase {} {} {}", m.phase, static_cast<int>(m.step), m.at.ns));
  }
  void on_sent(const Query& q, Instant due, Instant sent) override {
    lines.push_back(format("sent {} {} {}", name(q), due.ns, sent.ns));
  }
  void on_stream_event(const Query& q, const StreamEvent& e, std::string_view text) override {
    lines.push_back(format("event {} {} {}{} {} {} {} {} {}-{} '{}'", name(q),
                           to_string(e.category), int{e.kernel_stamped}, int{e.shares_read},
                           e.bytes, e.choice, e.tokens_so_far, e.arrival.ns, e.read.ns,
                           e.uncertainty.ns, text));
  }
  void on_done(const Event& e, std::string_view detail) override {
    std::string line = format("done {} {} {} {}{}{}{} {} {}", name(e.query), to_string(e.outcome),
                              to_string(e.finish), int{e.streamed}, int{e.connected},
                              int{e.kernel_stamped}, int{e.done_marker}, e.http_status, e.endpoint);
    for (const Instant at : {e.due, e.sent, e.first_byte, e.first_event, e.first_token,
                             e.first_visible, e.last_token, e.done}) {
      line += format(" {}", at.ns);
    }
    for (const Duration d :
         {e.read_delay_first_token, e.read_delay_done, e.connect_time, e.sent_uncertainty,
          e.first_token_uncertainty, e.first_visible_uncertainty, e.done_uncertainty}) {
      line += format(" {}", d.ns);
    }
    line +=
        format(" {} {} {} {} {} usage {} {} {} {} '{}'", e.stream_events, e.fragments,
               e.first_fragment_bytes, e.output_bytes, e.received_bytes, e.usage.prompt_tokens,
               e.usage.completion_tokens, e.usage.reasoning_tokens, e.usage.cached_tokens, detail);
    line += format(" asked {} {} {} after {}", int{e.stream_asked}, e.tokens_max, e.choices_asked,
                   e.fragments_after_done);
    if (const Sound& s = e.sound; s != Sound{}) {
      line +=
          format(" sound {} {} {} {} {} {} {} {}", s.first.ns, s.first_read_delay.ns,
                 s.first_uncertainty.ns, s.bytes, s.length.ns, s.pieces, s.underruns, s.waited.ns);
    }
    lines.push_back(std::move(line));
  }

  std::vector<std::string> lines{};

 private:
  static std::string name(const Query& q) {
    return format("{}.{} sample {} salt {}{}", q.phase, q.index, q.sample, int{q.salted}, q.salt);
  }
};

// The first difference of two sequences; "" if there is none.
inline std::string first_difference(const std::vector<std::string>& a,
                                    const std::vector<std::string>& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(nothing)";
    const std::string right = i < b.size() ? b[i] : "(nothing)";
    if (left != right) return format("line {}:\n  {}\n  {}", i, left, right);
  }
  return "";
}

class RandomTeller {
 public:
  // hostile: any value that a field may hold; else values of a real run.
  RandomTeller(std::uint64_t seed, bool hostile) : rng_(seed), hostile_(hostile) {}

  void tell(EventSink& sink, int calls) {
    for (int i = 0; i < calls; ++i) tell_one(sink);
  }

  void tell_one(EventSink& sink) {
    now_.ns += static_cast<std::int64_t>(rng_.below(40'000));
    switch (rng_.below(40)) {
      case 0:
        return sink.on_phase(
            {number<std::uint16_t>(3), static_cast<PhaseStep>(rng_.below(3)), instant()});
      case 1:
      case 2: {
        Query query = new_query();
        open_.push_back(query);
        return sink.on_sent(query, instant(), instant());
      }
      case 3:
      case 4:
        return tell_done(sink);
      default:
        return tell_event(sink);
    }
  }

 private:
  template <typename T>
  T number(std::uint64_t likely_below) {
    if (hostile_ && rng_.below(4) == 0) {
      constexpr T kEdges[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}};
      return rng_.below(2) == 0 ? kEdges[rng_.below(3)] : static_cast<T>(rng_.next());
    }
    return static_cast<T>(rng_.below(likely_below));
  }

  Instant instant() {
    if (hostile_ && rng_.below(4) == 0) return {far()};
    return now_ - Duration{static_cast<std::int64_t>(rng_.below(3'000'000))};
  }
  // Any number of nanoseconds that leaves room for a delay within the reader's range.
  std::int64_t far() {
    const auto ns = static_cast<std::int64_t>(rng_.next() >> (2 + rng_.below(61)));
    return (rng_.below(2) == 0 ? ns : -ns) / 4 * 3;
  }
  // Never negative; often that of the current read.
  Duration doubt() {
    if (hostile_ && rng_.below(4) == 0) return {std::abs(far()) / 4};
    if (rng_.below(2) == 0) doubt_.ns = static_cast<std::int64_t>(rng_.below(9'000'000));
    return doubt_;
  }
  Instant milestone() { return rng_.below(6) == 0 ? Instant::none() : instant(); }

  Query new_query() {
    Query query{};
    do {
      query.phase = number<std::uint16_t>(2);
      query.index = hostile_ ? number<std::uint32_t>(100'000) : next_++;
    } while (!places_.insert({query.phase, query.index}).second);
    query.sample = number<std::uint32_t>(1000);
    query.salted = rng_.below(3) == 0;
    if (query.salted) query.salt = rng_.next();
    return query;
  }

  std::string words(std::size_t bytes) {
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>('a' + rng_.below(26));
    return text;
  }

  void tell_event(EventSink& sink) {
    if (open_.empty()) return;
    const Query& query = open_[rng_.below(open_.size())];
    StreamEvent event{};
    event.category = static_cast<Category>(rng_.below(kCategories));
    event.kernel_stamped = rng_.below(4) != 0;
    event.shares_read = rng_.below(3) == 0;
    event.read = last_read_;
    event.arrival = last_arrival_;
    if (rng_.below(3) != 0) {
      event.read = hostile_ ? instant() : now_;
      event.arrival = event.kernel_stamped || (hostile_ && rng_.below(4) == 0)
                          ? event.read - Duration{static_cast<std::int64_t>(rng_.below(50'000))}
                          : event.read;
    } else if (!event.kernel_stamped) {
      event.arrival = event.read;
    }
    last_read_ = event.read;
    last_arrival_ = event.arrival;
    if (event.shares_read ? rng_.below(4) != 0 : rng_.below(20) == 0) event.uncertainty = doubt();
    std::string text = words(rng_.below(12));
    if (rng_.below(300) == 0) text = words(rng_.below(60'000));
    event.bytes = static_cast<std::uint32_t>(text.size());
    if (hostile_ && rng_.below(8) == 0) event.bytes = number<std::uint32_t>(100);
    if (rng_.below(5) == 0) event.choice = number<std::uint16_t>(3);
    if (rng_.below(4) == 0) event.tokens_so_far = number<std::int32_t>(500);
    sink.on_stream_event(query, event, text);
  }

  Sound sound() {
    return {.first = milestone(),
            .first_read_delay = {static_cast<std::int64_t>(rng_.below(50'000))},
            .first_uncertainty = doubt(),
            .bytes = number<std::uint64_t>(100'000),
            .length = {static_cast<std::int64_t>(rng_.below(2'000'000'000)) - 1},
            .pieces = number<std::uint32_t>(100),
            .underruns = number<std::uint32_t>(9),
            .waited = doubt()};
  }

  void tell_done(EventSink& sink) {
    Event e{};
    if (open_.empty() || rng_.below(8) == 0) {
      e.query = new_query();
    } else {
      const std::size_t i = rng_.below(open_.size());
      e.query = open_[i];
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    e.outcome = static_cast<Outcome>(rng_.below(kOutcomes));
    e.finish = static_cast<FinishReason>(rng_.below(kFinishReasons));
    if (rng_.below(3) == 0) e.sound = sound();
    e.streamed = rng_.below(2) == 0;
    e.connected = rng_.below(2) == 0;
    e.kernel_stamped = rng_.below(2) == 0;
    e.done_marker = rng_.below(2) == 0;
    e.http_status = number<std::uint16_t>(600);
    e.endpoint = number<std::uint16_t>(4);
    e.due = instant();
    for (Instant* const at : {&e.sent, &e.first_byte, &e.first_event, &e.first_token,
                              &e.first_visible, &e.last_token, &e.done}) {
      *at = milestone();
    }
    for (Duration* const d : {&e.read_delay_first_token, &e.read_delay_done, &e.connect_time}) {
      d->ns = hostile_ && rng_.below(4) == 0 ? far() / 4
                                             : static_cast<std::int64_t>(rng_.below(50'000));
    }
    for (Duration* const d : {&e.sent_uncertainty, &e.first_token_uncertainty,
                              &e.first_visible_uncertainty, &e.done_uncertainty}) {
      if (rng_.below(3) == 0) *d = doubt();
    }
    e.stream_events = number<std::uint32_t>(70);
    e.fragments = number<std::uint32_t>(70);
    e.first_fragment_bytes = number<std::uint32_t>(9);
    e.output_bytes = number<std::uint64_t>(400);
    e.received_bytes = number<std::uint64_t>(20'000);
    if (rng_.below(4) != 0) {
      e.usage.prompt_tokens = number<std::int32_t>(500);
      e.usage.completion_tokens = number<std::int32_t>(500);
    }
    if (rng_.below(4) == 0) e.usage.reasoning_tokens = number<std::int32_t>(500);
    if (rng_.below(4) == 0) e.usage.cached_tokens = number<std::int32_t>(500);
    e.stream_asked = rng_.below(2) == 0;
    if (rng_.below(2) == 0) e.tokens_max = number<std::int32_t>(5000);
    if (rng_.below(5) == 0) e.choices_asked = number<std::uint16_t>(5);
    if (rng_.below(5) == 0) e.fragments_after_done = number<std::uint32_t>(5);
    sink.on_done(e, e.outcome == Outcome::ok ? "" : words(rng_.below(90)));
  }

  Rng rng_;
  bool hostile_;
  Instant now_{1'000'000'000'000};
  Instant last_read_{};
  Instant last_arrival_{};
  Duration doubt_{};
  std::uint32_t next_ = 0;
  std::vector<Query> open_{};
  std::set<std::pair<std::uint16_t, std::uint32_t>> places_{};  // a place is used once
};

}  // namespace assay::record
