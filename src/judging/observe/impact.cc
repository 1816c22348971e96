#include "observe/impact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace assay::observe {
namespace {

constexpr std::array<Duration, 10> kBinWidths{
    {100_ms, 200_ms, 500_ms, 1_s, 2_s, 5_s, 10_s, 20_s, 30_s, 60_s}};
constexpr std::int64_t kBinsMin = 5;  // of a baseline, and of what confirms a recovery
constexpr double kOutputMin = 10;     // events of a bin, on average
constexpr double kEven = 0.2;         // spread of a baseline whose bins are not too narrow
constexpr double kOffSpreads = 3;
constexpr std::size_t kLatenciesMin = 5;                       // for a baseline of latency
constexpr std::size_t kImpactCellsMax = std::size_t{1} << 22;  // 70 minutes of 1 ms

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double spread_of(const std::vector<double>& values, double level) {
  constexpr double kNormal = 1.4826;  // of a normal law: deviation over median deviation
  std::vector<double> away;
  for (const double value : values) away.push_back(std::abs(value - level));
  return kNormal * median_of(std::move(away)) / level;
}

// Counts of one width, and how many lie before an instant.
struct Counts {
  Instant origin{};
  Duration width{};
  std::vector<double> sums{0};

  double before(Instant at) const {
    if (at <= origin) return 0;
    const double place = (at - origin).seconds() / width.seconds();
    const auto cell = static_cast<std::size_t>(std::min(place, 1e15));
    if (cell + 1 >= sums.size()) return sums.back();
    return sums[cell] + (place - static_cast<double>(cell)) * (sums[cell + 1] - sums[cell]);
  }
  double between(Instant from, Instant to) const { return before(to) - before(from); }
};

struct TimedLatency {
  Instant at{};
  Duration latency{};
};

struct Bin {
  double output = 0;
  std::optional<double> latency{};  // median, ns
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
};

// Everything that is asked of the run's course.
struct Course {
  Counts output{};
  std::vector<ImpactFold::Ended> ended{};  // by done
  std::vector<TimedLatency> latencies{};   // by instant, of queries that succeeded
  Instant start{};
  Instant end{};

  std::span<const ImpactFold::Ended> ended_in(Instant from, Instant to) const {
    const auto a = std::ranges::lower_bound(ended, from, {}, &ImpactFold::Ended::done);
    const auto b =
        std::ranges::lower_bound(ended, std::max(from, to), {}, &ImpactFold::Ended::done);
    return {a, b};
  }

  std::vector<double> latencies_in(Instant from, Instant to) const {
    std::vector<double> out;
    const auto a = std::ranges::lower_bound(latencies, from, {}, &TimedLatency::at);
    for (auto one = a; one != latencies.end() && one->at < to; ++one) {
      out.push_back(static_cast<double>(one->latency.ns));
    }
    return out;
  }

  Bin bin(Instant from, Instant to) const {
    Bin out{.output = output.between(from, to)};
    std::vector<double> waits = latencies_in(from, to);
    if (!waits.empty()) out.latency = median_of(std::move(waits));
    for (const ImpactFold::Ended& one : ended_in(from, to)) {
      ++out.ended;
      if (!one.ok) ++out.failed;
    }
    return out;
  }

