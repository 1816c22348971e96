#include "observe/tail.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::observe {
namespace {

using Row = TailFold::Row;
using Wait = TailFold::Wait;

constexpr double kSlowShare = 0.01;
constexpr double kBeyond = 1.5;     // of what was expected
constexpr double kNamed = 0.5;      // of the excess
constexpr double kMoreUsual = 1.2;  // under way, against the median
constexpr double kMoreWork = 1.5;   // that came in, against the usual rate
constexpr double kUnlikeLength = 0.1;
constexpr Duration kCell = 10_ms;
constexpr Duration kAtOnce = 20_ms;
constexpr double kFaster = 2;                             // than usual, what comes at once
constexpr std::size_t kCellsMost = std::size_t{1} << 22;  // 11 hours
// A silence says something where at least this many fragments were to be expected in it.
constexpr double kFragmentsMissed = 8;
constexpr std::size_t kLooked = 1000;  // long prompts around one slow query

template <typename Value>
double median_over(const std::vector<Row>& rows, Value value) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(value(row));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// What is usual in this run.
struct Usual {
  double late = 0;
  double connect = 0;
  double first = 0;
  double prompt = 0;
  double cached = 0;
  double slope = 0;  // of TTFT, for each uncached token of prompt
  double tpot = 0;
  double fragment = 0;  // time of one
  double gap = 0;
  double in_flight = 0;
  double running = 0;
};

// The middle one of the slopes from the usual reply to each whose length is unlike, the further the
// more it counts: a few replies that were slow for another reason must not bend it. Never below 0.
double slope_of(const std::vector<Row>& rows, const Usual& usual) {
  const double length = usual.prompt - usual.cached;
  std::vector<std::pair<double, double>> slopes;  // and how much each counts
  double total = 0;
  for (const Row& row : rows) {
    const double more = static_cast<double>(row.prompt - row.cached) - length;
    if (std::abs(more) <= std::max(kUnlikeLength * length, 1.0)) continue;
    slopes.emplace_back((row.first.length.seconds() - usual.first) / more, std::abs(more));
    total += std::abs(more);
  }
  std::ranges::sort(slopes);
  double passed = 0;
  for (const auto& [slope, counts] : slopes) {
    passed += counts;
    if (passed >= total / 2) return std::max(slope, 0.0);
  }
  return 0;
}

const Signal* signal_of(const std::vector<Signal>& signals, std::string_view id) {
  for (const Signal& signal : signals) {
    if (signal.measure->id == id && !signal.points.empty()) return &signal;
  }
  return nullptr;
}

double median_value(const Signal* signal) {
  if (signal == nullptr) return 0;
  std::vector<double> values;
  for (const SignalPoint& point : signal->points) values.push_back(point.value);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The growth of a counter a second, as it usually is between two readings.
double usual_rate(const Signal& signal) {
  std::vector<double> rates;
  for (std::size_t i = 1; i < signal.points.size(); ++i) {
    const double seconds = (signal.points[i].at - signal.points[i - 1].at).seconds();
    if (seconds <= 0) continue;
    rates.push_back((signal.points[i].value - signal.points[i - 1].value) / seconds);
  }
  if (rates.empty()) return 0;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  return *middle;
}

Instant sent_at(const Row& row) { return row.due + row.late + row.connect; }
Instant first_at(const Row& row) { return sent_at(row) + row.first.length; }
Instant done_at(const Row& row) { return first_at(row) + row.decode; }

Usual usual_of(const std::vector<Row>& rows, const Load& load) {
  Usual usual;
  usual.late = median_over(rows, [](const Row& row) { return row.late.seconds(); });
  usual.connect = median_over(rows, [](const Row& row) { return row.connect.seconds(); });
  usual.first = median_over(rows, [](const Row& row) { return row.first.length.seconds(); });
  usual.prompt = median_over(rows, [](const Row& row) { return static_cast<double>(row.prompt); });
  usual.cached = median_over(rows, [](const Row& row) { return static_cast<double>(row.cached); });
  usual.tpot = median_over(
      rows, [](const Row& row) { return row.after > 0 ? row.decode.seconds() / row.after : 0.0; });
  usual.fragment = median_over(rows, [](const Row& row) {
    return row.fragments > 0 ? row.decode.seconds() / row.fragments : 0.0;
  });
  usual.gap = median_over(rows, [](const Row& row) { return row.gap.length.seconds(); });
  usual.in_flight = median_over(
      rows, [&load](const Row& row) { return load.mean(sent_at(row), done_at(row) + 1_ns); });
  usual.slope = slope_of(rows, usual);
  return usual;
}

double expected_of(const Row& row, const Usual& usual) {
  return usual.late + usual.connect + usual.first + usual.tpot * row.after;
}

using Parts = std::array<double, kTailCauses>;

double& part(Parts& parts, TailCause cause) { return parts[static_cast<std::size_t>(cause)]; }

// The growth or the highest value of a signal over a stretch; 0 without the signal.
double seen_in(const Signal* signal, Instant from, Instant to) {
  if (signal == nullptr) return 0;
  const auto figures = figures_in(*signal, from, to);
  if (!figures) return 0;
  return signal->measure->kind == MeasureKind::gauge ? figures->max : figures->delta;
}

// The server made tokens inside the stretch, by two readings that both lie in it: a reading of a
// server that stands still comes late, so what grew up to it proves nothing.
bool went_on(const Signal* output, Instant from, Instant to) {
  if (output == nullptr) return false;
  const auto& points = output->points;
  const auto begin = std::ranges::lower_bound(points, from, {}, &SignalPoint::at);
  const auto end = std::ranges::upper_bound(points, to, {}, &SignalPoint::at);
  if (end - begin < 2) return false;
  const double seconds = ((end - 1)->at - begin->at).seconds();
  const double grown = (end - 1)->value - begin->value;
  return seconds > 0 && grown >= kNamed * usual_rate(*output) * seconds;
}

// What had been made meanwhile came right behind the wait.
bool caught_up(const Wait& wait, double excess, double fragment) {
  const auto behind = static_cast<double>(wait.behind);
  if (wait.behind < 3 || behind * fragment < kFaster * kAtOnce.seconds()) return false;
  return behind >= kNamed * std::min(excess / fragment, static_cast<double>(wait.followed));
}

}  // namespace

void TailFold::count_cell(std::vector<std::int32_t>& cells, Instant at, std::int32_t by) {
  if (at < origin_) return;
  const auto cell = static_cast<std::size_t>((at - origin_).ns / kCell.ns);
  if (cell >= kCellsMost) return;
  if (cell >= cells.size()) cells.resize(cell + 1, 0);
  cells[cell] += by;
}

void TailFold::on_reply(const metrics::Reply& reply) {
  const Event& event = reply.event;
  if (event.outcome != Outcome::ok || !event.sent.known() || !event.done.known()) return;
  if (!origin_.known()) origin_ = run_start();
  Row row;
  row.index = event.query.index;
  row.sample = event.query.sample;
  row.due = event.due;
  // A connection that was opened before the query was due cost it nothing.
  const Duration waited = std::max(event.sent - event.due, Duration{});
  row.connect = event.connected ? std::min(event.connect_time, waited) : Duration{};
  row.late = waited - row.connect;
  const Instant first = event.first_token.known() ? event.first_token : event.done;
  row.first.from = event.sent;
  row.first.length = first - event.sent;
  row.first.unread =
      event.first_token.known() ? event.first_token_uncertainty : event.done_uncertainty;
  row.decode = event.done - first;
  row.prompt = std::max<std::int64_t>(event.usage.prompt_tokens, 0);
  row.cached = std::max<std::int64_t>(event.usage.cached_tokens, 0);
  row.after = std::max(event.usage.completion_tokens - 1, 0);
  std::vector<Instant> arrivals;
  for (const StreamEvent& one : reply.events) {
    if (!is_fragment(one.category)) continue;
    if (!arrivals.empty() && one.arrival - arrivals.back() > row.gap.length) {
      row.gap.from = arrivals.back();
      row.gap.length = one.arrival - arrivals.back();
      row.gap.unread = one.uncertainty;
    }
    arrivals.push_back(one.arrival);
    count_cell(fragments_, one.arrival, 1);
  }
  if (!arrivals.empty()) {
    count_cell(streams_, arrivals.front(), 1);
    count_cell(streams_, arrivals.back(), -1);
    row.fragments = static_cast<double>(arrivals.size()) - 1;
  }
  for (Wait* const wait : {&row.first, &row.gap}) {
    const Instant end = wait->from + wait->length;
    for (const Instant at : arrivals) {
      if (at < end) continue;
      ++wait->followed;
      if (at <= end + kAtOnce) ++wait->behind;
    }
  }
  rows_.push_back(row);
}

// Names the parts of one slow query; made once for a run.
struct TailFold::Finder {
  const TailFold& fold;
  const Load& load;
  const Usual& usual;
  const Signal* waiting = nullptr;
  const Signal* running = nullptr;
  const Signal* preempted = nullptr;
  const Signal* output = nullptr;
  const Signal* prompts = nullptr;
  std::vector<Instant> dues{};              // in order
  std::vector<const Row*> long_prefills{};  // in the order of their first tokens
  double share_of_due = 0;                  // queries a second

