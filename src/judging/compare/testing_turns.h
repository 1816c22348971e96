// Synthetic pairs for tests of comparing: two servers on one machine whose speed wanders and
// drifts, asked in turns by a closed loop of 16 streams. No clock is read; a seed gives one pair.
// One thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/rng.h"
#include "compare/compare.h"
#include "compare/paired.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::compare {

inline constexpr int kStreams = 16;

struct Machine {
  double wander = 0.03;  // deviation of the speed's logarithm, with a memory of half a second
  double drift = 0;      // slowdown from the first block to the last
  double b_tpot = 10;    // ms; A's is 10
  int pairs = 20;
  int block = 40;  // queries
};

struct PairedRun {
  metrics::Point point{};
  QueryRows rows;
  ComparedRun as(const std::string& name) const {
    return {.name = name, .point = &point, .rows = &rows, .client = audit::ClientLimited::no};
  }
};

struct Turns {
  std::unique_ptr<PairedRun> a{};
  std::unique_ptr<PairedRun> b{};
};

inline RunInfo paired_info(int pairs, const char* side) {
  RunInfo info;
  for (int i = 0; i < 2 * pairs; ++i) {
    info.phases.push_back({PhaseKind::performance, i % 2 == 0 ? "a" : "b", false});
  }
  info.facts = Json().set("model", "m").set("api", "openai_chat").set("streaming", true);
  if (side[0] != '\0') info.facts.set("interleaved", Json().set("id", "x").set("side", side));
  return info;
}

// The speed in each tenth of a second: an autoregression with a memory of five of them.
class Wandering {
 public:
  Wandering(double deviation, Rng& rng) {
    const double memory = 0.8;
    double state = rng.normal();
    for (double& value : speed_) {
      value = std::exp(deviation * state);
      state = memory * state + std::sqrt(1 - memory * memory) * rng.normal();
    }
  }
  double at(double ms) const { return speed_[static_cast<std::size_t>(ms / 100) % speed_.size()]; }

 private:
  std::vector<double> speed_ = std::vector<double>(4000);
};

inline Turns record_turns(const Machine& machine, std::uint64_t seed, bool told = true) {
  Rng rng(seed);
  const Wandering wandering(machine.wander, rng);
  const auto at = [](double ms) { return Instant{static_cast<std::int64_t>(ms * 1e6)}; };
  std::vector<metrics::HandMadeQuery> queries[2];
  double now = 0;
  for (int i = 0; i < 2 * machine.pairs; ++i) {
    const int side = i % 4 == 0 || i % 4 == 3 ? 0 : 1;  // A B B A …
    const double slower = 1 + machine.drift * i / (2.0 * machine.pairs - 1);
    std::vector<double> free_at(kStreams, now);
    for (int k = 0; k < machine.block; ++k) {
      const auto slot = std::min_element(free_at.begin(), free_at.end());
      const double sent = *slot;
      const double slow = wandering.at(sent) * slower;
      const double ttft = 50 * slow * std::exp(0.2 * rng.normal());
      const double tpot = (side == 0 ? 10 : machine.b_tpot) * slow * std::exp(0.04 * rng.normal());
      metrics::HandMadeQuery q{};
      q.query.phase = static_cast<std::uint16_t>(i);
      q.query.index = static_cast<std::uint32_t>(k);
      q.due = q.sent = at(sent);
      const double end = sent + ttft + tpot * 49;
      q.events = {{at(sent + ttft), "a"}, {at(end), "b"}};
      q.done = at(end);
      q.usage = {.prompt_tokens = 100, .completion_tokens = 50};
      queries[side].push_back(q);
      *slot = end;
    }
    now = *std::max_element(free_at.begin(), free_at.end());
  }
  const auto fold = [&](int side) {
    const RunInfo info = paired_info(machine.pairs, !told ? "" : side == 0 ? "a" : "b");
    auto out = std::make_unique<PairedRun>(PairedRun{{}, QueryRows(info)});
    metrics::PointFold point(info, {.early_stopping = false});
    for (const metrics::HandMadeQuery& q : queries[side]) {
      metrics::tell(q, point);
      metrics::tell(q, out->rows);
    }
    out->point = point.finish({RunState::complete, ""});
    out->rows.sort();
    return out;
  };
  return {fold(0), fold(1)};
}

inline Comparison compare(const Turns& turns, const CompareOptions& options) {
  return compare_runs(turns.a->as("A"), turns.b->as("B"), options);
}

inline bool tpot_worse(const Comparison& c) {
  for (const MetricComparison& m : c.metrics) {
    const bool tpot = m.metric == ComparedMetric::kTpotP50 || m.metric == ComparedMetric::kTpotP90;
    if (tpot && m.verdict == MetricVerdict::worse) return true;
  }
  return false;
}

}  // namespace assay::compare
