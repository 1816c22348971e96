#include "metrics/live.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "metrics/token_truth.h"

namespace assay::metrics {
namespace {

constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
constexpr Duration kSecond = 1_s;
constexpr std::int64_t kRateSeconds = 10;

std::uint64_t whole(Duration value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.ns, 0));
}

// Bins of a quarter octave from 1 µs on, four linear steps each.
std::size_t coarse_bin(Duration value, std::size_t bins) {
  const std::uint64_t us = whole(value) / 1000;
  if (us < 4) return static_cast<std::size_t>(us);
  const int octave = 63 - std::countl_zero(us);
  const std::size_t step = static_cast<std::size_t>(us >> (octave - 2)) & 3;
  return std::min(static_cast<std::size_t>(octave - 1) * 4 + step, bins - 1);
}

double coarse_middle_ms(std::size_t bin) {
  if (bin < 4) return (static_cast<double>(bin) + 0.5) * 1e-3;
  const double step = std::exp2(static_cast<double>(bin / 4) - 1);
  return (static_cast<double>(4 + bin % 4) + 0.5) * step * 1e-3;
}

}  // namespace

// If a reader takes a word of a newer text, it also sees the odd `turn` before it (release and
// acquire), so it always notices a mix.
void Live::Detail::store(std::string_view text) {
  std::array<char, kWords * sizeof(std::uint64_t)> padded{};
  const std::size_t bytes = text.copy(padded.data(), padded.size());
  const auto copy = std::bit_cast<std::array<std::uint64_t, kWords>>(padded);
  const std::uint32_t before = turn.load(kRelaxed);
  turn.store(before + 1, kRelaxed);  // odd: being written
  size.store(static_cast<std::uint32_t>(bytes), std::memory_order_release);
  for (std::size_t i = 0; i < kWords; ++i) words[i].store(copy[i], std::memory_order_release);
  turn.store(before + 2, std::memory_order_release);
}

std::string Live::Detail::load() const {
  std::array<std::uint64_t, kWords> copy{};
  for (;;) {
    const std::uint32_t before = turn.load(std::memory_order_acquire);
    const std::size_t bytes = size.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < kWords; ++i) copy[i] = words[i].load(std::memory_order_acquire);
    if (before % 2 != 0 || turn.load(kRelaxed) != before) continue;
    std::string text(bytes, '\0');
    std::memcpy(text.data(), copy.data(), bytes);
    return text;
  }
}

Live::Live(const Plan& plan, bool streamed)
    : facts_([&plan] {
        std::vector<PhaseFacts> facts;
        for (const PhasePlan& phase : plan.phases) {
          PhaseFacts fact{phase.name, phase.kind, phase.open_loop, {}, {}};
          // A closed loop with a set time has a limit of queries, not a planned number.
          const StopRule& stop = phase.stop;
          const bool by_time = !phase.open_loop && stop.duration_min > Duration{};
          if (!by_time && stop.queries_max != std::numeric_limits<std::uint64_t>::max()) {
            fact.queries = stop.queries_max;
          }
          const Duration time =
              by_time ? std::min(stop.duration_min, stop.duration_max) : stop.duration_max;
          if (time != Duration::max()) fact.duration = time;
          facts.push_back(std::move(fact));
        }
        return facts;
      }()),
      streamed_(streamed),
      waiting_(std::make_unique<std::array<Waiting, kSlots>>()) {
  second_ = seconds_.data();
}

// Cold: once a phase.
void Live::reset(const PhaseMark& mark) {
  shown_phase_.store(-1, kRelaxed);
  phase_ = mark.phase;
  phase_start_ = mark.at;
  for (Count* const count : {&sent_, &counted_tokens_, &counted_fragments_}) {
    count->store(0, kRelaxed);
  }
  for (Count& count : outcomes_) count.store(0, kRelaxed);
  for (Histogram* const histogram : {&ttft_, &tpot_, &lateness_}) histogram->clear();
  for (Second& second : seconds_) second.number.store(-1, kRelaxed);
  second_end_ = mark.at;
  advance(mark.at);
  started_ns_.store(mark.at.ns, kRelaxed);
  shown_phase_.store(mark.phase, std::memory_order_release);
}

