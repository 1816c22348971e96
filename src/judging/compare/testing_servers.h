// Synthetic runs for tests of comparing: a closed loop of 16 streams at a server whose speed
// wanders, so that neighbours in time are similar. No clock is read; a seed gives one run. One
// thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/rng.h"
#include "compare/compare.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::compare {

struct Server {
  double ttft_ms = 50;
  double tpot_ms = 10;
  double wander = 0.01;  // deviation of its speed's logarithm, with a memory of half a second
  int tokens = 50;
  double failing = 0;
};

struct Recorded {
  metrics::Point point{};
  QueryRows rows;
  ComparedRun as(const std::string& name) const {
    return {.name = name, .point = &point, .rows = &rows, .client = audit::ClientLimited::no};
  }
};

inline RunInfo info_of(const std::string& model) {
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", false}};
  info.facts = Json().set("model", model).set("api", "openai_chat").set("streaming", true);
  return info;
}

// The speed in each tenth of a second: an autoregression with a memory of five of them.
inline std::vector<double> wandering(double deviation, Rng& rng) {
  std::vector<double> out(2000);
  const double memory = 0.8;
  double state = rng.normal();
  for (double& value : out) {
    value = std::exp(deviation * state);
    state = memory * state + std::sqrt(1 - memory * memory) * rng.normal();
  }
  return out;
}

inline std::unique_ptr<Recorded> record(const Server& server, std::uint64_t seed, int queries = 800,
                                        const std::string& model = "m") {
  constexpr int kStreams = 16;
  const RunInfo info = info_of(model);
  auto out = std::make_unique<Recorded>(Recorded{{}, QueryRows(info)});
  metrics::PointFold fold(info, {.early_stopping = false});
  Rng rng(seed);
  const std::vector<double> speed = wandering(server.wander, rng);
  std::vector<double> free_at(kStreams, 0.0);  // ms
  for (int i = 0; i < queries; ++i) {
    const auto slot = std::min_element(free_at.begin(), free_at.end());
    const double sent = *slot;
    const double slow = speed[static_cast<std::size_t>(sent / 100) % speed.size()];
    const double ttft = server.ttft_ms * slow * std::exp(0.2 * rng.normal());
    const double tpot = server.tpot_ms * slow * std::exp(0.04 * rng.normal());
    const auto at = [](double ms) { return Instant{static_cast<std::int64_t>(ms * 1e6)}; };
    metrics::HandMadeQuery q{};
    q.query.index = static_cast<std::uint32_t>(i);
    q.due = q.sent = at(sent);
    const double end = sent + ttft + tpot * (server.tokens - 1);
    q.events = {{at(sent + ttft), "a"}, {at((sent + ttft + end) / 2), "b"}, {at(end), "c"}};
    q.done = at(end);
    q.usage = {.prompt_tokens = 100, .completion_tokens = server.tokens};
    if (rng.uniform() < server.failing) q.outcome = Outcome::reset;
    metrics::tell(q, fold);
    metrics::tell(q, out->rows);
    *slot = end;
  }
  out->point = fold.finish({RunState::complete, ""});
  out->rows.sort();
  return out;
}

inline const MetricComparison& metric(const Comparison& c, ComparedMetric wanted) {
  for (const MetricComparison& m : c.metrics) {
    if (m.metric == wanted) return m;
  }
  static const MetricComparison kNone{};
  ADD_FAILURE() << "no " << to_string(wanted);
  return kNone;
}

}  // namespace assay::compare