  // How much longer than usual the prompt takes, as seconds.
  double prompt_part(const Row& row) const {
    return usual.slope * std::max(static_cast<double>(row.prompt) - usual.prompt, 0.0);
  }
  double miss_part(const Row& row) const {
    return usual.slope * std::max(usual.cached - static_cast<double>(row.cached), 0.0);
  }

  void learn() {
    for (const Row& row : fold.rows_) {
      dues.push_back(row.due);
      if (prompt_part(row) + miss_part(row) > usual.first) long_prefills.push_back(&row);
    }
    std::ranges::sort(dues);
    std::ranges::sort(long_prefills, {}, [](const Row* row) { return first_at(*row); });
    const double seconds = (dues.back() - dues.front()).seconds();
    share_of_due = seconds > 0 ? static_cast<double>(dues.size()) / seconds : 0;
  }

  // Other queries' long prefills in a stretch: what they may have held of it, one after another,
  // and whether more of it was long for its prompt or for what the cache did not have.
  struct Held {
    double prompt = 0;
    double miss = 0;
    double seconds() const { return prompt + miss; }
    TailCause cause() const {
      return prompt >= miss ? TailCause::long_prompt : TailCause::cache_miss;
    }
  };
  Held held_by_others(const Row& row, Instant from, Instant to) const {
    auto at = std::ranges::lower_bound(long_prefills, from, {},
                                       [](const Row* one) { return first_at(*one); });
    Held out;
    for (std::size_t i = 0; i < kLooked && at != long_prefills.end(); ++i, ++at) {
      if (*at == &row) continue;
      const Duration both = std::min(first_at(**at), to) - std::max(sent_at(**at), from);
      const double own = prompt_part(**at) + miss_part(**at);
      const double share = std::clamp(both.seconds(), 0.0, own) / own;
      out.prompt += share * prompt_part(**at);
      out.miss += share * miss_part(**at);
    }
    return out;
  }

