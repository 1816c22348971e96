// MeasuredFold: the events of a recorded LoadGen test → its samples, and the judgement on them. It
// is a sink, so that a run, its replay from disk and a simulation are judged by one code.
//
// Memory: 64 bytes a sample. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/run_info.h"
#include "loadgen/test.h"
#include "metrics/reply_fold.h"

namespace assay::loadgen {

// Where a run keeps its Test: a member of RunInfo::facts.
inline constexpr const char* kTestFact = "loadgen";
// Whether a run has a test to judge: one that asked for accuracy alone has none.
bool has_performance_test(const RunInfo& info);

class MeasuredFold final : public metrics::ReplyFold {
 public:
  // Folds the run's performance phases; a LoadGen test has one.
  explicit MeasuredFold(const RunInfo& info) : metrics::ReplyFold(info), phases_(info.phases) {}

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const assay::Query& query, Instant due, Instant sent) override;

  // The samples in the order of their ends, those that never ended behind them as failed.
  std::vector<MeasuredSample> finish();

 private:
  void on_reply(const metrics::Reply& reply) override;
  bool is_measured(std::uint16_t phase) const;
  std::int64_t since_start(Instant at) const;

  std::vector<PhaseInfo> phases_;
  Instant started_ = Instant::none();
  std::vector<MeasuredSample> samples_{};
  std::vector<bool> ended_{};  // by Query.index
  std::vector<assay::Query> sent_{};
};

// The judgement on a folded run, whose facts name a test.
Result<Judgement> judge(const RunInfo& info, MeasuredFold& fold, const RunEnd& end);

}  // namespace assay::loadgen
