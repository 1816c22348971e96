// Source: something beside the endpoint's replies that can be read while a run goes on: a server's
// page of metrics, a GPU, a meter. One thread of the Collector calls read() again and again; a
// source belongs to that thread.
//
// Values are samples under the source's own names (observe/measure.h knows what they mean). A
// counter must only grow: a source whose counter wraps unwraps it.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "observe/telemetry.h"

namespace assay::meter {

struct SourceReading {
  Instant at{};     // of the values, on the run's clock
  Duration took{};  // they are of an instant within ± took / 2
  std::vector<observe::PrometheusSample> samples{};
};

class Source {
 public:
  virtual ~Source() = default;
  virtual observe::TelemetrySource facts() const = 0;
  // What there is to read now, oldest first; empty where nothing is new. May block for some
  // seconds at most.
  virtual Result<std::vector<SourceReading>> read(const Clock& clock) = 0;
  // Lines or values that could not be read, so far.
  virtual std::uint64_t unreadable() const = 0;
};

}  // namespace assay::meter
