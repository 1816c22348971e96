#include "observe/observed.h"

#include <gtest/gtest.h>

namespace assay::observe {
namespace {

Instant observed_at(double s) { return {static_cast<std::int64_t>(s * 1e9)}; }

metrics::Point point_between(double from, double to, std::int64_t tokens) {
  metrics::Point point;
  point.phases.push_back({.kind = PhaseKind::warmup, .started = observed_at(0)});
  point.phases.push_back({.kind = PhaseKind::performance,
                          .name = "performance",
                          .started = observed_at(from),
                          .drained = observed_at(to)});
  point.tokens.output = tokens;
  return point;
}

// Readings of one source, each second, of one series.
Telemetry telemetry_of(std::string_view name, double from, double to, double first, double step) {
  TelemetryLines lines;
  std::string text = TelemetryLines::head("r");
  text += lines.source({.kind = "page", .name = "s", .interval = 1_s});
  double value = first;
  for (double at = from; at <= to; at += 1, value += step) {
    text += lines.reading(0, observed_at(at), 2_ms, {{std::string(name), {}, value}});
  }
  return parse_telemetry(text + lines.end({{.readings = 1}})).value();
}

Load no_load() {
  Load load;
  load.sum_up();
  return load;
}

TEST(Observed, joules_a_token_are_those_of_the_measured_phase) {
  // 500 W for 100 s; the phase has 40 s of it.
  const Telemetry telemetry = telemetry_of("nvml_energy_joules_total", 0, 100, 1000, 500);
  const Observed seen = observe_run(telemetry, no_load(), point_between(10, 50, 40'000));
  ASSERT_EQ(seen.windows.size(), 1U);
  ASSERT_EQ(seen.windows[0].energy.size(), 1U);
  const ObservedEnergy& energy = seen.windows[0].energy[0];
  EXPECT_EQ(energy.boundary, "gpu");
  EXPECT_EQ(energy.from, "energy");
  EXPECT_DOUBLE_EQ(energy.joules, 20'000);
  EXPECT_DOUBLE_EQ(energy.watts, 500);
  EXPECT_DOUBLE_EQ(energy.joules_per_output_token.value(), 0.5);
  EXPECT_DOUBLE_EQ(energy.tokens_per_second_per_kw.value(), 2000);
}

TEST(Observed, power_readings_alone_give_their_mean_times_the_time) {
  const Telemetry telemetry = telemetry_of("DCGM_FI_DEV_POWER_USAGE", 0, 60, 250, 0);
  const Observed seen = observe_run(telemetry, no_load(), point_between(10, 50, 1000));
  ASSERT_EQ(seen.windows[0].energy.size(), 1U);
  EXPECT_EQ(seen.windows[0].energy[0].from, "power");
  EXPECT_DOUBLE_EQ(seen.windows[0].energy[0].joules, 10'000);
}

TEST(Observed, a_counter_that_is_read_too_seldom_gives_no_joules_a_token) {
  // The window lies between two readings: all of the growth may be outside it.
  TelemetryLines lines;
  std::string text = lines.source({.kind = "rapl", .name = "s", .interval = 1_s});
  for (const double at : {0.0, 100.0}) {
    text += lines.reading(0, observed_at(at), 2_ms,
                          {{"rapl_energy_joules_total", {{"zone", "package"}}, 30 * at}});
  }
  const Telemetry telemetry = parse_telemetry(text).value();
  const Observed seen = observe_run(telemetry, no_load(), point_between(10, 50, 1000));
  ASSERT_EQ(seen.windows[0].energy.size(), 1U);
  EXPECT_EQ(seen.windows[0].energy[0].boundary, "cpu");
  EXPECT_FALSE(seen.windows[0].energy[0].joules_per_output_token);
  EXPECT_GT(seen.windows[0].energy[0].joules_error, 0);
}

TEST(Observed, a_lag_that_is_seen_is_corrected_and_stated) {
  Load load;
  load.origin = observed_at(0);
  for (int i = 0; i < 12'000; ++i) {
    const bool on = (i > 1000 && i < 3100) || (i > 4500 && i < 5000) || (i > 7000 && i < 11'000);
    load.cells.push_back(on ? 4 : 0);
  }
  load.sum_up();
  TelemetryLines lines;
  std::string text = lines.source({.kind = "nvml", .name = "card", .interval = 100_ms});
  for (double at = 0; at < 120; at += 0.1) {
    const Instant shown = observed_at(at - 2);
    const double watts = 100 + 100 * load.mean(shown - 10_ms, shown);
    text += lines.reading(0, observed_at(at), 1_ms, {{"nvml_power_watts", {}, watts}});
  }
  const Telemetry telemetry = parse_telemetry(text).value();
  const Observed seen = observe_run(telemetry, load, point_between(70.01, 110, 1000));
  ASSERT_TRUE(seen.sources[0].lag.known) << seen.sources[0].lag.why;
  EXPECT_EQ(seen.sources[0].lag_from, "gpu_power_w");
  EXPECT_NEAR(seen.sources[0].corrected.seconds(), 2, 0.1);
  // In the phase the card draws 500 W; without the correction two of forty seconds would be idle.
  EXPECT_NEAR(seen.windows[0].energy[0].watts, 500, 2);
  EXPECT_NEAR(to_json(seen)["sources"][0]["lag"]["corrected_ns"].as_double(), 2e9, 1e8);
}

TEST(Observed, what_failed_is_said) {
  TelemetryLines lines;
  std::string text = lines.source({.kind = "page", .name = "http://h/metrics", .interval = 1_s});
  text += lines.reading(0, observed_at(0), 2_ms, {{"vllm:num_requests_running", {}, 1}});
  text += TelemetryLines::failure(0, observed_at(1), 2_ms, "HTTP 503");
  const Observed seen =
      observe_run(parse_telemetry(text).value(), no_load(), point_between(0, 1, 10));
  ASSERT_EQ(seen.notes.size(), 1U);
  EXPECT_EQ(seen.notes[0], "http://h/metrics: 1 of 2 readings failed; the last: HTTP 503");
  bool told = false;
  for (const auto& [name, words] : observed_lines(seen)) told |= words == seen.notes[0];
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace assay::observe
