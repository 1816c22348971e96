#include "compare/compare.h"

#include <algorithm>
#include <cmath>

#include "base/enum_name.h"
#include "base/json_list.h"
#include "compare/bootstrap.h"
#include "compare/effect.h"
#include "compare/paired.h"
#include "compare/sampled.h"
#include "compare/workload.h"

namespace assay::compare {
namespace {

// Keeps the largest deviation of several ways to cut a run, or of two equal runs.
void keep_wider(const Estimate& fresh, Estimate& widest) {
  if (widest.blocks == 0 || fresh.log_deviation > widest.log_deviation) widest = fresh;
}

std::vector<Sampled> cut(const QueryRows& rows) {
  std::vector<Sampled> out;
  std::vector<TimeBlocks> ways = time_blocks(rows.rows());
  for (TimeBlocks& blocks : ways) out.emplace_back(rows, std::move(blocks));
  return out;
}

// Both runs, cut into blocks once for all metrics.
class Both {
 public:
  Both(const ComparedRun& a, const ComparedRun& b, std::size_t replicates)
      : replicates_(replicates), paired_(interleaved(*a.point, *b.point)) {
    if (!paired_) {
      left_ = cut(*a.rows);
      right_ = cut(*b.rows);
      return;
    }
    const PairedBlocks pairs = paired_blocks(a.point->run, *a.rows, *b.rows);
    pairs_ = pairs.a.front().count();
    for (const TimeBlocks& blocks : pairs.a) left_.emplace_back(*a.rows, blocks, true);
    for (const TimeBlocks& blocks : pairs.b) right_.emplace_back(*b.rows, blocks, true);
  }

  // 0 if the two were not measured in pairs.
  std::size_t pairs() const { return pairs_; }

  // Both values of a metric, and how far the logarithm of their ratio varies by itself.
  struct Effect {
    double a = 0;  // 0: no value
    double b = 0;
    double deviation = 0;
    std::size_t blocks = 0;
  };
  Effect effect(ComparedMetric metric, Rng& rng) const {
    return paired_ ? effect_of_pairs(metric, rng) : effect_of_runs(metric, rng);
  }

 private:
  Effect effect_of_runs(ComparedMetric metric, Rng& rng) const {
    Estimate a{};
    Estimate b{};
    for (const Sampled& one : left_) {
      keep_wider(bootstrap(one.statistic(metric), replicates_, rng), a);
    }
    for (const Sampled& one : right_) {
      keep_wider(bootstrap(one.statistic(metric), replicates_, rng), b);
    }
    return {a.value, b.value, std::hypot(a.log_deviation, b.log_deviation),
            std::min(a.blocks, b.blocks)};
  }

  Effect effect_of_pairs(ComparedMetric metric, Rng& rng) const {
    Estimate ratio{};
    Effect out{};
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const Statistic a = left_[i].statistic(metric);
      const Statistic b = right_[i].statistic(metric);
      keep_wider(bootstrap_ratio(a, b, replicates_, rng), ratio);
      if (i > 0) continue;
      const std::vector<std::uint32_t> once(a.blocks, 1);
      out.a = a.of(once);
      out.b = b.of(once);
    }
    out.deviation = ratio.log_deviation;
    out.blocks = ratio.blocks;
    return out;
  }

  std::size_t replicates_;
  bool paired_;
  std::size_t pairs_ = 0;
  std::vector<Sampled> left_{};  // one for each way to cut; for pairs, the same ways on both sides
  std::vector<Sampled> right_{};
};

}  // namespace

std::string_view to_string(MetricVerdict verdict) { return enum_name(verdict); }

bool Comparison::worse() const {
  return std::ranges::any_of(metrics,
                             [](const auto& m) { return m.verdict == MetricVerdict::worse; });
}

bool Comparison::unresolved() const {
  return std::ranges::any_of(metrics,
                             [](const auto& m) { return m.verdict == MetricVerdict::unresolved; });
}

Comparison compare_runs(const ComparedRun& a, const ComparedRun& b, const CompareOptions& options) {
  Comparison out;
  out.refusals = workload_differences(a, b, options);
  for (const ComparedRun* run : {&a, &b}) {
    if (run->client == audit::ClientLimited::suspected) {
      out.notes.push_back(run->name + ": the client may have been the bottleneck");
    } else if (run->client == audit::ClientLimited::yes) {
      out.notes.push_back(run->name + ": the client was the bottleneck; compared on request");
    }
  }
  if (!out.comparable()) return out;
  const Both both(a, b, options.replicates);
  out.pairs = both.pairs();
  Rng rng(options.seed);
  std::vector<FoundEffect> effects;
  for (const ComparedMetric metric : options.metrics) {
    const Both::Effect found = both.effect(metric, rng);
    if (found.a <= 0 || found.b <= 0) {
      out.notes.push_back(to_string(metric) + ": no values to compare");
      continue;
    }
    effects.push_back(
        {.metric = metric,
         .a = found.a,
         .b = found.b,
         .deviation = found.deviation,
         .degrees = static_cast<double>(std::max<std::size_t>(found.blocks, 2) - 1),
         .room = room_of_ratio(room_of(*a.point, metric), room_of(*b.point, metric))});
  }
  out.metrics = judge_effects(effects, options);
  return out;
}

namespace {

Json repeats_json(const RepeatCounts& counts) {
  return Json()
      .set("a", counts.a)
      .set("b", counts.b)
      .set("noise", counts.noise)
      .set("degrees_of_freedom", counts.degrees);
}

}  // namespace

Json comparison_json(const Comparison& comparison, const ComparedRun& a, const ComparedRun& b,
                     const CompareOptions& options) {
  Json metrics = Json::array();
  for (const MetricComparison& m : comparison.metrics) {
    metrics.push_back(Json()
                          .set("metric", to_string(m.metric))
                          .set("a", m.a)
                          .set("b", m.b)
                          .set("effect", m.effect)
                          .set("interval", Json::array().push_back(m.low).push_back(m.high))
                          .set("p_worse", m.p_worse)
                          .set("p_better", m.p_better)
                          .set("verdict", to_string(m.verdict)));
  }
  const std::string_view verdict = !comparison.comparable()  ? "not_comparable"
                                   : comparison.worse()      ? "worse"
                                   : comparison.unresolved() ? "unresolved"
                                                             : "same_or_better";
  return Json()
      .set("verdict", verdict)
      .set("a", a.name)
      .set("b", b.name)
      .set("confidence", 1 - options.alpha)
      .set("regression_margin", options.regression_margin)
      .set("equivalence_margin", options.equivalence_margin)
      .set("token_source", Json()
                               .set("a", metrics::token_source_text(a.point->tokens))
                               .set("b", metrics::token_source_text(b.point->tokens)))
      .set("pairs", comparison.pairs > 0 ? Json(comparison.pairs) : Json(nullptr))
      .set("repeats", comparison.repeats ? repeats_json(*comparison.repeats) : Json(nullptr))
      .set("refusals", json_list(comparison.refusals))
      .set("notes", json_list(comparison.notes))
      .set("metrics", std::move(metrics));
}

}  // namespace assay::compare