void Live::on_phase(const PhaseMark& mark) {
  if (mark.step == PhaseStep::started) reset(mark);
  if (mark.phase == phase_) step_.store(mark.step, kRelaxed);
}

// Cold: once a second. Clears seconds without events on the way, so that a reader finds them empty
// and not missing.
void Live::advance(Instant at) {
  const std::int64_t number = (at - phase_start_).ns / kSecond.ns;
  const std::int64_t current = (second_end_ - phase_start_).ns / kSecond.ns;
  const std::int64_t ring = static_cast<std::int64_t>(seconds_.size());
  for (std::int64_t n = std::max(current, number - ring + 1); n <= number; ++n) {
    Second& second = seconds_[static_cast<std::size_t>(n % ring)];
    second.number.store(-1, kRelaxed);
    for (Count* const count : {&second.due, &second.sent, &second.completed, &second.fragments}) {
      count->store(0, kRelaxed);
    }
    for (auto& bin : second.ttft) bin.store(0, kRelaxed);
    for (auto& bin : second.tpot) bin.store(0, kRelaxed);
    second.number.store(n, std::memory_order_release);
    second_ = &second;
  }
  second_end_ = phase_start_ + kSecond * (number + 1);
}

void Live::on_sent(const Query& query, Instant due, Instant sent) {
  bump(begun_);
  Waiting& slot = (*waiting_)[query.index % kSlots];
  if (slot.tag == 0) slot = {tag_of(query), sent};
  if (query.phase != phase_) return;
  bump(sent_);
  Second& second = second_of(sent);
  bump(second.sent);
  const std::int64_t due_second = std::max<std::int64_t>((due - phase_start_).ns, 0) / kSecond.ns;
  Second& then = seconds_[static_cast<std::size_t>(due_second) % seconds_.size()];
  if (then.number.load(kRelaxed) == due_second) bump(then.due);
  lateness_.record(whole(sent - due));
}

void Live::on_stream_event(const Query& query, const StreamEvent& event, std::string_view) {
  if (!is_fragment(event.category) || query.phase != phase_) return;
  bump(second_of(event.read).fragments);
  if (!streamed_) return;
  Waiting& slot = (*waiting_)[query.index % kSlots];
  if (slot.tag != tag_of(query)) return;
  slot.tag |= kSeen;
  record_ttft(event.read, event.arrival - slot.sent);
}

void Live::record_ttft(Instant seen, Duration ttft) {
  ttft_.record(whole(ttft));
  auto& bin = second_of(seen).ttft[coarse_bin(ttft, kCoarseBins)];
  bin.store(bin.load(kRelaxed) + 1, kRelaxed);
}

void Live::record_tpot(const Event& event, std::int64_t counted, Second& second) {
  std::int64_t tokens = event.fragments;
  if (counted >= 0) tokens = counted;
  tokens /= std::max<std::int64_t>(event.choices_asked, 1);
  if (tokens < 2 || !event.first_token.known()) return;
  const Duration tpot = (event.done - event.first_token) / (tokens - 1);
  tpot_.record(whole(tpot));
  auto& bin = second.tpot[coarse_bin(tpot, kCoarseBins)];
  bin.store(bin.load(kRelaxed) + 1, kRelaxed);
}

void Live::on_done(const Event& event, std::string_view detail) {
  Waiting& slot = (*waiting_)[event.query.index % kSlots];
  bool ttft_counted = false;
  if ((slot.tag & ~kSeen) == tag_of(event.query)) {
    ttft_counted = (slot.tag & kSeen) != 0;
    slot.tag = 0;
  }
  if (event.sent.known()) bump(ended_);
  if (event.query.phase != phase_) return;
  const auto outcome = static_cast<std::size_t>(event.outcome);
  const Instant seen = event.done + event.read_delay_done;
  Second& second = second_of(seen);
  if (event.outcome == Outcome::ok) {
    if (!ttft_counted && event.streamed && event.first_token.known() && event.sent.known()) {
      record_ttft(seen, event.first_token - event.sent);
    }
    count_completed(event, second);
  } else {
    details_[outcome].store(detail);
  }
  // The count comes last: who reads it also finds the query's times or its detail.
  Count& ended = outcomes_[outcome];
  ended.store(ended.load(kRelaxed) + 1, std::memory_order_release);
}

