// AudioFold: the sound of a run's replies, as figures: Audio of point.h. One thread.
#pragma once

#include <cstdint>

#include "domain/event.h"
#include "metrics/point.h"
#include "metrics/series.h"

namespace assay::metrics {

class AudioFold {
 public:
  // A query that succeeded.
  void add(const Event& event);
  // `duration`: the run's. `estimates`, `limits`: as in Series::finish(). Call it once.
  Audio finish(Duration duration, bool estimates, bool limits);

 private:
  Audio sums_{};
  std::int64_t length_ns_ = 0;
  Series first_{};
  Series first_due_{};
  Series first_read_{};
  RatioSeries speed_{};
  Series waits_{};
};

}  // namespace assay::metrics