  // `count` bins of one width from `from` on.
  std::vector<Bin> bins(Instant from, Duration width, std::int64_t count) const {
    std::vector<Bin> out;
    for (std::int64_t i = 0; i < count; ++i) {
      out.push_back(bin(from + width * i, from + width * (i + 1)));
    }
    return out;
  }
};

Course course_of(Counts output, std::vector<ImpactFold::Ended> ended) {
  Course out{.output = std::move(output), .ended = std::move(ended)};
  std::ranges::sort(out.ended, {}, &ImpactFold::Ended::done);
  for (const ImpactFold::Ended& one : out.ended) {
    if (!one.ok) continue;
    const Instant at = one.first.known() ? one.first : one.done;
    out.latencies.push_back({at, at - one.due});
  }
  std::ranges::sort(out.latencies, {}, &TimedLatency::at);
  return out;
}

void add_latencies(const Course& course, const std::vector<Bin>& bins, Baseline& out) {
  std::vector<double> waits = course.latencies_in(out.from, out.to);
  if (waits.size() < kLatenciesMin) return;
  const double level = median_of(std::move(waits));
  if (level <= 0) return;
  std::vector<double> medians;
  for (const Bin& bin : bins) {
    if (bin.latency) medians.push_back(*bin.latency);
  }
  out.latency = {static_cast<std::int64_t>(level)};
  out.latency_spread = spread_of(medians, level);
}

Baseline baseline_of(const Course& course, Instant to, Duration width, std::int64_t count) {
  Baseline out{.from = to - width * count, .to = to, .bin = width};
  const std::vector<Bin> bins = course.bins(out.from, width, count);
  std::vector<double> outputs;
  for (const Bin& bin : bins) outputs.push_back(bin.output);
  const double level = median_of(outputs);
  out.output_per_s = level / width.seconds();
  out.output_spread = level > 0 ? spread_of(outputs, level) : 1;
  add_latencies(course, bins, out);
  std::uint64_t failed = 0;
  for (const ImpactFold::Ended& one : course.ended_in(out.from, to)) {
    ++out.queries;
    if (!one.ok) {
      ++failed;
      continue;
    }
    out.query_max = std::max(out.query_max, one.done - one.due);
    if (one.first.known()) out.first_max = std::max(out.first_max, one.first - one.due);
    out.gap_max = std::max(out.gap_max, one.gap);
  }
  if (out.queries > 0) {
    out.failed_share = static_cast<double>(failed) / static_cast<double>(out.queries);
  }
  return out;
}

std::optional<Baseline> find_baseline(const Course& course, Instant from, Instant to) {
  std::optional<Baseline> best;
  for (const Duration width : kBinWidths) {
    const std::int64_t count = (to - from).ns / width.ns;
    if (count < kBinsMin) break;
    const double events = course.output.between(to - width * count, to);
    if (events < kOutputMin * static_cast<double>(count)) continue;
    Baseline one = baseline_of(course, to, width, count);
    if (one.output_per_s <= 0) continue;
    if (one.output_spread <= kEven) return one;
    if (!best || one.output_spread < best->output_spread) best = one;
  }
  return best;
}

// The bins after an act, judged by its baseline.
class Aftermath {
 public:
  Aftermath(const Baseline& base, std::vector<Bin> bins)
      : base_(base), bins_(std::move(bins)), level_(base.output_per_s * base.bin.seconds()) {}

  std::size_t size() const { return bins_.size(); }

