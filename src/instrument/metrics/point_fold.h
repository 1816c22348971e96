// PointFold: receives a run, live or from its log, and makes its Point. See metrics/point.h for the
// definitions.
//
// Memory is bounded by the values that the result needs exactly (a few a query) and by the queries
// in flight. Gaps between fragments and read delays, one for each fragment, are kept up to
// `gaps_max` and then counted in buckets 0.8 % wide, which the Distribution reports.
//
// A reply's gaps are added at its end: those of a failed reply are in no series. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "domain/open_queries.h"
#include "domain/quiet_sink.h"
#include "metrics/audio_fold.h"
#include "metrics/gap_limits.h"
#include "metrics/point.h"
#include "metrics/series.h"
#include "metrics/timeline_fold.h"
#include "metrics/token_counts.h"
#include "metrics/token_tally.h"

namespace assay::metrics {

struct FoldOptions {
  std::size_t gaps_max = std::size_t{8} << 20;  // 64 MB a series
  bool early_stopping = true;
  std::size_t examples_max = 5;  // of each kind of failure
  // Counts by the model's tokenizer, used instead of `usage`; null: none. Must outlive the fold.
  const TokenCounts* counts = nullptr;
};

class PointFold final : public QuietSink {
 public:
  explicit PointFold(RunInfo info, FoldOptions options = {});

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // `lost_records`: how many the log's writer lost. The fold is empty afterwards.
  Point finish(const RunEnd& end, std::uint64_t lost_records = 0);

 private:
  // The series that depend on the clock, while the run goes on.
  struct ClockSeries {
    explicit ClockSeries(std::size_t gaps_max) : itl(gaps_max) {}
    Series ttft{};
    Series ttft_due{};
    Series ttft_visible{};
    RatioSeries tpot{};
    Series itl;
    Series latency{};
    Series latency_due{};
    Latencies finish(bool estimates, bool limits);
  };

  // A query that has events and is not done.
  struct Open {
    bool sent = false;
    bool visible = false;
    Duration visible_delay{};  // read − arrival of the first fragment of text
    std::uint32_t unread = 0;  // events
    ReplyEvidence evidence{};
    std::string gaps{};  // of arrivals and of reads, in turns, as varints
    GapLimits limits{};
    Spread spread{};
  };

  struct PhaseFold {
    PhaseSpan span{};
    Instant first = Instant::none();  // earliest instant of its queries
    Instant last = Instant::none();   // latest end
  };

  PhaseFold& phase(std::uint16_t index);
  bool measured(std::uint16_t index) { return phase(index).span.kind == PhaseKind::performance; }
  Open& open(const Query& query);
  void note(Instant at);
  void note_due(Instant due);
  void note_failure(const Event& event, std::string_view detail);
  void find_truth(const Event& event, const Open& open);
  void measure(const Event& event, Open& open);
  void measure_streamed(const Event& event, Open& open);
  void measure_tpot(const Event& event);
  void note_issued(const Event& event);
  void spread_tokens(const Event& event, const Open& open);
  void end_unfinished();
  Rates rates(const Point& point) const;
  std::vector<Failures> failures();
  std::vector<std::string> warnings(const Point& point, std::uint64_t lost_records) const;

  RunInfo info_;
  FoldOptions options_;
  bool gaps_recorded_;

  Instant began_ = Instant::max();
  Instant ended_ = Instant::none();
  std::vector<PhaseFold> phases_{};
  OpenQueries<Open> in_flight_{1024};

  ClockSeries arrival_;
  ClockSeries read_;
  Units units_{};
  AudioFold audio_{};
  Series isl_{};
  Series osl_{};
  Series lateness_{};
  Series read_delay_;
  Series connect_{};
  RatioSeries fragment_tokens_{};
  TimelineFold timeline_{};
  std::array<Failures, kOutcomes> failures_{};
  TokenTally tokens_{};
  TokenTruth truth_{};            // of the query that ends
  SteadyOptions steady_{};        // super_pass 0: the run has none
  std::vector<Issued> issued_{};  // by Query.index, of performance phases, where it has
  Stamps stamps_{};

  // For rates; of performance phases.
  Instant first_due_ = Instant::max();
  Instant last_due_ = Instant::none();
  std::uint64_t dues_ = 0;
  Instant first_sent_ = Instant::max();
  Instant last_sent_ = Instant::none();
  std::uint64_t sents_ = 0;
  Instant last_sent_ok_ = Instant::none();  // of the queries that succeeded, the one sent last
  Instant last_sent_ok_done_ = Instant::none();
};

}  // namespace assay::metrics
