#include "metrics/steady_state.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/word.h"
#include "domain/api.h"
#include "metrics/completion_clock.h"
#include "metrics/series.h"
#include "metrics/trend.h"

namespace assay::metrics {
namespace {

constexpr double kEffectFloor = 0.05;  // a smaller drift counts as none
constexpr double kDriftMax = 0.08;     // the drift must be kErrors standard errors below it
constexpr double kErrors = 3;
constexpr double kVariationMax = 0.08;  // of super-passes
constexpr double kAlpha = 0.05;
// The ramp must be kRampSteeper times as steep as the rest and reach kRampMin.
constexpr double kRampSteeper = 3;
constexpr double kRampMin = 0.10;
constexpr double kRampFloor = 0.02;    // a block nearer to the level than this belongs to it
constexpr std::size_t kBlockMin = 32;  // replies in a block: enough for its P90
constexpr std::size_t kBlocksMax = 120;
constexpr std::size_t kBlocksMin = 8;

constexpr double kWindowMostSeconds = 1e8;

struct Gate {
  const char* name = "";
  double share = 0;  // 0: the rate of completions
};
constexpr std::array<Gate, 2> kTpotGates{{{"tpot_p50", 0.5}, {"tpot_p90", 0.9}}};
constexpr std::array<Gate, 2> kLatencyGates{{{"latency_p90", 0.9}, {"completion_rate"}}};

using Value = double Issued::*;

// The percentile over the successful replies in `queries`; 0 without any.
double value_at(std::span<const Issued> queries, Value value, double share) {
  std::vector<double> values;
  for (const Issued& query : queries) {
    if (query.ok && query.*value > 0) values.push_back(query.*value);
  }
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// Values of `count` blocks of equal length; empty ones are left out.
std::vector<double> blocks_of(std::size_t queries, std::size_t count, const auto& value_of) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = value_of(queries * i / count, queries * (i + 1) / count);
    if (value > 0) out.push_back(value);
  }
  return out;
}

// REQUIRES: not empty.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The search tries every start of a window, each over all that follows: with very many passes (a
// dataset of one sample has one a query) several passes count as one.
std::size_t grouped(std::size_t queries, std::size_t pass) {
  constexpr std::size_t kSuperPassesMax = 256;
  const std::size_t passes = queries / pass;
  return passes <= kSuperPassesMax ? pass
                                   : pass * ((passes + kSuperPassesMax - 1) / kSuperPassesMax);
}

class Finder {
 public:
  Finder(std::span<const Issued> queries, const SteadyOptions& options)
      : queries_(queries),
        size_(grouped(queries.size(), options.super_pass)),
        gates_(options.by == Gating::tpot ? kTpotGates : kLatencyGates),
        value_(options.by == Gating::tpot ? &Issued::tpot : &Issued::latency) {
    if (options.by == Gating::latency) clock_.emplace(queries, options.slots);
    out_.by = options.by;
    out_.unit = options.unit;
    out_.super_pass_size = size_;
    out_.super_passes = queries.size() / size_;
    out_.window_min = options.window_min;
  }

  SteadyState find() {
    passes_ = out_.super_passes;
    if (passes_ > 0) {
      crop_ = ramp_end();
      decide();
    }
    set_status();
    if (out_.found) measure();
    return std::move(out_);
  }

 private:
  std::span<const Issued> stretch(std::uint64_t first, std::uint64_t end) const {
    return queries_.subspan(first * size_, (end - first) * size_);
  }

  static std::size_t block_count(std::size_t queries) {
    return std::clamp(queries / kBlockMin, kBlocksMin, kBlocksMax);
  }

  // The values of `count` blocks of the queries from `first` on.
  std::vector<double> blocks(std::size_t first, std::size_t queries, std::size_t count,
                             double share) const {
    return blocks_of(queries, count, [&](std::size_t from, std::size_t to) {
      if (share == 0) return clock_->rate(first + from, first + to);
      return value_at(queries_.subspan(first + from, to - from), value_, share);
    });
  }

