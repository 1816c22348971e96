// ReplyFold: a sink that gathers the events of each query and passes on whole replies, one at a
// time, when they have ended: for folds that look at a reply as other tools do, and for exporters.
// Only queries of performance phases, and of a replay's tail where the fold asks for it; a query
// whose end is not in the log is never passed on.
//
// Memory: 32 bytes for each event of the replies in flight. One thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "domain/quiet_sink.h"
#include "domain/run_info.h"
#include "metrics/token_counts.h"
#include "metrics/token_truth.h"

namespace assay::metrics {

// One query that has ended and every event of its stream.
struct Reply {
  const Event& event;
  std::span<const StreamEvent> events;
  std::string_view text{};    // all fragments, where the fold keeps texts and the log has them
  std::string_view detail{};  // why it failed
  // The tokenizer's counts, if the fold got counts; all -1 for a reply without a count.
  const TokenCount* counted = nullptr;
  const TokenTruth* truth = nullptr;  // never null
};

class ReplyFold : public QuietSink {
 public:
  explicit ReplyFold(const RunInfo& info, bool keep_text = false, bool with_tail = false);

  // The run's token counts. Set them before the first event; they outlive the fold. Null: none.
  void use_counts(const TokenCounts* counts) { counts_ = counts; }

  void on_phase(const PhaseMark& mark) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;

 protected:
  virtual void on_reply(const Reply& reply) = 0;

  // Start of the measured phase (or the first send), and the end of its last query.
  Instant run_start() const { return run_start_; }
  Instant run_end() const { return run_end_; }

 private:
  struct Open {
    std::vector<StreamEvent> events{};
    std::string text{};
  };

  bool measured(std::uint16_t phase) const;
  const TokenCount* counted(const Query& query) const;

  bool keep_text_;
  bool with_tail_;
  ReplyEvidence evidence_{};  // of the query that ends
  TokenTruth truth_{};
  const TokenCounts* counts_ = nullptr;
  std::vector<PhaseKind> phases_{};
  FlatMap<Open> open_{256};
  Instant run_start_ = Instant::max();
  Instant run_end_ = Instant::none();
};

}  // namespace assay::metrics
