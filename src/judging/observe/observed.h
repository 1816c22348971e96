// Observed: what the server, the cards and the machine did in each measured phase, from the run's
// telemetry and its events: the figures of every measure, each source's lag and its correction, and
// the energy of the replies.
//
// A measured phase's window is from its start to the end of its last reply, drain included, as the
// rates of a Point have it. Where a source's lag is known, and 0 is not among its possible values,
// the source is read that much later. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "metrics/point.h"
#include "observe/lag.h"
#include "observe/load_fold.h"
#include "observe/signal.h"
#include "observe/telemetry.h"

namespace assay::observe {

struct ObservedSource {
  TelemetrySource facts{};
  TelemetryCost cost{};
  std::uint64_t readings = 0;  // with values
  std::uint64_t failed = 0;
  std::string error{};  // of the last one that failed
  Duration took_mean{};
  Duration took_max{};
  Lag lag{};
  std::string lag_from{};  // the measure that the lag was seen in; "" where none follows the load
  Duration corrected{};    // how much later the source is read
};

struct ObservedFigures {
  const Measure* measure = nullptr;
  std::uint32_t source = 0;
  std::string name{};        // as the source has it
  std::uint32_t series = 0;  // of the source, that are in it
  WindowFigures figures{};
  std::uint64_t restarts = 0;  // of the counter, over the whole run
};

// Energy of one boundary (GPU boards, CPU packages, a meter) by one source.
struct ObservedEnergy {
  std::string boundary{};  // "gpu", "cpu", "memory", "meter"
  std::uint32_t source = 0;
  std::string from{};        // "energy": a counter; "power": the mean of the readings
  std::uint32_t series = 0;  // cards, zones or meters
  double joules = 0;
  double joules_error = 0;  // at most, by the readings at the window's borders
  double watts = 0;         // mean over time
  // Power as it was read inside the window, or by a counter between two readings.
  std::uint64_t values = 0;
  double watts_p50 = 0;
  double watts_p95 = 0;
  double watts_max = 0;
  std::optional<double> joules_per_output_token{};
  std::optional<double> tokens_per_second_per_kw{};
};

struct ObservedWindow {
  std::string phase{};
  Instant from{};
  Instant to{};
  std::vector<ObservedFigures> figures{};
  std::vector<ObservedEnergy> energy{};
};

struct Observed {
  std::vector<ObservedSource> sources{};
  std::vector<ObservedWindow> windows{};
  std::vector<std::string> notes{};  // what a reader must know before using a figure
};

// Lines for the user of an analyzer come with it: which ranges the testing run is to be given.
Observed observe_run(const Telemetry& telemetry, const Load& load, const metrics::Point& point);

// `observed` of result_summary.json.
Json to_json(const Observed& observed);
// power.json in the reference client's form: the energy of the one measured phase, by the widest
// boundary that was read (a meter, else the cards, else the CPUs). Null where none was, and where
// the run has several measured phases.
Json power_json(const Observed& observed, const metrics::Point& point);
// For a report: the name of a line and its text.
std::vector<std::pair<std::string, std::string>> observed_lines(const Observed& observed);

}  // namespace assay::observe