  // The first super-pass after the ramp.
  std::uint64_t ramp_end() const {
    const std::size_t whole = passes_ * size_;
    const std::size_t a_block = std::max<std::size_t>(std::min(size_, kBlockMin), size_ / 4);
    const std::size_t count = whole / a_block;
    const std::vector<double> values = blocks(0, whole, count, 0.5);
    if (values.size() < 4) return 0;
    const std::vector<double> back(values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                                   values.end());
    const double level = median(back);
    std::vector<double> off;
    for (const double value : back) off.push_back(std::abs(value - level));
    // 1.48 × the median deviation is a standard deviation where errors are normal.
    const double allowed = std::max(kRampFloor * level, 3 * 1.48 * median(off));
    std::size_t start = 0;
    const auto away = [&](std::size_t i) { return std::abs(values[i] - level) > allowed; };
    // Two in a row, because one may be near by chance.
    while (start < values.size() / 2 && (away(start) || away(start + 1))) ++start;
    const std::uint64_t pass = (start * a_block + size_ - 1) / size_;
    return std::min<std::uint64_t>(pass, passes_ / 2);
  }

  GatingMetric judge(const Gate& gate, std::uint64_t first, std::uint64_t end) const {
    const std::size_t from = first * size_;
    const std::size_t part = (end - first) * size_;
    GatingMetric metric{.name = gate.name};
    const std::vector<double> level = blocks(from, part, block_count(part), gate.share);
    const std::vector<double> passes = blocks(from, part, end - first, gate.share);
    const Trend trend = trend_of(level);
    metric.drift = trend.drift;
    metric.drift_error = trend.drift_error;
    metric.p_value = trend.p_value;
    metric.variation = variation(passes);
    if (!level.empty()) {
      metric.low = *std::ranges::min_element(level);
      metric.high = *std::ranges::max_element(level);
    }
    const double size = std::abs(trend.drift);
    if (size < kEffectFloor && size + kErrors * trend.drift_error < kDriftMax &&
        metric.variation <= kVariationMax) {
      metric.level = Level::plateau;
    } else if (size >= kEffectFloor && trend.p_value < kAlpha) {
      metric.level = trend.drift > 0 ? Level::drifting_up : Level::drifting_down;
    }
    return metric;
  }

  std::vector<GatingMetric> judge(std::uint64_t first, std::uint64_t end) const {
    std::vector<GatingMetric> out;
    for (const Gate& gate : gates_) out.push_back(judge(gate, first, end));
    return out;
  }

  // The gates of a stretch that is level by each of them; else none.
  std::vector<GatingMetric> level_by_all(std::uint64_t first, std::uint64_t end) const {
    std::vector<GatingMetric> out;
    for (const Gate& gate : gates_) {
      out.push_back(judge(gate, first, end));
      if (out.back().level != Level::plateau) return {};
    }
    return out;
  }

  // Queries that failed at the start of a stretch say nothing of the level there.
  std::span<const Issued> from_first_value(std::span<const Issued> part) const {
    const auto has_value = [&](const Issued& query) { return query.ok && query.*value_ > 0; };
    return {std::ranges::find_if(part, has_value), part.end()};
  }

  // Whether [0, first) was a ramp to [first, passes): a drift has no such bend.
  bool is_ramp(std::uint64_t first, const std::vector<GatingMetric>& after) const {
    if (first == 0) return true;
    const std::span<const Issued> front = from_first_value(stretch(0, first));
    const std::span<const Issued> back = from_first_value(stretch(first, passes_));
    if (front.empty() || back.empty()) return true;
    const std::size_t block = std::max<std::size_t>(kBlockMin, front.size() / 8);
    const double start = value_at(front.first(std::min(block, front.size())), value_, 0.5);
    const double knee = value_at(back.first(std::min(block, back.size())), value_, 0.5);
    // Four super-passes that gain less among themselves than the distance from them to the rest are
    // a level of their own, followed by a step.
    if (first > kSuperPassesMin) {
      const std::size_t level = (first - 1) * size_;
      const Trend inside = trend_of(blocks(0, level, block_count(level), 0.5));
      if (std::abs(inside.drift) < std::abs(knee - start) / knee / 2) return false;
    }
    const double before_each = std::abs(knee - start) / knee / static_cast<double>(first);
    const double after_each =
        (std::abs(after[0].drift) + after[0].drift_error) / static_cast<double>(passes_ - first);
    return std::abs(knee - start) > kRampMin * knee && before_each > kRampSteeper * after_each;
  }

