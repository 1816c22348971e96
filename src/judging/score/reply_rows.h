// ReplyRows: reads a run from its log and passes each reply to scorers, phase by phase, when it
// ended. Memory holds the replies in flight. A query that failed, or whose end is not in the log,
// is a row without an answer: a score leaves out no query. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/quiet_sink.h"
#include "domain/sample.h"
#include "score/scorer.h"

namespace assay::score {

struct PhaseScore {
  Result<Verdict> verdict = invalid("not scored");
  std::size_t issued = 0;
  std::size_t scored = 0;              // answered with something
  std::size_t empty = 0;               // answered with nothing
  std::size_t missing = 0;             // not answered
  std::size_t unkept = 0;              // answered, but its text is not in the log
  Duration duration{};                 // first query sent to last reply
  std::vector<std::int64_t> tokens{};  // for each answer with a known count
};

class ReplyRows final : public QuietSink {
 public:
  // Returns a reply's tokens; -1 if not known.
  using TokensOf = std::function<std::int64_t(const Event&)>;

  // Receives verdict_record of each judged row; `set`: which call of add_phases its phase is of.
  using OnJudged = std::function<void(std::size_t set, const Row& row, Json record)>;

  // Returns Row::artefacts of a query.
  using ArtefactsOf = std::function<Json(const Query&)>;

  explicit ReplyRows(TokensOf tokens_of = {}, OnJudged on_judged = {},
                     ArtefactsOf artefacts_of = {})
      : tokens_of_(std::move(tokens_of)),
        on_judged_(std::move(on_judged)),
        artefacts_of_(std::move(artefacts_of)) {}

  // Adds phases of the run that share one score. `dataset` must outlive this object. Without a
  // scorer the replies are counted, and the scorer's error is the verdict.
  void add_phases(std::vector<std::uint16_t> phases, const Dataset& dataset,
                  Result<std::unique_ptr<Scorer>> scorer);

  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

  // Returns scores in the order of add_phases. A scorer's first error is its verdict.
  std::vector<PhaseScore> finish();

 private:
  struct Reply {
    std::uint32_t sample = 0;
    std::string content{};
    std::string reasoning{};
    std::string tool_calls{};
  };
  struct Phase {
    std::vector<std::uint16_t> indices{};
    const Dataset* dataset = nullptr;
    std::unique_ptr<Scorer> scorer{};
    Result<void> state{};
    PhaseScore score{};
    Instant first = Instant::none();
    Instant last = Instant::none();
  };

  Phase* phase_of(std::uint16_t index);
  void tell(Phase& phase, Row& row, bool unkept);

  TokensOf tokens_of_;
  OnJudged on_judged_;
  ArtefactsOf artefacts_of_;
  std::vector<Phase> phases_{};
  FlatMap<Reply> replies_{256};
};

}  // namespace assay::score
