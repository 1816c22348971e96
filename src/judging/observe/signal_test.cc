#include "observe/signal.h"

#include <gtest/gtest.h>

namespace assay::observe {
namespace {

Instant second(double s) { return {static_cast<std::int64_t>(s * 1e9)}; }

using Page = std::vector<PrometheusSample>;

// The lines of one source, read back.
class Recorded {
 public:
  Recorded() { text_ += lines_.source({.kind = "page", .name = "s", .interval = 1_s}); }
  Recorded& at(double s, const Page& page) {
    text_ += lines_.reading(0, second(s), 2_ms, page);
    return *this;
  }
  Recorded& fails_at(double s) {
    text_ += TelemetryLines::failure(0, second(s), 2_ms, "HTTP 503");
    return *this;
  }
  std::string text() const {
    return TelemetryLines::head("r") + text_ + lines_.end({{.readings = 2, .cpu = 5_ms}});
  }
  Telemetry read() const { return parse_telemetry(text()).value(); }

 private:
  TelemetryLines lines_{};
  std::string text_{};
};

const Signal* find(const std::vector<Signal>& signals, std::string_view id) {
  for (const Signal& signal : signals) {
    if (signal.measure->id == id) return &signal;
  }
  return nullptr;
}

TEST(Telemetry, what_is_written_is_read_and_a_value_is_written_when_it_changes) {
  Recorded recorded;
  recorded.at(1, {{"a", {{"x", "q\"\n"}}, 0.1}, {"b", {}, 2}})
      .at(2, {{"a", {{"x", "q\"\n"}}, 0.1}});
  recorded.fails_at(3).at(4, {{"b", {}, 3}, {"c", {}, 1}});
  const Telemetry read = recorded.read();
  EXPECT_EQ(read.trouble, "");
  ASSERT_EQ(read.series.size(), 3U);
  EXPECT_EQ(read.series[0].labels, (Labels{{"x", "q\"\n"}}));
  ASSERT_EQ(read.readings.size(), 4U);
  EXPECT_EQ(read.readings[0].values.size(), 2U);
  EXPECT_EQ(read.readings[0].took, 2_ms);
  EXPECT_TRUE(read.readings[1].values.empty());
  EXPECT_EQ(read.readings[2].error, "HTTP 503");
  EXPECT_EQ(read.readings[3].values.size(), 2U);
  ASSERT_EQ(read.costs.size(), 1U);
  EXPECT_EQ(read.costs[0].cpu, 5_ms);
}

TEST(Telemetry, a_file_that_was_cut_is_read_up_to_there_wherever_it_was_cut) {
  Recorded recorded;
  recorded.at(1, {{"a", {}, 1}}).at(2, {{"a", {}, 2}});
  const std::string whole = recorded.text();
  std::size_t most = 0;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto read = parse_telemetry(std::string_view(whole).substr(0, n));
    ASSERT_TRUE(read) << n;
    EXPECT_EQ(read->trouble, "") << n;
    EXPECT_GE(read->readings.size(), most);
    most = std::max(most, read->readings.size());
  }
  EXPECT_EQ(most, 2U);
}

TEST(Telemetry, a_damaged_line_is_named_and_another_version_refused) {
  const auto damaged = parse_telemetry("{\"telemetry\":1}\n{\"at_ns\":1,\"source\":0}\n");
  ASSERT_TRUE(damaged);
  EXPECT_EQ(damaged->trouble, "line 2: a reading without its source");
  EXPECT_FALSE(parse_telemetry("{\"telemetry\":2}\n"));
  const auto far = parse_telemetry(
      "{\"telemetry\":1}\n{\"source\":0,\"kind\":\"page\"}\n"
      "{\"at_ns\":9223372036854775807,\"source\":0}\n");
  EXPECT_EQ(far->trouble, "line 3: a reading at no instant of a clock");
}

TEST(Signals, a_gauges_mean_is_over_time_and_not_over_readings) {
  Recorded recorded;
  for (const auto& [at, value] : {std::pair{0.0, 10.0}, {1.0, 0.0}, {9.0, 20.0}, {10.0, 0.0}}) {
    recorded.at(at, {{"vllm:num_requests_running", {}, value}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  const auto figures = figures_in(*find(signals, "requests_running"), second(0), second(10));
  ASSERT_TRUE(figures);
  EXPECT_DOUBLE_EQ(figures->mean, (10 + 20) / 10.0);
  EXPECT_EQ(figures->max, 20);
  EXPECT_EQ(figures->min, 0);
  EXPECT_EQ(figures->readings, 4U);
  // A part of it: the value before the window stands at its begin.
  EXPECT_DOUBLE_EQ(figures_in(*find(signals, "requests_running"), second(0.5), second(2))->mean,
                   10 * 0.5 / 1.5);
}

TEST(Signals, engines_add_up_and_shares_do_not) {
  Recorded recorded;
  const Labels one{{"engine", "0"}};
  const Labels two{{"engine", "1"}};
  for (const double at : {0.0, 1.0, 2.0}) {
    recorded.at(at, {{"vllm:num_requests_running", one, 3},
                     {"vllm:num_requests_running", two, 4},
                     {"vllm:kv_cache_usage_perc", one, 0.2},
                     {"vllm:kv_cache_usage_perc", two, 0.6},
                     {"vllm:gpu_cache_usage_perc", one, 0.9}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  EXPECT_EQ(figures_in(*find(signals, "requests_running"), second(0), second(2))->mean, 7);
  EXPECT_DOUBLE_EQ(figures_in(*find(signals, "kv_cache_share"), second(0), second(2))->mean, 0.4);
}

TEST(Signals, a_counters_growth_is_cut_at_the_windows_borders_and_bounded) {
  Recorded recorded;
  for (const int at : {0, 10, 20}) {
    recorded.at(at, {{"vllm:generation_tokens_total", {}, 100.0 + at * 50}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  const auto figures = figures_in(*find(signals, "output_tokens"), second(5), second(20));
  EXPECT_DOUBLE_EQ(figures->delta, 750);
  EXPECT_DOUBLE_EQ(figures->delta_error, 500);
}

TEST(Signals, a_window_beyond_the_readings_is_an_error_of_the_growth) {
  Recorded recorded;
  for (const int at : {0, 5, 10}) {
    recorded.at(at, {{"nvml_energy_joules_total", {}, 300.0 * at}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  // Two of ten seconds were not read: a quarter of what was.
  const auto figures = figures_in(*find(signals, "gpu_energy_j"), second(2), second(12));
  EXPECT_DOUBLE_EQ(figures->delta, 2400);
  EXPECT_DOUBLE_EQ(figures->delta_error, 1500 + 600);
}

TEST(Signals, a_restarted_counter_loses_nothing_it_counted_since) {
  Recorded recorded;
  for (const auto& [at, value] : {std::pair{0, 100.0}, {1, 150.0}, {2, 30.0}, {3, 40.0}}) {
    recorded.at(at, {{"sglang:generation_tokens_total", {}, value}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  EXPECT_EQ(find(signals, "output_tokens")->restarts, 1U);
  EXPECT_DOUBLE_EQ(figures_in(*find(signals, "output_tokens"), second(0), second(3))->delta, 90);
}

TEST(Signals, a_counter_that_appears_later_began_at_zero) {
  Recorded recorded;
  recorded.at(0, {{"vllm:num_requests_running", {}, 0}});
  recorded.at(1, {{"vllm:request_success_total", {{"finished_reason", "stop"}}, 4}});
  recorded.at(2, {{"vllm:request_success_total", {{"finished_reason", "stop"}}, 6},
                  {"vllm:request_success_total", {{"finished_reason", "length"}}, 5}});
  const std::vector<Signal> signals = signals_of(recorded.read());
  EXPECT_EQ(find(signals, "requests_finished")->points.back().value, 11);
}

TEST(Signals, a_histograms_mean_is_exact_in_its_window) {
  Recorded recorded;
  for (const auto& [at, sum, count] :
       {std::tuple{0, 5.0, 10.0}, {10, 7.0, 20.0}, {20, 107.0, 30.0}}) {
    recorded.at(at, {{"vllm:request_queue_time_seconds_sum", {}, sum},
                     {"vllm:request_queue_time_seconds_count", {}, count}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  const Signal& queue = *find(signals, "queue_time_s");
  EXPECT_DOUBLE_EQ(figures_in(queue, second(0), second(10))->mean, 0.2);
  EXPECT_DOUBLE_EQ(figures_in(queue, second(10), second(20))->mean, 10);
  EXPECT_DOUBLE_EQ(figures_in(queue, second(0), second(20))->mean, 5.1);
}

TEST(Signals, a_source_that_died_before_the_middle_says_nothing) {
  Recorded recorded;
  recorded.at(0, {{"vllm:num_requests_running", {}, 5}})
      .at(2, {{"vllm:num_requests_running", {}, 5}});
  recorded.fails_at(6).fails_at(8);
  const std::vector<Signal> signals = signals_of(recorded.read());
  EXPECT_FALSE(figures_in(*find(signals, "requests_running"), second(0), second(10)));
  EXPECT_TRUE(figures_in(*find(signals, "requests_running"), second(0), second(4)));
}

TEST(Signals, units_are_ours) {
  Recorded recorded;
  for (const double at : {0.0, 1.0}) {
    recorded.at(at, {{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", {{"gpu", "0"}}, 5000 * at},
                     {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", {{"gpu", "1"}}, 1000 * at},
                     {"DCGM_FI_DEV_GPU_UTIL", {{"gpu", "0"}}, 80}});
  }
  const std::vector<Signal> signals = signals_of(recorded.read());
  EXPECT_DOUBLE_EQ(figures_in(*find(signals, "gpu_energy_j"), second(0), second(1))->delta, 6);
  EXPECT_DOUBLE_EQ(figures_in(*find(signals, "gpu_busy_share"), second(0), second(1))->mean, 0.8);
}

}  // namespace
}  // namespace assay::observe
