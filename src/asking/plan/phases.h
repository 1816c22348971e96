// PhaseMaker: makes the phases of a run, in order: warm-up, performance, one for each accuracy
// dataset. It decides how long each lasts (docs/decisions) and when its queries are due
// (arrivals.h). One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/arrivals.h"
#include "plan/make_plan.h"

namespace assay::plan {

struct AccuracyPhase {
  std::string name{};
  std::uint32_t dataset = 0;  // index into PlanBundle::datasets
  std::uint32_t repeats = 1;
};

class PhaseMaker {
 public:
  // Both must outlive the maker. It adds phases and notes to `out`.
  PhaseMaker(const Config& config, PlanBundle& out);

  // Adds the warm-up, if there is one, and the performance phase.
  Result<void> add_measured(std::uint32_t dataset);
  Result<void> add_accuracy(const AccuracyPhase& phase);
  // agentic_inference, instead of add_measured(): adds the conversations and their tail.
  Result<void> add_replay(std::uint32_t dataset, const AgenticConfig& agentic);

 private:
  // How long a phase lasts: a number of queries, or a time.
  struct Length {
    std::uint64_t queries = 0;  // exact; 0: by time
    Duration time{};            // by time: the least time
    bool whole_passes = false;
  };

  Result<Length> performance_length(std::uint64_t rows);
  Result<void> add_warmup(std::uint32_t dataset);
  // Sets the schedule or the limits, and the stop rule that belongs to them.
  Result<void> fill(PhasePlan& phase, const Length& length, Arrivals* arrivals, bool ramp);
  Result<void> fill_schedule(PhasePlan& phase, const Length& length, Arrivals& arrivals);
  // Uses the dataset's own timestamps, pass after pass.
  Result<void> fill_trace(PhasePlan& phase, const Length& length);
  Result<void> fill_burst(PhasePlan& phase, const Length& length);
  // Uses the schedule of classes with rates of their own.
  Result<void> fill_classes(PhasePlan& phase, const Length& length,
                            const std::vector<std::string>& classes);
  void fill_closed(PhasePlan& phase, const Length& length, bool ramp);
  // When a closed loop has enough.
  void fill_length(PhasePlan& phase, const Length& length) const;
  std::vector<LimitStep> limits(bool ramp) const;
  std::uint64_t rows_of(const PhasePlan& phase) const;
  // nullopt for patterns without drawn gaps.
  std::optional<Arrivals> make_arrivals(std::uint64_t seed, bool ramp) const;
  // In the newer spelling, a drain limit of 0 means no wait.
  static void set_drain(PhasePlan& phase, Duration limit);

  const Config& config_;
  PlanBundle& out_;
  // One generator for the performance phase and all accuracy phases, as in the reference client.
  std::optional<Arrivals> arrivals_{};
};

}  // namespace assay::plan