  std::optional<std::size_t> first_off() const {
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      const std::size_t next = std::min(i + 1, bins_.size() - 1);
      if (fails(bins_[i]) || (low(i) && low(next)) || (late(i) && late(next))) return i;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> recovered_from(std::size_t first) const {
    constexpr auto kWindow = static_cast<std::size_t>(kBinsMin);
    for (std::size_t i = first; i + kWindow <= bins_.size(); ++i) {
      if (whole(i, kWindow)) return i;
    }
    return std::nullopt;
  }

  // What the first `count` bins come to.
  void add_depth(std::size_t count, ActImpact& out) const {
    for (std::size_t i = 0; i < std::min(count, bins_.size()); ++i) {
      out.output_lowest = std::min(out.output_lowest, bins_[i].output / level_);
      out.output_lost += std::max(0.0, level_ - bins_[i].output);
      const double latency = bins_[i].latency.value_or(0);
      out.latency_highest =
          std::max(out.latency_highest, Duration{static_cast<std::int64_t>(latency)});
    }
  }

 private:
  static double margin(double spread, double spreads) {
    return std::max(kImpactMargin, spreads * spread);
  }
  bool low(std::size_t i) const {
    return bins_[i].output < level_ * (1 - margin(base_.output_spread, kOffSpreads));
  }
  bool late(std::size_t i) const {
    return base_.latency > Duration{} && bins_[i].latency &&
           *bins_[i].latency > latency_limit(margin(base_.latency_spread, kOffSpreads));
  }
  double latency_limit(double over) const {
    return static_cast<double>(base_.latency.ns) * (1 + over);
  }
  bool fails(const Bin& bin) const {
    return static_cast<double>(bin.failed) >
           (base_.failed_share + kImpactMargin) * static_cast<double>(bin.ended);
  }

  bool whole(std::size_t from, std::size_t count) const {
    std::vector<double> outputs;
    std::vector<double> latencies;
    Bin sum;
    std::size_t lows = 0;
    for (std::size_t i = from; i < from + count; ++i) {
      outputs.push_back(bins_[i].output);
      if (bins_[i].latency) latencies.push_back(*bins_[i].latency);
      sum.ended += bins_[i].ended;
      sum.failed += bins_[i].failed;
      if (low(i)) ++lows;
    }
    if (low(from) || late(from) || lows > 1 || fails(sum) || fails(bins_[from])) return false;
    if (median_of(std::move(outputs)) < level_ * (1 - margin(base_.output_spread, 1))) return false;
    return base_.latency == Duration{} || latencies.empty() ||
           median_of(std::move(latencies)) <= latency_limit(margin(base_.latency_spread, 1));
  }

  const Baseline& base_;
  std::vector<Bin> bins_;
  double level_;
};

void count_queries(const Course& course, Instant until, ActImpact& out) {
  const Baseline& base = *out.baseline;
  for (const ImpactFold::Ended& one : course.ended_in(out.began, Instant::max())) {
    if (one.due >= until) continue;
    ++out.queries;
    if (!one.ok) {
      ++out.failed;
      continue;
    }
    const bool slow = one.done - one.due > base.query_max || one.gap > base.gap_max ||
                      (one.first.known() && one.first - one.due > base.first_max);
    if (slow) ++out.slowed;
  }
}

// `limit`: the next act's begin, or the end of the run's course.
void judge_act(const Course& course, Instant limit, ActImpact& out) {
  const Baseline& base = *out.baseline;
  const std::int64_t count = std::max<std::int64_t>(0, (limit - out.began).ns / base.bin.ns);
  const Aftermath after(base, course.bins(out.began, base.bin, count));
  const std::optional<std::size_t> off = after.first_off();
  const Duration lasted = out.ended.known() ? out.ended - out.began : Duration{};
  const auto over = static_cast<std::size_t>((lasted.ns + base.bin.ns - 1) / base.bin.ns);
  std::size_t looked = after.size();
  if (!off && count > 0) {
    out.recovery = Recovery::no_effect;
    looked = std::min(looked, std::max<std::size_t>(over, 1));
  } else if (const auto from = after.recovered_from(std::max(off.value_or(0), over));
             from && out.ended.known()) {
    out.recovery = Recovery::recovered;
    out.recovered_after = base.bin * static_cast<std::int64_t>(*from);
    looked = *from;
  } else {
    out.recovery = limit < course.end ? Recovery::not_before_next : Recovery::not_in_run;
  }
  after.add_depth(looked, out);
  const bool whole = out.recovery == Recovery::recovered || out.recovery == Recovery::no_effect;
  count_queries(course, whole ? out.began + base.bin * static_cast<std::int64_t>(looked) : limit,
                out);
}

void take_step(const ChaosStep& step, ActImpact& out) {
  if (step.part == ChaosPart::begin) out.began = step.at;
  if (step.part == ChaosPart::end || step.part == ChaosPart::undone) out.ended = step.at;
  if (step.part == ChaosPart::undo) out.ended = Instant::none();
  if (step.exit_code) out.exit_code = step.exit_code;
  if (step.status) out.status = step.status;
  if (out.output.empty()) out.output = step.output;
  if (out.error.empty()) out.error = step.error;
}

// What an act is compared with: what came after the act before, or what that one had.
void choose_baseline(const Course& course, const ActImpact* before, ActImpact& out) {
  Instant from = course.start;
  bool whole = true;
  if (before != nullptr && before->baseline) {
    whole = before->recovery == Recovery::recovered || before->recovery == Recovery::no_effect;
    from = before->recovery == Recovery::recovered ? before->began + before->recovered_after
                                                   : before->baseline->from;
  } else if (before != nullptr) {
    from = before->began;  // nothing tells what it did
    whole = false;
  }
  if (whole) out.baseline = find_baseline(course, from, out.began);
  if (out.baseline || before == nullptr || !before->baseline) return;
  out.baseline = before->baseline;
  out.borrowed = true;
}

}  // namespace

ImpactFold::ImpactFold(const RunInfo& info) : ReplyFold(info) {
  for (std::size_t i = info.phases.size(); i > 0; --i) {
    if (info.phases[i - 1].kind == PhaseKind::performance) {
      phase_ = static_cast<std::uint16_t>(i - 1);
    }
  }
}

void ImpactFold::on_phase(const PhaseMark& mark) {
  ReplyFold::on_phase(mark);
  if (mark.phase != phase_) return;
  if (mark.step == PhaseStep::started && !origin_.known()) origin_ = mark.at;
  if (mark.step == PhaseStep::issue_ended) issue_end_ = std::min(issue_end_, mark.at);
}

void ImpactFold::count_output(Instant at) {
  if (!origin_.known()) origin_ = at;
  if (at < origin_) return;
  auto cell = static_cast<std::size_t>((at - origin_).ns / cell_.ns);
  while (cell >= kImpactCellsMax) {
    for (std::size_t i = 0; i < cells_.size(); i += 2) {
      cells_[i / 2] = cells_[i] + (i + 1 < cells_.size() ? cells_[i + 1] : 0);
    }
    cells_.resize((cells_.size() + 1) / 2);
    cell_ = cell_ * 2;
    cell = static_cast<std::size_t>((at - origin_).ns / cell_.ns);
  }
  if (cell >= cells_.size()) cells_.resize(cell + 1, 0);
  ++cells_[cell];
}

void ImpactFold::on_reply(const metrics::Reply& reply) {
  const Event& event = reply.event;
  if (event.query.phase != phase_ || !event.done.known()) return;
  Ended one{.due = event.due, .done = event.done, .ok = event.outcome == Outcome::ok};
  if (event.streamed) {
    one.first = event.first_token;
    Instant last = Instant::none();
    for (const StreamEvent& told : reply.events) {
      if (!is_output(told.category)) continue;
      count_output(told.arrival);
      if (last.known()) one.gap = std::max(one.gap, told.arrival - last);
      last = told.arrival;
    }
  } else if (one.ok) {
    count_output(event.done);
  }
  ended_.push_back(one);
}

Impact ImpactFold::finish(const ChaosLog& log) {
  Counts output{.origin = origin_, .width = cell_};
  for (const std::uint32_t cell : cells_) output.sums.push_back(output.sums.back() + cell);
  Course course = course_of(std::move(output), std::move(ended_));
  course.start = origin_;
  course.end = issue_end_;
  if (issue_end_ == Instant::max()) {
    course.end = course.ended.empty() ? origin_ : course.ended.back().done;
  }
  Impact out{.start = origin_, .trouble = log.trouble};
  for (const ChaosActFacts& facts : log.acts) out.acts.push_back({.facts = facts});
  for (const ChaosStep& step : log.steps) take_step(step, out.acts[step.act]);
  std::vector<ActImpact*> done;
  for (ActImpact& act : out.acts) {
    if (act.began.known() && origin_.known()) done.push_back(&act);
  }
  std::ranges::stable_sort(done, {}, &ActImpact::began);
  for (std::size_t i = 0; i < done.size(); ++i) {
    ActImpact& act = *done[i];
    act.recovery = Recovery::no_baseline;
    if (act.began < course.start || act.began > course.end) continue;  // of no use here
    choose_baseline(course, i == 0 ? nullptr : done[i - 1], act);
    const Instant next = i + 1 < done.size() ? done[i + 1]->began : Instant::max();
    if (act.baseline) judge_act(course, std::min(next, course.end), act);
  }
  return out;
}

}  // namespace assay::observe
