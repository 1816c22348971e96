// A hand-made run whose figures can all be worked out on paper, for tests of files and reports
// about a run. One thread.
#pragma once

#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {

inline Json run_config(const char* pattern) {
  Json load = Json::object();
  load.set("type", pattern).set("target_qps", 25.0).set("target_concurrency", nullptr);
  Json config = Json::object();
  config.set("load_pattern", std::move(load));
  config.set("scheduler_random_seed", 42);
  return config;
}

inline RunInfo named_run(const char* pattern) {
  RunInfo info{};
  info.version = "0.1.0";
  info.git_sha = "abc1234";
  info.run_id = "r-1";
  info.plan_digest = std::string(64, '7');
  info.started.ns = 1'790'000'000'500'000'000;
  info.phases = {{PhaseKind::warmup, "warmup", true},
                 {PhaseKind::performance, "performance", true}};
  info.facts.set("model", "m").set("run_config", run_config(pattern));
  return info;
}

// Warm-up, then 20 queries that overlap; two of them fail. Every number can be worked out by hand.
inline void tell_run(EventSink& sink) {
  sink.on_phase({0, PhaseStep::started, at_ms(1000)});
  tell(steady_query(0, 0, 1000, 80, 10, 16), sink);
  sink.on_phase({0, PhaseStep::drained, at_ms(1300)});
  sink.on_phase({1, PhaseStep::started, at_ms(2000)});
  for (std::uint32_t i = 0; i < 20; ++i) {
    HandMadeQuery q = steady_query(1, i, 2000 + 40 * i, 50 + i, 10, 16);
    q.due = at_ms(2000 + 40 * i - (i == 7 ? 2 : 0));
    for (HandMadeFragment& e : q.events) e.read_delay = Duration{30'000 + 1000 * i};
    if (i == 4) {
      q.outcome = Outcome::http_error;
      q.http_status = 503;
      q.events.clear();
      q.usage = Usage{};
      q.detail = "HTTP 503: \"overloaded\"";
    }
    if (i == 11) {
      q.outcome = Outcome::truncated;
      q.finish = FinishReason::none;
      q.detail = "the stream ended without a finish reason";
    }
    if (i == 12) q.finish = FinishReason::length;
    tell(q, sink);
  }
  sink.on_phase({1, PhaseStep::issue_ended, at_ms(2760)});
  sink.on_phase({1, PhaseStep::drained, at_ms(2990)});
}

inline Point small_point(const char* pattern, const RunEnd& end) {
  PointFold fold(named_run(pattern));
  tell_run(fold);
  return fold.finish(end);
}

}  // namespace assay::metrics
