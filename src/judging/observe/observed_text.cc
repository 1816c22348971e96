// The JSON and the lines of observed.h.

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "observe/observed.h"

namespace assay::observe {
namespace {

Json lag_json(const ObservedSource& source) {
  if (source.lag_from.empty()) return {};
  const Lag& lag = source.lag;
  Json out = Json().set("seen_in", source.lag_from).set("known", lag.known);
  if (lag.known) {
    out.set("lag_ns", lag.lag.ns)
        .set("low_ns", lag.low.ns)
        .set("high_ns", lag.high.ns)
        .set("width_ns", lag.width.ns)
        .set("corrected_ns", source.corrected.ns);
  } else {
    out.set("why", lag.why);
  }
  return out.set("correlation", lag.correlation);
}

Json source_json(const ObservedSource& source) {
  return Json()
      .set("kind", source.facts.kind)
      .set("name", source.facts.name)
      .set("interval_ns", source.facts.interval.ns)
      .set("readings", source.readings)
      .set("failed", source.failed)
      .set("took_ns_mean", source.took_mean.ns)
      .set("took_ns_max", source.took_max.ns)
      .set("cpu_ns", source.cost.cpu.ns)
      .set("lag", lag_json(source));
}

Json figures_json(const ObservedFigures& seen) {
  const WindowFigures& figures = seen.figures;
  Json out = Json()
                 .set("measure", seen.measure->id)
                 .set("unit", seen.measure->unit)
                 .set("source", seen.source)
                 .set("name", seen.name)
                 .set("readings", figures.readings);
  switch (seen.measure->kind) {
    case MeasureKind::gauge:
      return out.set("mean", figures.mean).set("min", figures.min).set("max", figures.max);
    case MeasureKind::counter:
      return out.set("delta", figures.delta)
          .set("delta_error", figures.delta_error)
          .set("restarts", seen.restarts);
    case MeasureKind::histogram:
      return out.set("mean", figures.mean)
          .set("count", figures.delta)
          .set("restarts", seen.restarts);
  }
  return out;
}

// What a person at an analyzer does next: the testing run's ranges after a ranging run.
std::string ranges_text(const ObservedWindow& window, const ObservedSource& source,
                        std::uint32_t index) {
  constexpr double kMoreCurrent = 1.1;
  double volts = 0;
  double amps = 0;
  for (const ObservedFigures& seen : window.figures) {
    if (seen.source != index) continue;
    if (seen.measure->id == "meter_voltage_v") volts = seen.figures.max;
    if (seen.measure->id == "meter_current_a") amps = seen.figures.max;
  }
  if (source.facts.kind != "ptd" || volts <= 0 || amps <= 0) return {};
  return format(
      "after this run with ranges Auto, the testing run's are /{:.3f}/{:.4f} behind the "
      "port: the highest voltage, and 1.1 times the highest current",
      volts, amps * kMoreCurrent);
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json energy_json(const ObservedEnergy& energy) {
  return Json()
      .set("boundary", energy.boundary)
      .set("source", energy.source)
      .set("from", energy.from)
      .set("joules", energy.joules)
      .set("joules_error", energy.joules_error)
      .set("watts", energy.watts)
      .set("watts_p50", energy.watts_p50)
      .set("watts_p95", energy.watts_p95)
      .set("watts_max", energy.watts_max)
      .set("values", energy.values)
      .set("joules_per_output_token", optional_json(energy.joules_per_output_token))
      .set("tokens_per_second_per_kw", optional_json(energy.tokens_per_second_per_kw));
}

// "412 W", "3.2 ms", "43 %"
std::string value_text(double value, std::string_view unit) {
  if (unit == "s") return human_duration(Duration::from_seconds(value));
  if (unit == "share") return format("{:.0f} %", 100 * value);
  if (unit == "bytes") return human_bytes(static_cast<std::uint64_t>(std::max(value, 0.0)));
  const std::string number = three_digits(value);
  return unit.empty() || unit == "tokens" ? number : format("{} {}", number, unit);
}

// "requests running 12.3 (at most 16)", "queue 3.2 ms a request (mean)"
std::string figures_text(const ObservedFigures& seen) {
  const WindowFigures& figures = seen.figures;
  const std::string_view unit = seen.measure->unit;
  switch (seen.measure->kind) {
    case MeasureKind::gauge:
      return format("{} {} (at most {})", seen.measure->words, value_text(figures.mean, unit),
                    value_text(figures.max, unit));
    case MeasureKind::counter:
      return format("{} {}", seen.measure->words, value_text(figures.delta, unit));
    case MeasureKind::histogram:
      return format("{} {} (mean)", seen.measure->words, value_text(figures.mean, unit));
  }
  return {};
}

std::string energy_text(const ObservedEnergy& energy) {
  const std::string_view of = energy.boundary == "gpu"      ? "GPU boards"
                              : energy.boundary == "cpu"    ? "CPU packages"
                              : energy.boundary == "memory" ? "memory"
                                                            : "the meter";
  std::string out =
      format("{}: {} W, {} J", of, three_digits(energy.watts), three_digits(energy.joules));
  if (energy.joules_per_output_token) {
    out += format(", {} J an output token, {} tok/s a kW",
                  three_digits(*energy.joules_per_output_token),
                  three_digits(*energy.tokens_per_second_per_kw));
  } else if (energy.joules_error > 0) {
    out += format(" ± {}", three_digits(energy.joules_error));
  }
  return out + (energy.from == "energy" ? "; by its counter" : "; by its power readings");
}

std::string source_text(const ObservedSource& source) {
  std::string out = format("{} every {}: {} readings, {} failed, each took {}, {} of CPU",
                           source.facts.name, human_duration(source.facts.interval),
                           count_text(source.readings), count_text(source.failed),
                           human_duration(source.took_mean), human_duration(source.cost.cpu));
  if (source.lag_from.empty()) return out;
  if (!source.lag.known) return out + "; lag unknown: " + source.lag.why;
  out += format("; lag {} ({} to {})", human_duration(source.lag.lag),
                human_duration(source.lag.low), human_duration(source.lag.high));
  return out + (source.corrected == Duration{} ? ", not corrected" : ", corrected");
}

}  // namespace

Json to_json(const Observed& observed) {
  Json windows = Json::array();
  for (const ObservedWindow& window : observed.windows) {
    windows.push_back(Json()
                          .set("phase", window.phase)
                          .set("from_ns", window.from.ns)
                          .set("to_ns", window.to.ns)
                          .set("measures", json_list(window.figures, figures_json))
                          .set("energy", json_list(window.energy, energy_json)));
  }
  return Json()
      .set("sources", json_list(observed.sources, source_json))
      .set("windows", std::move(windows))
      .set("notes", json_list(observed.notes));
}

Json power_json(const Observed& observed, const metrics::Point& point) {
  if (observed.windows.size() != 1) return {};
  const ObservedWindow& window = observed.windows.front();
  const ObservedEnergy* chosen = nullptr;
  for (const std::string_view boundary : {"meter", "gpu", "cpu"}) {
    for (const ObservedEnergy& energy : window.energy) {
      if (chosen == nullptr && energy.boundary == boundary) chosen = &energy;
    }
  }
  if (chosen == nullptr) return {};
  const auto epoch = [&point](Instant at) {
    return static_cast<double>(at.ns + point.run.offset.wall_minus_monotonic.ns) * 1e-9;
  };
  const ObservedSource& source = observed.sources[chosen->source];
  Json power = Json()
                   .set("mean", chosen->watts)
                   .set("p50", chosen->watts_p50)
                   .set("p95", chosen->watts_p95)
                   .set("max", chosen->watts_max);
  Json one = Json()
                 .set("label", format("{}: {}", chosen->boundary, source.facts.name))
                 .set("value_kind", chosen->from)
                 .set("energy_j", chosen->joules)
                 .set("power_w", std::move(power))
                 .set("sample_count", chosen->values);
  return Json()
      .set("schema_version", "1.0")
      .set("status", chosen->values > 0 ? "ok" : "failed")
      .set("window", Json()
                         .set("start_epoch_s", epoch(window.from))
                         .set("end_epoch_s", epoch(window.to))
                         .set("duration_s", (window.to - window.from).seconds())
                         .set("basis", "performance_phase"))
      .set("totals",
           Json()
               .set("energy_j", chosen->joules)
               .set("mean_power_w", chosen->watts)
               .set("output_tokens", point.tokens.output)
               .set("energy_per_output_token_j", optional_json(chosen->joules_per_output_token))
               .set("consistent_with_window", chosen->joules_per_output_token.has_value()))
      .set("sources", Json::array().push_back(std::move(one)))
      .set("provenance", Json()
                             .set("command", source.facts.name)
                             .set("interval_s", source.facts.interval.seconds())
                             .set("samples_in_window", chosen->values)
                             .set("samples_dropped", source.cost.unreadable));
}

std::vector<std::pair<std::string, std::string>> observed_lines(const Observed& observed) {
  std::vector<std::pair<std::string, std::string>> out;
  const bool several = observed.windows.size() > 1;
  for (const ObservedWindow& window : observed.windows) {
    for (std::uint32_t i = 0; i < observed.sources.size(); ++i) {
      std::string text;
      for (const ObservedFigures& seen : window.figures) {
        if (seen.source == i) text += (text.empty() ? "" : "; ") + figures_text(seen);
      }
      if (text.empty()) continue;
      out.emplace_back("observed", (several ? window.phase + ": " : "") + text);
    }
    for (std::uint32_t i = 0; i < observed.sources.size(); ++i) {
      std::string text = ranges_text(window, observed.sources[i], i);
      if (!text.empty()) out.emplace_back("analyzer", std::move(text));
    }
    for (const ObservedEnergy& energy : window.energy) {
      out.emplace_back("power", (several ? window.phase + ": " : "") + energy_text(energy));
    }
  }
  for (const ObservedSource& source : observed.sources) {
    out.emplace_back("telemetry", source_text(source));
  }
  for (const std::string& note : observed.notes) out.emplace_back("telemetry", note);
  return out;
}

}  // namespace assay::observe
