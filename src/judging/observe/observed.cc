#include "observe/observed.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace assay::observe {
namespace {

constexpr double kDisagreement = 0.05;  // of an energy counter and the mean of the power
constexpr double kErrorShare = 0.05;    // above it no joules a token are given

// The boundary of an energy or a power measure; "" for any other.
std::string_view boundary_of(std::string_view measure) {
  for (const std::string_view boundary : {"gpu", "cpu", "memory", "meter"}) {
    for (const std::string_view end : {"_energy_j", "_power_w"}) {
      if (measure == format("{}{}", boundary, end)) return boundary;
    }
  }
  return {};
}

ObservedSource source_of(const Telemetry& telemetry, std::uint32_t index) {
  ObservedSource out{.facts = telemetry.sources[index], .cost = telemetry.costs[index]};
  Duration took{};
  for (const TelemetryReading& reading : telemetry.readings) {
    if (reading.source != index) continue;
    if (!reading.error.empty()) {
      ++out.failed;
      out.error = reading.error;
      continue;
    }
    ++out.readings;
    took += reading.took;
    out.took_max = std::max(out.took_max, reading.took);
  }
  if (out.readings > 0) out.took_mean = took / static_cast<std::int64_t>(out.readings);
  return out;
}

// The lag by that of the source's measures which follows the load best.
void find_lag(const Load& load, const std::vector<Signal>& signals, std::uint32_t index,
              ObservedSource& out) {
  for (const Signal& signal : signals) {
    if (signal.source != index || !signal.measure->load) continue;
    Lag lag = estimate_lag(load, signal);
    const bool better =
        lag.known == out.lag.known ? lag.correlation > out.lag.correlation : lag.known;
    if (!out.lag_from.empty() && !better) continue;
    out.lag = std::move(lag);
    out.lag_from = signal.measure->id;
  }
  const bool certain = out.lag.known && (out.lag.low > Duration{} || out.lag.high < Duration{});
  if (certain) out.corrected = out.lag.lag;
}

// The power values of a signal inside a window.
std::vector<double> powers_in(const Signal& signal, Instant from, Instant to) {
  std::vector<double> out;
  for (std::size_t i = 0; i < signal.points.size(); ++i) {
    const SignalPoint& point = signal.points[i];
    if (point.at < from || point.at > to) continue;
    if (signal.measure->kind == MeasureKind::gauge) {
      out.push_back(point.value);
    } else if (i > 0 && signal.points[i - 1].at >= from && point.at > signal.points[i - 1].at) {
      out.push_back((point.value - signal.points[i - 1].value) /
                    (point.at - signal.points[i - 1].at).seconds());
    }
  }
  std::ranges::sort(out);
  return out;
}

void take_powers(const std::vector<double>& powers, ObservedEnergy& out) {
  out.values = powers.size();
  if (powers.empty()) return;
  const auto last = static_cast<double>(powers.size() - 1);
  out.watts_p50 = powers[static_cast<std::size_t>(0.5 * last)];
  out.watts_p95 = powers[static_cast<std::size_t>(0.95 * last)];
  out.watts_max = powers.back();
}

std::optional<ObservedEnergy> energy_of(const ObservedFigures& figures,
                                        const ObservedWindow& window, const metrics::Point& point) {
  const std::string_view boundary = boundary_of(figures.measure->id);
  if (boundary.empty()) return std::nullopt;
  const double seconds = (window.to - window.from).seconds();
  ObservedEnergy out{
      .boundary = std::string(boundary), .source = figures.source, .series = figures.series};
  if (figures.measure->kind == MeasureKind::counter) {
    out.from = "energy";
    out.joules = figures.figures.delta;
    out.joules_error = figures.figures.delta_error;
    out.watts = out.joules / seconds;
  } else {
    out.from = "power";
    out.watts = figures.figures.mean;
    out.joules = out.watts * seconds;
  }
  // Tokens are those of all performance phases, so only a single window has its own.
  const auto windows =
      std::ranges::count(point.phases, PhaseKind::performance, &metrics::PhaseSpan::kind);
  const auto tokens = static_cast<double>(point.tokens.output);
  if (windows == 1 && tokens > 0 && out.joules > 0 &&
      out.joules_error <= kErrorShare * out.joules) {
    out.joules_per_output_token = out.joules / tokens;
    out.tokens_per_second_per_kw = tokens / seconds / (out.watts / 1000);
  }
  return out;
}

// Where a source has both for one boundary, that of more cards is kept, and of as many the counter;
// a note says where the power readings say something else.
void take_energy(ObservedEnergy energy, ObservedWindow& window, std::vector<std::string>& notes) {
  for (ObservedEnergy& known : window.energy) {
    if (known.source != energy.source || known.boundary != energy.boundary) continue;
    if (known.series != energy.series) {
      notes.push_back(
          format("{} energy: not every card has a counter of its energy; by the power "
                 "readings",
                 energy.boundary));
      if (energy.series > known.series) known = std::move(energy);
      return;
    }
    const double apart = std::abs(known.joules - energy.joules);
    if (apart > kDisagreement * std::max(known.joules, energy.joules)) {
      notes.push_back(
          format("{} energy: the counter and the power readings of one source differ "
                 "by {:.1f} %; the counter's is given",
                 energy.boundary, 100 * apart / std::max(known.joules, energy.joules)));
    }
    if (energy.from == "energy") known = std::move(energy);
    return;
  }
  window.energy.push_back(std::move(energy));
}

ObservedWindow window_of(const std::vector<Signal>& signals, const metrics::PhaseSpan& phase,
                         Instant to, const metrics::Point& point, Observed& out) {
  ObservedWindow window{.phase = phase.name, .from = phase.started, .to = to};
  for (const Signal& signal : signals) {
    const Duration later = out.sources[signal.source].corrected;
    const auto figures = figures_in(signal, window.from + later, window.to + later);
    if (!figures) continue;
    window.figures.push_back({.measure = signal.measure,
                              .source = signal.source,
                              .name = std::string(signal.row->name),
                              .series = signal.series,
                              .figures = *figures,
                              .restarts = signal.restarts});
    auto energy = energy_of(window.figures.back(), window, point);
    if (!energy) continue;
    take_powers(powers_in(signal, window.from + later, window.to + later), *energy);
    take_energy(*std::move(energy), window, out.notes);
  }
  return window;
}

void add_notes(const Telemetry& telemetry, Observed& out) {
  if (!telemetry.trouble.empty()) out.notes.push_back("telemetry.jsonl: " + telemetry.trouble);
  if (telemetry.series_lost > 0) {
    out.notes.push_back(format("{} values of further series were not kept (at most {} series)",
                               telemetry.series_lost, kSeriesMax));
  }
  for (const ObservedSource& source : out.sources) {
    if (source.failed == 0) continue;
    out.notes.push_back(format("{}: {} of {} readings failed; the last: {}", source.facts.name,
                               source.failed, source.readings + source.failed, source.error));
  }
}

}  // namespace

Observed observe_run(const Telemetry& telemetry, const Load& load, const metrics::Point& point) {
  Observed out;
  const std::vector<Signal> signals = signals_of(telemetry);
  for (std::uint32_t i = 0; i < telemetry.sources.size(); ++i) {
    out.sources.push_back(source_of(telemetry, i));
    find_lag(load, signals, i, out.sources.back());
  }
  for (const metrics::PhaseSpan& phase : point.phases) {
    if (phase.kind != PhaseKind::performance || !phase.started.known()) continue;
    const Instant end = phase.drained.known() ? phase.drained : point.ended;
    if (!end.known() || end <= phase.started) continue;
    out.windows.push_back(window_of(signals, phase, end, point, out));
  }
  add_notes(telemetry, out);
  return out;
}

}  // namespace assay::observe
