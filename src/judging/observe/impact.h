// Impact: what each act of a run's chaos log broke, and when the load was whole again. From the
// recorded events alone, so that a report and a verification come to the same.
//
// Two signals are watched in bins of equal width that begin at the act's instant:
//   output    output events of streams, and replies that were not streamed, a second
//   latency   the median time from due to the first token (to the end where nothing was streamed)
//
// The baseline is what both were before the act: since the measured phase began, or since the act
// before was recovered from. A level is the median of its bins; their spread is 1.4826 times the
// median deviation from it, as a share of it. The margin is 5 %, or the spread where that is wider.
// The bin is the narrowest of 100 ms to 60 s with at least 5 bins in the baseline, 10 output events
// in each on average and a spread of 20 % at most (where none is so even, the one with the least
// spread). Where no width has as many, the act has no baseline and no recovery.
//
// A bin is off when its output is lower than the level by more than 3 spreads (5 % at least) and so
// is the next one; or the same of its latency, upwards; or when a larger share of the queries that
// ended in it failed than in the baseline, plus 5 %. Recovered is the first bin, at or after the
// first one that is off and not before the act has ended, that is neither low nor late, from which
// five bins have an output with a median within the margin and at most one of them low, a median
// latency within the margin, and a share of failures within 5 % of the baseline's. No bin is looked
// at after the next act began or the last query was issued.
//
// The queries of an act are those that were under way between its begin and its recovery (or the
// end of what is looked at). One is slowed if it succeeded and its latency, its time to the first
// token or its longest gap was above that of every query that succeeded in the baseline.
//
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "metrics/reply_fold.h"
#include "observe/chaos_log.h"

namespace assay::observe {

inline constexpr double kImpactMargin = 0.05;

struct Baseline {
  Instant from{};
  Instant to{};
  Duration bin{};
  double output_per_s = 0;
  double output_spread = 0;  // of a bin, as a share of the level
  std::uint64_t queries = 0;
  double failed_share = 0;
  Duration latency{};  // zero: too few queries
  double latency_spread = 0;
  Duration query_max{};  // of the queries that succeeded
  Duration first_max{};
  Duration gap_max{};
};

enum class Recovery : std::uint8_t {
  not_done,     // the act itself was not done
  no_baseline,  // nothing to compare with
  no_effect,    // no bin was off
  recovered,
  not_before_next,  // the next act began before
  not_in_run,
};

struct ActImpact {
  ChaosActFacts facts{};
  Instant began = Instant::none();
  Instant ended = Instant::none();  // of the undo, where the act has one
  std::optional<std::int64_t> exit_code{};
  std::optional<std::int64_t> status{};
  std::string output{};
  std::string error{};  // of the act or of its undo
  std::optional<Baseline> baseline{};
  bool borrowed = false;  // the baseline is that of the act before
  std::uint64_t queries = 0;
  std::uint64_t failed = 0;
  std::uint64_t slowed = 0;
  double output_lowest = 1;  // the lowest bin, as a share of the level
  double output_lost = 0;    // output events that the baseline would have had
  Duration latency_highest{};
  Recovery recovery = Recovery::not_done;
  Duration recovered_after{};  // since `began`, where it is recovered
};

struct Impact {
  Instant start{};  // of the measured phase
  std::vector<ActImpact> acts{};
  std::string trouble{};
};

class ImpactFold final : public metrics::ReplyFold {
 public:
  explicit ImpactFold(const RunInfo& info);
  Impact finish(const ChaosLog& log);

  void on_phase(const PhaseMark& mark) override;

  struct Ended {  // a query
    Instant due{};
    Instant done{};
    Instant first = Instant::none();
    Duration gap{};
    bool ok = false;
  };

 private:
  void on_reply(const metrics::Reply& reply) override;
  void count_output(Instant at);

  std::uint16_t phase_ = 0;
  Instant issue_end_ = Instant::max();
  std::vector<Ended> ended_{};
  Instant origin_ = Instant::none();
  Duration cell_{1'000'000};
  std::vector<std::uint32_t> cells_{};
};

// `chaos` of result_summary.json.
Json to_json(const Impact& impact);
// For a report: a line for each act, with its name.
std::vector<std::pair<std::string, std::string>> impact_lines(const Impact& impact);

}  // namespace assay::observe
