// For tests: Points made by hand that look like real runs, identical on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "report/content.h"

namespace assay::report {

inline metrics::Distribution distribution_of(std::vector<double> values) {
  metrics::Distribution d;
  d.count = values.size();
  if (values.empty()) return d;
  std::sort(values.begin(), values.end());
  for (const double value : values) {
    d.total += value;
    d.sum_sq += value * value;
  }
  const auto n = static_cast<double>(values.size());
  d.min = values.front();
  d.max = values.back();
  d.mean = d.total / n;
  d.std_dev = n > 1 ? std::sqrt(std::max(0.0, (d.sum_sq - n * d.mean * d.mean) / (n - 1))) : 0;
  const auto at = [&values, n](double share) {
    return values[static_cast<std::size_t>(std::floor(share * (n - 1)))];
  };
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    d.percentiles[i] = at(metrics::kPercentiles[i] / 100);
  }
  for (int i = 0; i <= 100; ++i) d.quantiles.push_back({i / 100.0, at(i / 100.0)});
  for (const double tail : {0.995, 0.999, 0.9999}) {
    d.quantiles.insert(d.quantiles.end() - 1, {tail, at(tail)});
  }
  return d;
}

struct SampleShape {
  std::uint64_t seed = 7;
  std::size_t queries = 2400;
  double ttft_ms = 410;
  double tpot_ms = 18.9;
  double late_us = 8;     // the median
  double backlog_ms = 0;  // the largest delay of the sender behind the plan
};

inline void fill_series(metrics::Point& point, const SampleShape& shape) {
  Rng rng(shape.seed);
  std::vector<double> ttft, ttft_due, tpot, itl, latency, latency_due, late, delay, isl, osl;
  for (std::size_t i = 0; i < shape.queries; ++i) {
    const double wait =
        shape.ttft_ms * 1e6 * std::exp(0.38 * rng.normal()) * (rng.uniform() < 0.015 ? 2.6 : 1.0);
    const double per_token = shape.tpot_ms * 1e6 * std::exp(0.09 * rng.normal());
    const double tokens = std::floor(40 + 300 * rng.uniform() * rng.uniform() * 3);
    const double lateness =
        shape.late_us * 1e3 * std::exp(0.55 * rng.normal()) +
        shape.backlog_ms * 1e6 * static_cast<double>(i) / static_cast<double>(shape.queries);
    ttft.push_back(wait);
    ttft_due.push_back(wait + lateness);
    tpot.push_back(per_token);
    latency.push_back(wait + per_token * (tokens - 1));
    latency_due.push_back(latency.back() + lateness);
    late.push_back(lateness);
    isl.push_back(std::floor(500 + 1500 * rng.uniform()));
    osl.push_back(tokens);
    for (int k = 0; k < 6; ++k) {
      itl.push_back(per_token * (rng.uniform() < 0.02 ? 5.0 : 1.0) * (0.9 + 0.2 * rng.uniform()));
      delay.push_back(4e3 * std::exp(0.7 * rng.normal()));
    }
  }
  point.arrival = {distribution_of(ttft),       distribution_of(ttft_due), distribution_of(ttft),
                   distribution_of(tpot),       distribution_of(itl),      distribution_of(latency),
                   distribution_of(latency_due)};
  point.isl = distribution_of(isl);
  point.osl = distribution_of(osl);
  point.lateness = distribution_of(late);
  point.read_delay = distribution_of(delay);
}

