// The detector's result with the words and keys of other tools.
#include "base/enum_name.h"
#include "base/format.h"
#include "domain/api.h"
#include "metrics/steady_state.h"

namespace assay::metrics {
namespace {

double ms(double ns) { return ns * 1e-6; }

Json percentiles_ms(const Distribution& series) {
  if (series.empty()) return Json();
  return Json()
      .set("p50", ms(series.median()))
      .set("p90", ms(series.percentile(90.0)))
      .set("p99", ms(series.percentile(99.0)))
      .set("mean", ms(series.mean));
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::string minutes(Duration time) {
  const std::int64_t seconds = time.ns / 1'000'000'000;
  return format("{}:{:02}", seconds / 60, seconds % 60);
}

// Nothing drifts, but the run is shorter than the rules require.
std::string too_few_text(const SteadyState& steady) {
  const std::string have =
      steady.super_passes >= kSuperPassesMin
          ? format("level in super-passes {} to {} of {} only", steady.first + 1, steady.last + 1,
                   steady.super_passes)
          : format("{} super-pass{}", steady.super_passes, steady.super_passes == 1 ? "" : "es");
  return format("not known: {}, {} are needed; the whole run counts", have, kSuperPassesMin);
}

}  // namespace

std::string_view to_string(WindowStatus status) { return enum_name(status); }

std::string_view to_string(SteadyVerdict verdict) {
  switch (verdict) {
    case SteadyVerdict::steady:
      return "STEADY STATE";
    case SteadyVerdict::drifting_up:
      return "drifting_up";
    case SteadyVerdict::drifting_down:
      return "drifting_down";
    case SteadyVerdict::anomaly:
      return "anomaly";
    case SteadyVerdict::not_found:
      return "not found";
  }
  return "";
}

std::string_view to_string(Level level) {
  switch (level) {
    case Level::plateau:
      return "Plateau";
    case Level::drifting_up:
      return "Drifting Up";
    case Level::drifting_down:
      return "Drifting Down";
    case Level::unknown:
      return "Unknown";
  }
  return "";
}

Json steady_state_block(const SteadyState& steady) {
  Json out;
  out.set("status", to_string(steady.status)).set("verdict", to_string(steady.verdict));
  if (steady.found) {
    out.set("window", Json()
                          .set("super_pass_start", steady.first)
                          .set("super_pass_end", steady.last)
                          .set("super_pass_size", steady.super_pass_size)
                          .set("n_samples", steady.samples)
                          .set("duration_s", steady.span.seconds()));
  }
  Json state = Json::object();
  for (const GatingMetric& metric : steady.metrics) {
    // point.yaml has no word for a metric that neither is level nor drifts: it is left out.
    if (metric.level != Level::unknown) state.set(metric.name, to_string(metric.level));
  }
  out.set("state", std::move(state));
  if (steady.shift) {
    const std::string_view shift =
        steady.by == Gating::tpot ? "tpot_p50_shift" : "latency_p50_shift";
    out.set("anomaly", Json().set("after_super_pass", steady.last).set(shift, *steady.shift));
  }
  return out;
}

Json steady_state_json(const SteadyState& steady) {
  Json out = steady_state_block(steady);
  out.set("official", steady.official())
      .set("super_passes", steady.super_passes)
      .set("window_min_s", steady.window_min.seconds());
  Json list = Json::array();
  for (const GatingMetric& metric : steady.metrics) {
    Json one;
    one.set("name", metric.name)
        .set("state", to_string(metric.level))
        .set("drift", metric.drift)
        .set("drift_error", metric.drift_error)
        .set("p_value", metric.p_value)
        .set("variation", metric.variation);
    if (metric.is_rate()) {
      one.set("low_qps", metric.low).set("high_qps", metric.high);
    } else {
      one.set("low_ms", ms(metric.low)).set("high_ms", ms(metric.high));
    }
    list.push_back(std::move(one));
  }
  out.set("metrics", std::move(list));
  if (steady.found) {
    Json figures;
    figures.set("n_samples_completed", steady.completed)
        .set("n_samples_failed", steady.failed)
        .set("output_tokens", steady.output_tokens)
        .set("system_tps", optional_json(steady.tps))
        .set("tps_per_user", optional_json(steady.tps_per_user))
        .set("qps", steady.qps)
        .set("ttft_ms", percentiles_ms(steady.ttft))
        .set("tpot_ms", percentiles_ms(steady.tpot))
        .set("latency_ms", percentiles_ms(steady.latency));
    if (!steady.unit.empty()) {
      figures.set("units", steady.unit == kAudioSecond ? Json(steady.sound_s) : Json(steady.units))
          .set("units_per_s", optional_json(steady.units_per_s));
    }
    out.set("figures", std::move(figures));
  }
  return out;
}

std::string steady_state_text(const SteadyState& steady) {
  if (!steady.found) {
    if (steady.super_passes == 0) return "not known: less than one pass over the dataset";
    for (const GatingMetric& metric : steady.metrics) {
      if (metric.level == Level::plateau || metric.level == Level::unknown) continue;
      const double scale = metric.is_rate() ? 1 : 1e-6;
      return format("no: {} drifts by {:+.0f} %, from {:.3g} to {:.3g} {}", metric.name,
                    100 * metric.drift, scale * metric.low, scale * metric.high,
                    metric.is_rate() ? "queries/s" : "ms");
    }
    if (steady.super_passes < kSuperPassesMin) return too_few_text(steady);
    return "no: no level stretch was found; the whole run counts";
  }
  if (steady.status == WindowStatus::insufficient_passes) return too_few_text(steady);
  const std::string where = format("super-passes {} to {} of {}, {}", steady.first + 1,
                                   steady.last + 1, steady.super_passes, minutes(steady.span));
  std::string out = steady.verdict == SteadyVerdict::anomaly
                        ? format("yes, then {} shifted by {:+.0f} %: {}",
                                 steady.by == Gating::tpot ? "TPOT" : "latency",
                                 100 * steady.shift.value_or(0), where)
                        : "yes: " + where;
  if (steady.status == WindowStatus::insufficient_duration) {
    out += format("; shorter than the {} that the rules want, so the whole run counts",
                  minutes(steady.window_min));
  }
  return out;
}

}  // namespace assay::metrics
