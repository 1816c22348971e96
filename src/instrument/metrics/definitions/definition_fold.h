// DefinitionFold: receives a run, live or from its log, and computes its figures as each of the
// given tools would. One pass for all tools; keeps a reply's events until the reply ends.
//
// A series keeps up to `values_max` values and counts further ones in buckets 0.8 % wide, which
// `exact` reports. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/json.h"
#include "domain/run_info.h"
#include "metrics/definitions/definition.h"

namespace assay::metrics {

inline constexpr std::array<double, 4> kDefinitionPercentiles{50.0, 90.0, 99.0, 99.9};

// One series of one tool. count 0: the tool has no such series, or the run has no values.
struct DefinedSeries {
  std::uint64_t count = 0;
  bool exact = true;
  double mean = 0;
  std::array<double, kDefinitionPercentiles.size()> percentiles{};
};

struct DefinedPoint {
  const Definition* definition = nullptr;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;
  DefinedSeries ttft{};
  DefinedSeries tpot{};
  DefinedSeries itl{};
  DefinedSeries latency{};
  Duration window{};            // 0: no rate
  bool loadgen_window = false;  // instead of `definition->window`
  std::int64_t output_tokens = 0;
  bool tokens_known = false;
  std::array<std::uint64_t, kTokenBases> replies_by_basis{};  // of the successful replies
  double qps = 0;
  double tps = 0;
};

// Values with weights, and their percentiles by any of the rules.
class WeightedSeries {
 public:
  explicit WeightedSeries(std::size_t values_max) : values_max_(values_max) {}
  void add(double value, double weight = 1);
  DefinedSeries finish(PercentileRule rule);

 private:
  struct Entry {
    double value = 0;
    double weight = 1;
  };
  double exact_percentile(PercentileRule rule, double p) const;

  std::size_t values_max_;
  std::vector<Entry> values_{};
  std::unique_ptr<Histogram> buckets_{};  // instead of values; all weights are then one
  std::uint64_t count_ = 0;
  double total_ = 0;
  double weight_ = 0;
};

class DefinitionFold final : public ReplyFold {
 public:
  DefinitionFold(const RunInfo& info, std::vector<const Definition*> wanted,
                 std::size_t values_max = std::size_t{4} << 20);

  // In the order of `wanted`. The fold is empty afterwards.
  std::vector<DefinedPoint> finish();

 private:
  struct Tool {
    const Definition* definition = nullptr;
    DefinedPoint point{};
    WeightedSeries ttft;
    WeightedSeries tpot;
    WeightedSeries itl;
    WeightedSeries latency;
    Instant first = Instant::max();  // of the requests that its window rule counts
    Instant last = Instant::none();
    // For LoadGen's window: over all requests, and of the successful one that was sent last.
    Instant first_sent = Instant::max();
    Instant last_sent = Instant::none();
    Instant last_sent_end = Instant::none();
  };

  void on_reply(const Reply& reply) override;
  void tell(Tool& tool, const Reply& reply);
  Duration window(const Tool& tool) const;
  bool takes_loadgen_window(const Tool& tool) const;

  bool gaps_recorded_;
  bool loadgen_;  // a Poisson run that takes LoadGen's window
  std::vector<Tool> tools_{};
  Figures figures_{};
};

// The basis of the tool's token counts, in words: "usage", "tokenizer", "usage (3 by fragments)".
std::string token_basis_text(const DefinedPoint& point);

// {"vllm": {"title", "source", "rules", "ttft": {...}, …}, …}; durations in ns.
Json definitions_json(const std::vector<DefinedPoint>& points);

}  // namespace assay::metrics