  void take(std::uint64_t first, std::uint64_t end, std::vector<GatingMetric> metrics,
            SteadyVerdict verdict) {
    out_.found = true;
    out_.first = first;
    out_.last = end - 1;
    out_.metrics = std::move(metrics);
    out_.verdict = verdict;
  }

  bool try_from(std::uint64_t first) {
    std::vector<GatingMetric> metrics = level_by_all(first, passes_);
    if (metrics.empty() || !is_ramp(first, metrics)) return false;
    take(first, passes_, std::move(metrics), SteadyVerdict::steady);
    return true;
  }

  // Two levels, the first of them a plateau.
  bool try_step(std::uint64_t first) {
    const std::size_t part = (passes_ - first) * size_;
    const std::size_t count = block_count(part);
    const std::vector<double> level = blocks(first * size_, part, count, 0.5);
    const Break found = break_of(level);
    if (level.size() < count || found.p_value >= kAlpha) return false;
    if (std::abs(found.shift) < kEffectFloor || found.step_error >= found.line_error) return false;
    const std::uint64_t end = first + part * found.at / count / size_;
    std::vector<GatingMetric> metrics = level_by_all(first, end);
    if (metrics.empty()) return false;
    take(first, end, std::move(metrics), SteadyVerdict::anomaly);
    out_.shift = found.shift;
    return true;
  }

  void decide() {
    if (try_from(crop_) || (crop_ > 0 && try_from(0))) return;
    for (std::uint64_t first = crop_ + 1; first <= passes_ / 2; ++first) {
      if (passes_ - first < kSuperPassesMin) break;
      if (try_from(first)) return;
    }
    if (try_step(crop_) || (crop_ > 0 && try_step(0))) return;
    // The ramp adds nothing to a drift, but a drift that looks like a ramp is judged whole.
    out_.metrics = judge(crop_, passes_);
    if (!is_ramp(crop_, out_.metrics)) out_.metrics = judge(0, passes_);
    for (const GatingMetric& metric : out_.metrics) {
      if (metric.level != Level::drifting_up && metric.level != Level::drifting_down) continue;
      out_.verdict = metric.level == Level::drifting_up ? SteadyVerdict::drifting_up
                                                        : SteadyVerdict::drifting_down;
      return;
    }
  }

  void set_status() {
    if (passes_ == 0) return;
    out_.status = WindowStatus::insufficient_passes;
    if (!out_.found) return;
    const std::span<const Issued> window = stretch(out_.first, out_.last + 1);
    Instant from = Instant::max();
    Instant to = Instant::none();
    for (const Issued& query : window) {
      if (!query.sent.known()) continue;
      from = std::min(from, query.sent);
      to = std::max(to, query.sent);
    }
    if (to > from) {
      out_.from = from;
      out_.span = to - from;
    }
    out_.samples = window.size();
    if (out_.last - out_.first + 1 < kSuperPassesMin) return;
    out_.status = out_.span >= out_.window_min ? WindowStatus::windowable
                                               : WindowStatus::insufficient_duration;
  }

