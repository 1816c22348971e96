// LoadFold: the load as the client put it on, over time: queries in flight, on a grid of 10 ms that
// widens with the run's length. It is the reference against which a source's lag is seen (lag.h).
//
// An EventSink for a replay, one thread. It may allocate.
#pragma once

#include <string_view>
#include <vector>

#include "base/time.h"
#include "domain/quiet_sink.h"

namespace assay::observe {

// A step function's mean over each cell, and its integral up to each cell.
struct Load {
  Instant origin{};
  Duration width{10'000'000};
  std::vector<double> cells{};  // mean queries in flight

  // The mean over [from, to], 0 outside the run. REQUIRES: from < to.
  double mean(Instant from, Instant to) const;
  // Makes mean() ready; cells must not change any more.
  void sum_up();

 private:
  double integral(Instant at) const;
  std::vector<double> sums_{};
};

class LoadFold final : public QuietSink {
 public:
  Load finish();

  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_done(const Event& event, std::string_view detail) override;

 private:
  void step(Instant at, double by);
  void advance(Instant to);
  void widen();

  Load load_{};
  bool began_ = false;
  double now_in_flight_ = 0;
  Instant at_{};
};

}  // namespace assay::observe