// 20 s of warm-up, 300 s measured, 8 s of drain, in buckets of 2 s.
inline void fill_timeline(metrics::Point& point, const SampleShape& shape) {
  constexpr std::size_t kBuckets = 164;
  Rng rng(shape.seed + 1);
  metrics::Timeline& timeline = point.timeline;
  timeline.origin = Instant{1'000'000'000};
  timeline.width = 2_s;
  timeline.ttft.assign(kBuckets * metrics::Timeline::kTtftBins, 0);
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const double ramp = std::min(1.0, static_cast<double>(i + 1) / 6.0);
    const double drain = i < 160 ? 1.0 : static_cast<double>(164 - i) / 5.0;
    const double load = ramp * drain * (1 + 0.03 * rng.normal());
    timeline.buckets.push_back({.output_tokens = 19'864 * load,
                                .fragments = static_cast<std::uint64_t>(19'500 * load),
                                .sent = i < 160 ? 15U : 0U,
                                .completed = static_cast<std::uint32_t>(15 * load),
                                .failed = i == 80 ? 2U : 0U,
                                .in_flight = 256 * ramp * drain});
    for (int k = 0; k < static_cast<int>(40 * drain); ++k) {
      const double ttft = shape.ttft_ms * 1e6 * std::exp(0.38 * rng.normal()) *
                          (1 + 0.5 * std::sin(static_cast<double>(i) / 17.0));
      std::size_t bin = 0;
      while (bin + 1 < metrics::Timeline::kTtftBins &&
             ttft >= metrics::Timeline::ttft_bin_low(bin + 1)) {
        ++bin;
      }
      ++timeline.ttft[i * metrics::Timeline::kTtftBins + bin];
    }
  }
  const auto at = [&timeline](Duration d) { return timeline.origin + d; };
  point.phases = {{PhaseKind::warmup, "warmup", at(0_s), at(18_s), at(20_s), {}},
                  {PhaseKind::performance, "performance", at(20_s), at(320_s), at(328_s), {}}};
}

inline metrics::Point sample_point(const SampleShape& shape = {}) {
  metrics::Point point;
  point.run.version = "0.1.0";
  point.run.git_sha = "3f9c2e1";
  point.run.run_id = "20261120_144822_9f2c";
  point.run.plan_digest = "9d5e3c5cbe0a1f5f5b6f0a4c1b6c3b9f0e2d7a8c4b1f6e5d3c2b1a0f9e8d7c6b";
  point.run.started = WallTime{1'795'186'102'000'000'000};
  point.run.phases = {{PhaseKind::warmup, "warmup", false},
                      {PhaseKind::performance, "performance", true}};
  Json pattern;
  pattern.set("type", "poisson").set("target_qps", 7.68).set("target_concurrency", nullptr);
  point.run.facts.set("model", "gpt-oss-120b")
      .set("endpoints", Json().push_back("http://10.0.0.5:8000"))
      .set("api", "openai")
      .set("run_config", Json().set("load_pattern", pattern));
  point.end = {RunState::complete, ""};
  fill_series(point, shape);
  fill_timeline(point, shape);
  point.counts = {shape.queries + 2, shape.queries, 2, 0, {}};
  point.all_phases = {shape.queries + 102, shape.queries + 100, 2, 0, {}};
  point.failures = {
      {Outcome::reset,
       2,
       {{1204, 17, 0, 0, point.timeline.origin + 161_s,
         "recv: Connection reset by peer after 12 events <script>alert(1)</script>"}}}};
  point.rates = {.duration = Duration{308'412'000'000},
                 .qps = 7.78,
                 .tps = 9932.4,
                 .tps_per_user = 46.9,
                 .offered_qps = 7.68,
                 .achieved_qps = 7.68};
  point.tokens = {.source = metrics::TokenSource::usage,
                  .replies_counted = shape.queries,
                  .prompt = 2'998'123,
                  .output = 3'063'210,
                  .first_fragment_taken_for_one = true,
                  .per_fragment = 1.02};
  point.stamps = {.events = 3'012'118, .kernel_stamped = 3'012'118, .shares_read = 30'418};
  return point;
}

// A window as the detector finds it over all of a long run: the window is the result.
inline metrics::SteadyState official_window() {
  metrics::SteadyState steady;
  steady.super_pass_size = 400;
  steady.super_passes = 6;
  steady.window_min = 240_s;
  steady.status = metrics::WindowStatus::windowable;
  steady.verdict = metrics::SteadyVerdict::steady;
  steady.found = true;
  steady.first = 1;
  steady.last = 5;
  steady.samples = 2'000;
  steady.completed = 2'000;
  steady.span = 260_s;
  steady.ttft = distribution_of({391e6});
  steady.tpot = distribution_of({21.1e6});
  steady.tps = 10'501;
  steady.tps_per_user = 47.4;
  steady.qps = 7.9;
  return steady;
}

inline RunContext sample_context() {
  RunContext context;
  context.folder = "results/20261120_144822";
  context.files = {{"results/20261120_144822/config.yaml", "the resolved config, secrets redacted",
                    1'204, "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"},
                   {"results/20261120_144822/assay/events-0.alog", "the event log", 48'112'640,
                    "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9"},
                   {"results/20261120_144822/performance/result_summary.json", "the result", 9'120,
                    "baa5a0964d3320fbc0c6a922140453c8513ea24ab8fd0577034804a967248096"}};
  context.config_yaml =
      "model: gpt-oss-120b\nendpoint:\n  url: http://10.0.0.5:8000\n  api_key: \"***\"\nsettings:\n"
      "  load_pattern:\n    type: poisson\n    target_qps: 7.68\n  note: \"<b>& co</b>\"\n";
  context.environment.set("hostname", "client-1")
      .set("cpu", "AMD EPYC 9654, 2 of 192 cores")
      .set("kernel", "6.1.0-28-amd64")
      .set("compiler", "gcc 12.2.0");
  context.innocence = audit::Innocence{};
  context.audit = ClientAudit{};
  context.audit->threads = {{.cpu_share = 0.21, .loop = {.p99 = Duration{48'000}, .max = 2_ms}},
                            {.cpu_share = 0.19, .loop = {.p99 = Duration{51'000}, .max = 1_ms}}};
  context.audit->foreign_cpu = 0.1;
  context.audit->cores = 4;
  return context;
}

}  // namespace assay::report