  void measure() {
    Series ttft;
    Series latency;
    RatioSeries tpot;
    bool counted = false;
    for (const Issued& query : stretch(out_.first, out_.last + 1)) {
      if (!query.ok) {
        ++out_.failed;
        continue;
      }
      ++out_.completed;
      if (query.ttft > 0) ttft.add(static_cast<std::int64_t>(query.ttft));
      if (query.latency > 0) latency.add(static_cast<std::int64_t>(query.latency));
      if (query.tpot > 0) tpot.add(query.tpot);
      out_.units += query.units;
      out_.sound_s += query.sound_s;
      if (query.tokens < 0) continue;
      counted = true;
      out_.output_tokens += query.tokens;
    }
    out_.ttft = ttft.finish(false);
    out_.latency = latency.finish(false);
    out_.tpot = tpot.finish(false);
    const double p90 = out_.tpot.percentile(90.0) * 1e-6;
    if (p90 > 0) out_.tps_per_user = 1000.0 / p90;
    if (clock_) {
      measure_rates(counted);
      return;
    }
    if (out_.span <= Duration{}) return;
    // n issues span n − 1 gaps.
    const double gaps = static_cast<double>(out_.samples - 1) / static_cast<double>(out_.samples);
    const double seconds = out_.span.seconds();
    out_.qps = static_cast<double>(out_.completed) * gaps / seconds;
    if (counted) out_.tps = static_cast<double>(out_.output_tokens) * gaps / seconds;
  }

  // The rate at which the window's queries ended: its issues come in bursts.
  void measure_rates(bool counted) {
    out_.qps = clock_->rate(out_.first * size_, (out_.last + 1) * size_);
    const double each = out_.qps / static_cast<double>(out_.completed);
    const bool sound = out_.unit == kAudioSecond;
    const double units = sound ? out_.sound_s : static_cast<double>(out_.units);
    if (!out_.unit.empty() && units > 0) out_.units_per_s = each * units;
    if (counted) out_.tps = each * static_cast<double>(out_.output_tokens);
  }

  std::span<const Issued> queries_;
  std::uint64_t size_;
  std::span<const Gate> gates_;
  Value value_;
  std::optional<CompletionClock> clock_{};
  std::uint64_t passes_ = 0;
  std::uint64_t crop_ = 0;
  SteadyState out_{};
};

}  // namespace

Issued issued_of(const Event& event, const TokenCount& count) {
  Issued out{.sent = event.sent,
             .done = event.done,
             .units = std::max<std::uint32_t>(event.choices_asked, 1),
             .sound_s = std::max(event.sound.length, Duration{}).seconds(),
             .ok = event.outcome == Outcome::ok};
  if (!out.ok || !event.sent.known() || !event.done.known()) return out;
  out.tokens = count.output;
  out.latency = static_cast<double>((event.done - event.sent).ns);
  if (!event.streamed || !event.first_token.known()) return out;
  out.ttft = static_cast<double>((event.first_token - event.sent).ns);
  if (event.fragments < 2 || count.after_first < 1) return out;
  out.tpot = static_cast<double>((event.done - event.first_token).ns) / count.after_first;
  return out;
}

SteadyOptions steady_options(const Json& facts) {
  SteadyOptions out;
  const auto api = api_from(facts["api"].as_string());
  const std::string_view unit = api ? row_of(*api).unit : facts["api_unit"].as_string();
  if (is_small_word(unit)) out.unit = unit;
  const Json& steady = facts["steady_state"];
  out.super_pass = steady["super_pass"].as_uint();
  out.window_min = Duration::from_seconds(
      std::clamp(steady["window_min_s"].as_double(), 0.0, kWindowMostSeconds));
  if (steady["gate"].as_string() == "latency") out.by = Gating::latency;
  constexpr std::uint64_t kSlotsMax = 1U << 24U;
  out.slots = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(steady["slots"].as_uint(1), 1, kSlotsMax));
  return out;
}

SteadyState find_steady_state(std::span<const Issued> queries, const SteadyOptions& options) {
  CHECK(options.super_pass > 0);
  return Finder(queries, options).find();
}

}  // namespace assay::metrics