  // The longest stretch inside in which streams were under way and none had a fragment.
  Duration silence(Instant from, Instant to) const {
    const Instant origin = fold.origin_;
    if (from < origin || to <= from) return {};
    const auto begin = static_cast<std::size_t>((from - origin).ns / kCell.ns) + 1;
    const auto end = static_cast<std::size_t>((to - origin).ns / kCell.ns);
    std::size_t longest = 0;
    std::size_t run = 0;
    double missed = 0;
    for (std::size_t i = begin; i < end && i < fold.fragments_.size(); ++i) {
      if (fold.fragments_[i] > 0) {
        run = 0;
        missed = 0;
      } else {
        ++run;
        missed += fold.streams_[i] * kCell.seconds() / std::max(usual.fragment, 1e-6);
        if (missed >= kFragmentsMissed) longest = std::max(longest, run);
      }
    }
    return kCell * static_cast<std::int64_t>(longest);
  }

  // What caused the excess of a wait: the end of the wait, `excess` seconds long.
  TailCause cause_of(const Row& row, const Wait& wait, double excess, TailCause alone) const {
    const Instant to = wait.from + wait.length;
    const Instant from = to - Duration::from_seconds(excess);
    if (silence(from, to).seconds() >= kNamed * excess) {
      if (went_on(output, from, to)) return TailCause::network;
      const Held held = held_by_others(row, from, to);
      return held.seconds() >= kNamed * excess ? held.cause() : TailCause::stall;
    }
    if (caught_up(wait, excess, usual.fragment)) return TailCause::network;
    if (seen_in(preempted, from, to + 1_ns) > 0) return TailCause::preemption;
    if (&wait != &row.first) return alone;
    // A queue that preemptions left behind is theirs: what waits does so for the same KV cache.
    if (seen_in(preempted, from - (to - from), to) > 0) return TailCause::preemption;
    return seen_in(waiting, from, to + 1_ns) >= 1 ? TailCause::queue : alone;
  }

  // More was under way, because more came: where a server slows down more is under way too, but no
  // more comes in. What goes out says nothing: a server that was slow catches up.
  bool more_under_way(const Row& row) const {
    const Instant from = sent_at(row);
    const Instant to = done_at(row) + 1_ns;
    const double own = load.mean(from, to) / std::max(usual.in_flight, 1e-9);
    double all = own;
    if (running != nullptr) {
      const auto figures = figures_in(*running, from, to);
      if (figures && usual.running > 0) all = std::max(all, figures->mean / usual.running);
    }
    if (all <= kMoreUsual) return false;
    const Instant before = from - (to - from) * 3;
    const double seconds = (to - before).seconds();
    const auto came = std::ranges::upper_bound(dues, to) - std::ranges::lower_bound(dues, before);
    if (static_cast<double>(came) > kMoreWork * share_of_due * seconds) return true;
    return prompts != nullptr &&
           seen_in(prompts, before, to) > kMoreWork * usual_rate(*prompts) * seconds;
  }

