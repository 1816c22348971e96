// Signals: one measure of one source over the run, put together from the source's series
// (measure.h): a gauge's value, a counter's growth since the first reading, a histogram's sum and
// count. A counter that falls was restarted: what it then has is growth. A counter that appears
// after the first reading began at 0: engines show some only when they first count.
//
// figures_in() reduces a signal to a window. A gauge is taken for constant from one reading to the
// next; a counter for growing evenly between two. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "observe/measure.h"
#include "observe/telemetry.h"

namespace assay::observe {

struct SignalPoint {
  Instant at{};
  double value = 0;  // of a counter the growth; of a histogram the growth of the sum
  double count = 0;  // of a histogram the growth of the count
};

struct Signal {
  const Measure* measure = nullptr;
  const NameRow* row = nullptr;  // the name that it was read under
  std::uint32_t source = 0;
  std::uint32_t series = 0;           // how many of the source's are in it
  std::vector<SignalPoint> points{};  // in the order of time
  std::uint64_t restarts = 0;
};

// In the order of sources, then of measures().
std::vector<Signal> signals_of(const Telemetry& telemetry);

struct WindowFigures {
  std::uint64_t readings = 0;  // inside the window
  double mean = 0;             // gauge: over time; histogram: of one of its values
  double min = 0;              // gauge
  double max = 0;              // gauge
  double delta = 0;            // counter: growth inside; histogram: of the count
  // Counter: the growth in those intervals between readings that the window's borders cut, and what
  // was not read, at the rate of what was: delta is off by about this at most.
  double delta_error = 0;
};

// nullopt: the signal has no readings that reach over the window's middle, so it says nothing of
// it. A counter that was not read before and after the window is taken where it was read.
std::optional<WindowFigures> figures_in(const Signal& signal, Instant from, Instant to);

}  // namespace assay::observe