void Live::count_completed(const Event& event, Second& second) {
  bump(second.completed);
  const std::int64_t counted = plausible_output(event);
  if (counted >= 0) {
    add(counted_tokens_, static_cast<std::uint64_t>(counted));
    add(counted_fragments_, event.fragments);
  }
  if (event.streamed) record_tpot(event, counted, second);
}

// Reads the figures of several shards' writers; each figure at its own moment.
class LiveReader {
 public:
  LiveReader(std::span<const Live* const> lives, Instant now) : now_(now) {
    for (const Live* const live : lives) {
      const std::int32_t phase = live->shown_phase_.load(std::memory_order_acquire);
      if (phase < 0) continue;
      if (lives_.empty()) phase_ = phase;
      if (phase == phase_) lives_.push_back(live);
      // Read `ended` first: queries that end meanwhile must not make the difference negative.
      const std::uint64_t ended = live->ended_.load(kRelaxed);
      const std::uint64_t begun = live->begun_.load(kRelaxed);
      out_.in_flight += begun > ended ? begun - ended : 0;
    }
  }

  LiveSnapshot read() {
    if (lives_.empty()) return {};
    read_phase();
    read_outcomes();
    out_.ttft = percentiles(&Live::ttft_);
    out_.tpot = percentiles(&Live::tpot_);
    out_.lateness = percentiles(&Live::lateness_);
    read_seconds();
    return out_;
  }

 private:
  std::uint64_t sum(Live::Count Live::*count) const {
    std::uint64_t total = 0;
    for (const Live* const live : lives_) total += (live->*count).load(kRelaxed);
    return total;
  }

  void read_phase() {
    const Live& first = *lives_.front();
    const Live::PhaseFacts& facts = first.facts_[static_cast<std::size_t>(phase_)];
    out_.phase = facts.name;
    out_.kind = facts.kind;
    out_.open_loop = facts.open_loop;
    out_.duration_max = facts.duration;
    out_.step = PhaseStep::drained;
    for (const Live* const live : lives_) {
      out_.step = std::min(out_.step, live->step_.load(kRelaxed));
      const auto& planned = live->facts_[static_cast<std::size_t>(phase_)].queries;
      if (planned) out_.queries_planned = out_.queries_planned.value_or(0) + *planned;
    }
    start_ = Instant{first.started_ns_.load(kRelaxed)};
    out_.elapsed = std::max(now_ - start_, Duration{});
    out_.sent = sum(&Live::sent_);
  }

