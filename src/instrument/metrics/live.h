// Live: the figures that a person watches during a run, on the terminal or over the network.
// Results never use them.
//
// An EventSink: the thread that owns the run's loop writes, any thread reads by live_snapshot(). No
// thread locks or waits: counters are relaxed atomics with one writer, so a reader may see each
// counter at a slightly different moment. A stream event costs a few nanoseconds (live_bench.cc).
//
// Figures are of the current phase and start again with each phase. A query of an earlier phase
// that is still in flight counts as in flight and nowhere else. Percentiles of the whole phase are
// known to within 0.8 % (base/histogram.h), those of one second to within 13 %, enough for a
// sparkline. TTFT is counted when the first token comes, before the end of the reply is known: only
// here does it include replies that fail later.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "domain/plan.h"
#include "domain/quiet_sink.h"

namespace assay::metrics {

struct LivePercentiles {
  std::uint64_t count = 0;
  Duration p50{};
  Duration p90{};
  Duration p99{};
};

struct LiveFailures {
  Outcome outcome = Outcome::reset;
  std::uint64_t count = 0;
  std::string last_detail{};
};

struct LiveSnapshot {
  // The current phase and its progress. `phase` is empty before the first one begins.
  std::string phase{};
  PhaseKind kind = PhaseKind::performance;
  PhaseStep step = PhaseStep::started;
  Duration elapsed{};
  // The end of the phase, where the plan knows it; for a closed loop with a set time, duration_max.
  std::optional<std::uint64_t> queries_planned{};
  std::optional<Duration> duration_max{};
  bool open_loop = false;

  std::uint64_t sent = 0;
  std::uint64_t completed = 0;  // succeeded
  std::uint64_t failed = 0;
  std::uint64_t in_flight = 0;
  std::vector<LiveFailures> failures{};  // commonest first

  // Over the last full seconds, at most 10; the whole phase while it is younger than one second.
  double offered_qps = 0;   // queries that became due
  double achieved_qps = 0;  // queries that were sent
  double completed_qps = 0;
  // Fragments times the mean tokens of a fragment in the replies completed so far; one token a
  // fragment while no reply has reported tokens, and `tokens_known` is then false.
  double output_tps = 0;
  bool tokens_known = false;

  // A problem of the run itself, for a person: its disk is full. "" if there is none.
  std::string trouble{};
  // Whether the run is steady yet (steady_watch.h); "" where this is not watched.
  std::string steady{};

  LivePercentiles ttft{};  // first_token − sent
  LivePercentiles
      tpot{};  // by usage; by fragments where the server does not say or cannot be right
  LivePercentiles lateness{};  // sent − due

  // One value a second, oldest first, at most kLiveSeconds of them, without the current second.
  // Empty where the second had none.
  std::vector<std::optional<double>> ttft_ms{};  // P50
  std::vector<std::optional<double>> tpot_ms{};  // P50
  std::vector<double> tokens{};                  // output tokens
  std::vector<double> completions{};
};

inline constexpr std::size_t kLiveSeconds = 60;

class Live final : public QuietSink {
 public:
  // `streamed`: whether replies are; else a fragment's arrival is no first token.
  explicit Live(const Plan& plan, bool streamed = true);

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

 private:
  friend class LiveReader;
  using Count = std::atomic<std::uint64_t>;

  // Log-linear, 4 to an octave, from 1 µs.
  static constexpr std::size_t kCoarseBins = 128;
  using Coarse = std::array<std::atomic<std::uint32_t>, kCoarseBins>;

  struct Second {
    std::atomic<std::int64_t> number{-1};  // counted from the phase's start
    Count due{0};
    Count sent{0};
    Count completed{0};
    Count fragments{0};
    Coarse ttft{};
    Coarse tpot{};
  };

  // A text that a reader never sees half-changed: it reads again when `turn` has moved.
  struct Detail {
    static constexpr std::size_t kWords = 24;
    std::atomic<std::uint32_t> turn{0};
    std::atomic<std::uint32_t> size{0};
    std::array<std::atomic<std::uint64_t>, kWords> words{};
    void store(std::string_view text);
    std::string load() const;
  };

  struct PhaseFacts {
    std::string name{};
    PhaseKind kind = PhaseKind::performance;
    bool open_loop = false;
    std::optional<std::uint64_t> queries{};
    std::optional<Duration> duration{};
  };

  // A query in flight before its first fragment. A slot is never taken from the query that holds
  // it; a query that finds its slot taken has its TTFT counted at its end.
  struct Waiting {
    std::uint64_t tag = 0;
    Instant sent{};
  };
  static constexpr std::size_t kSlots = std::size_t{1} << 15;
  static constexpr std::uint64_t kSeen = std::uint64_t{1} << 63;

  static std::uint64_t tag_of(const Query& query) {
    return (std::uint64_t{query.phase} + 1) << 32 | query.index;
  }

  static void add(Count& count, std::uint64_t n) {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  static void bump(Count& count) { add(count, 1); }
  Second& second_of(Instant at) {
    if (at >= second_end_) advance(at);
    return *second_;
  }
  void advance(Instant at);
  void reset(const PhaseMark& mark);
  void count_completed(const Event& event, Second& second);
  void record_ttft(Instant seen, Duration ttft);
  void record_tpot(const Event& event, std::int64_t counted, Second& second);

  const std::vector<PhaseFacts> facts_;
  const bool streamed_;

  // The writer's own.
  std::unique_ptr<std::array<Waiting, kSlots>> waiting_;
  Second* second_ = nullptr;
  Instant second_end_ = Instant::max();
  Instant phase_start_{};
  std::uint16_t phase_ = 0;

  // Shared.
  std::atomic<std::int32_t> shown_phase_{-1};
  std::atomic<PhaseStep> step_{PhaseStep::started};
  std::atomic<std::int64_t> started_ns_{0};
  Count sent_{0};
  Count begun_{0};  // every phase: in flight = begun − ended
  Count ended_{0};
  Count counted_tokens_{0};     // of completed replies whose count is known
  Count counted_fragments_{0};  // of the same
  std::array<Count, kOutcomes> outcomes_{};
  std::array<Detail, kOutcomes> details_{};
  Histogram ttft_{};
  Histogram tpot_{};
  Histogram lateness_{};
  std::array<Second, kLiveSeconds + 4> seconds_{};
};

// All of `lives` (one a shard) together at `now`.
LiveSnapshot live_snapshot(std::span<const Live* const> lives, Instant now);

}  // namespace assay::metrics
