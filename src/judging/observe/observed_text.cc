// The JSON and the lines of observed.h.
#include <cmath>

#include "base/format.h"
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

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json energy_json(const ObservedEnergy& energy) {
  return Json()
      .set("boundary", energy.boundary)
      .set("source", energy.source)
      .set("from", energy.from)
      .set("joules", energy.joules)
      .set("joules_error", energy.joules_error)
      .set("watts", energy.watts)
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
  Json sources = Json::array();
  for (const ObservedSource& source : observed.sources) sources.push_back(source_json(source));
  Json windows = Json::array();
  for (const ObservedWindow& window : observed.windows) {
    Json figures = Json::array();
    for (const ObservedFigures& seen : window.figures) figures.push_back(figures_json(seen));
    Json energy = Json::array();
    for (const ObservedEnergy& seen : window.energy) energy.push_back(energy_json(seen));
    windows.push_back(Json()
                          .set("phase", window.phase)
                          .set("from_ns", window.from.ns)
                          .set("to_ns", window.to.ns)
                          .set("measures", std::move(figures))
                          .set("energy", std::move(energy)));
  }
  Json notes = Json::array();
  for (const std::string& note : observed.notes) notes.push_back(note);
  return Json()
      .set("sources", std::move(sources))
      .set("windows", std::move(windows))
      .set("notes", std::move(notes));
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