  void read_outcomes() {
    for (int i = 0; i < kOutcomes; ++i) {
      const auto outcome = static_cast<Outcome>(i);
      LiveFailures failures{outcome, 0, {}};
      for (const Live* const live : lives_) {
        const std::uint64_t count =
            live->outcomes_[static_cast<std::size_t>(i)].load(std::memory_order_acquire);
        if (count == 0) continue;
        failures.count += count;
        if (outcome != Outcome::ok) {
          failures.last_detail = live->details_[static_cast<std::size_t>(i)].load();
        }
      }
      if (outcome == Outcome::ok) {
        out_.completed = failures.count;
      } else if (failures.count > 0) {
        out_.failed += failures.count;
        out_.failures.push_back(std::move(failures));
      }
    }
    std::stable_sort(out_.failures.begin(), out_.failures.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
  }

  LivePercentiles percentiles(Histogram Live::*series) const {
    const Histogram* histogram = &(lives_.front()->*series);
    std::unique_ptr<Histogram> together;
    if (lives_.size() > 1) {
      together = std::make_unique<Histogram>();
      for (const Live* const live : lives_) together->add(live->*series);
      histogram = together.get();
    }
    const auto at = [histogram](double p) {
      return Duration{static_cast<std::int64_t>(histogram->percentile(p))};
    };
    return {histogram->count(), at(50), at(90), at(99)};
  }

  // The events of all shards in one second.
  struct Sum {
    std::uint64_t due = 0;
    std::uint64_t sent = 0;
    std::uint64_t completed = 0;
    std::uint64_t fragments = 0;
    std::array<std::uint64_t, Live::kCoarseBins> ttft{};
    std::array<std::uint64_t, Live::kCoarseBins> tpot{};
  };

  Sum second(std::int64_t number) const {
    Sum sum;
    for (const Live* const live : lives_) {
      const auto& ring = live->seconds_;
      const Live::Second& s = ring[static_cast<std::size_t>(number) % ring.size()];
      if (s.number.load(std::memory_order_acquire) != number) continue;
      sum.due += s.due.load(kRelaxed);
      sum.sent += s.sent.load(kRelaxed);
      sum.completed += s.completed.load(kRelaxed);
      sum.fragments += s.fragments.load(kRelaxed);
      for (std::size_t i = 0; i < Live::kCoarseBins; ++i) {
        sum.ttft[i] += s.ttft[i].load(kRelaxed);
        sum.tpot[i] += s.tpot[i].load(kRelaxed);
      }
    }
    return sum;
  }

  static std::optional<double> coarse_median(
      const std::array<std::uint64_t, Live::kCoarseBins>& bins) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : bins) total += count;
    if (total == 0) return std::nullopt;
    std::uint64_t seen = 0;
    std::size_t bin = 0;
    for (; bin < bins.size(); ++bin) {
      seen += bins[bin];
      if (seen * 2 >= total) break;
    }
    return coarse_middle_ms(bin);
  }

  void read_seconds() {
    const std::uint64_t fragments = sum(&Live::counted_fragments_);
    out_.tokens_known = fragments > 0;
    const double ratio = fragments > 0 ? static_cast<double>(sum(&Live::counted_tokens_)) /
                                             static_cast<double>(fragments)
                                       : 1.0;
    const std::int64_t current = out_.elapsed.ns / kSecond.ns;
    const std::int64_t shown = static_cast<std::int64_t>(kLiveSeconds);
    for (std::int64_t n = std::max<std::int64_t>(0, current - shown); n < current; ++n) {
      const Sum s = second(n);
      out_.ttft_ms.push_back(coarse_median(s.ttft));
      out_.tpot_ms.push_back(coarse_median(s.tpot));
      out_.tokens.push_back(static_cast<double>(s.fragments) * ratio);
      out_.completions.push_back(static_cast<double>(s.completed));
    }
    const std::int64_t from = std::max<std::int64_t>(0, current - kRateSeconds);
    const std::int64_t to = std::max<std::int64_t>(current, 1);
    const double span = current == 0 ? out_.elapsed.seconds() : static_cast<double>(to - from);
    if (span <= 0) return;
    Sum total;
    for (std::int64_t n = from; n < to; ++n) {
      const Sum s = second(n);
      total.due += s.due;
      total.sent += s.sent;
      total.completed += s.completed;
      total.fragments += s.fragments;
    }
    out_.offered_qps = static_cast<double>(total.due) / span;
    out_.achieved_qps = static_cast<double>(total.sent) / span;
    out_.completed_qps = static_cast<double>(total.completed) / span;
    out_.output_tps = static_cast<double>(total.fragments) * ratio / span;
  }

  Instant now_;
  Instant start_{};
  std::int32_t phase_ = -1;
  std::vector<const Live*> lives_{};
  LiveSnapshot out_{};
};

LiveSnapshot live_snapshot(std::span<const Live* const> lives, Instant now) {
  return LiveReader(lives, now).read();
}

}  // namespace assay::metrics