  Parts parts_of(const Row& row) const {
    Parts parts{};
    part(parts, TailCause::connect) = row.connect.seconds() - usual.connect;
    double first = std::max(row.first.length.seconds() - usual.first, 0.0);
    const double decode = std::max(row.decode.seconds() - usual.tpot * row.after, 0.0);
    double gap = std::clamp(row.gap.length.seconds() - usual.gap, 0.0, decode);
    const double slower = decode - gap;

    // What this client may have caused is not laid at the server's door.
    const double unread_first = std::min(row.first.unread.seconds(), first);
    const double unread_gap = std::min(row.gap.unread.seconds(), gap);
    part(parts, TailCause::client_late) =
        row.late.seconds() - usual.late + unread_first + unread_gap;
    first -= unread_first;
    gap -= unread_gap;

    const double prompt = std::min(prompt_part(row), first);
    const double miss = std::min(miss_part(row), first - prompt);
    part(parts, TailCause::long_prompt) = prompt;
    part(parts, TailCause::cache_miss) = miss;
    first -= prompt + miss;
    if (first > 0) {
      part(parts, cause_of(row, row.first, first, TailCause::before_first)) += first;
    }
    if (gap > 0) part(parts, cause_of(row, row.gap, gap, TailCause::gap)) += gap;
    if (slower > 0) {
      const Held held = held_by_others(row, first_at(row), done_at(row));
      part(parts, held.seconds() >= kNamed * slower ? held.cause()
                  : more_under_way(row)             ? TailCause::batch
                                                    : TailCause::slow_tokens) += slower;
    }
    return parts;
  }
};

Tail TailFold::finish(const Load& load, const std::vector<Signal>& signals) {
  Tail out{.queries = rows_.size()};
  if (rows_.size() < kTailRepliesMin) return out;
  Usual usual = usual_of(rows_, load);
  // From changes to streams under way, for each cell.
  streams_.resize(fragments_.size(), 0);
  std::inclusive_scan(streams_.begin(), streams_.end(), streams_.begin());
  Finder finder{.fold = *this, .load = load, .usual = usual};
  finder.waiting = signal_of(signals, "requests_waiting");
  finder.running = signal_of(signals, "requests_running");
  finder.preempted = signal_of(signals, "preemptions");
  finder.output = signal_of(signals, "output_tokens");
  finder.prompts = signal_of(signals, "prompt_tokens");
  usual.running = median_value(finder.running);
  finder.learn();

  std::vector<double> excess(rows_.size());
  std::vector<std::size_t> order(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    excess[i] = (done_at(rows_[i]) - rows_[i].due).seconds() - expected_of(rows_[i], usual);
    order[i] = i;
  }
  std::ranges::sort(order, [&excess](std::size_t a, std::size_t b) {
    return excess[a] != excess[b] ? excess[a] > excess[b] : a < b;
  });
  const auto most = static_cast<std::size_t>(kSlowShare * static_cast<double>(rows_.size())) + 1;
  order.resize(std::min(order.size(), most));

  Parts lost{};
  for (const std::size_t i : order) {
    const Row& row = rows_[i];
    const double expected = expected_of(row, usual);
    const Duration took = done_at(row) - row.due;
    if (took.seconds() < kBeyond * expected) continue;
    const Parts parts = finder.parts_of(row);
    SlowQuery slow;
    slow.index = row.index;
    slow.sample = row.sample;
    slow.due = row.due;
    slow.took = took;
    slow.expected = Duration::from_seconds(expected);
    const auto largest = std::ranges::max_element(parts);
    const double share = *largest / excess[i];
    if (share >= kNamed) {
      slow.cause = static_cast<TailCause>(largest - parts.begin());
      slow.share = std::min(share, 1.0);
    }
    ++out.by_cause[static_cast<std::size_t>(slow.cause)];
    part(lost, slow.cause) += excess[i];
    out.slow.push_back(slow);
  }
  for (std::size_t i = 0; i < kTailCauses; ++i) {
    if (out.by_cause[i] > 0) out.ranked.push_back(static_cast<TailCause>(i));
  }
  std::ranges::stable_sort(
      out.ranked, [&lost](TailCause a, TailCause b) { return part(lost, a) > part(lost, b); });
  rows_.clear();
  fragments_.clear();
  streams_.clear();
  return out;
}

}  // namespace assay::observe
