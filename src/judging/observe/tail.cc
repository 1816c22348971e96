#include "observe/tail.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::observe {
namespace {

constexpr std::size_t kRowsMin = 20;   // fewer have no usual time
constexpr std::size_t kShownMax = 20;  // in JSON
constexpr double kSlowShare = 0.01;
constexpr double kBeyond = 1.5;        // of what was expected
constexpr double kNamed = 0.5;         // of the excess
constexpr double kMoreInFlight = 1.2;  // of the median
constexpr Duration kCell = 10_ms;
constexpr std::size_t kCellsMost = std::size_t{1} << 22;  // 11 hours

template <typename Value>
double median_of(const std::vector<TailFold::Row>& rows, Value value) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const TailFold::Row& row : rows) values.push_back(value(row));
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Seconds of TTFT for each uncached token of prompt, by least squares over the rows that are not
// the slowest tenth: what is to be explained must not bend the line. Never below 0.
double slope_of(std::vector<TailFold::Row> rows) {
  std::ranges::sort(rows, {}, &TailFold::Row::ttft);
  const std::size_t kept = rows.size() - rows.size() / 10;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    const auto tokens = static_cast<double>(rows[i].uncached);
    x += tokens;
    y += rows[i].ttft.seconds();
    xx += tokens * tokens;
    xy += tokens * rows[i].ttft.seconds();
  }
  const auto n = static_cast<double>(kept);
  const double spread = xx - x * x / n;
  return spread <= 1e-9 * xx ? 0 : std::max((xy - x * y / n) / spread, 0.0);
}

const Signal* signal_of(const std::vector<Signal>& signals, std::string_view id) {
  for (const Signal& signal : signals) {
    if (signal.measure->id == id) return &signal;
  }
  return nullptr;
}

// What is usual in this run.
struct Usual {
  double late = 0;
  double connect = 0;
  double ttft = 0;
  double uncached = 0;
  double slope = 0;
  double tpot = 0;
  double gap = 0;
  double in_flight = 0;
};

Usual usual_of(const std::vector<TailFold::Row>& rows, const Load& load) {
  using Row = TailFold::Row;
  Usual out;
  out.late = median_of(rows, [](const Row& row) { return row.late.seconds(); });
  out.connect = median_of(rows, [](const Row& row) { return row.connect.seconds(); });
  out.ttft = median_of(rows, [](const Row& row) { return row.ttft.seconds(); });
  out.uncached = median_of(rows, [](const Row& row) { return static_cast<double>(row.uncached); });
  out.slope = slope_of(rows);
  out.tpot = median_of(
      rows, [](const Row& row) { return row.after > 0 ? row.decode.seconds() / row.after : 0.0; });
  out.gap = median_of(rows, [](const Row& row) { return row.gap.seconds(); });
  out.in_flight = median_of(rows, [&load](const Row& row) {
    const Instant sent = row.due + row.late + row.connect;
    return load.mean(sent, sent + row.ttft + row.decode + 1_ns);
  });
  return out;
}

Duration took_of(const TailFold::Row& row) {
  return row.late + row.connect + row.ttft + row.decode;
}

double expected_of(const TailFold::Row& row, const Usual& usual) {
  return usual.late + usual.connect + usual.ttft + usual.tpot * row.after;
}

using Parts = std::array<double, kTailCauses>;

double& part(Parts& parts, TailCause cause) { return parts[static_cast<std::size_t>(cause)]; }

// The growth or the highest value of a signal over a query; 0 without the signal.
double seen_in(const Signal* signal, Instant from, Instant to) {
  if (signal == nullptr) return 0;
  const auto figures = figures_in(*signal, from, to);
  if (!figures) return 0;
  return signal->measure->kind == MeasureKind::gauge ? figures->max : figures->delta;
}

}  // namespace

std::string_view to_string(TailCause cause) {
  static constexpr std::array<std::string_view, kTailCauses> kNames = {
      "client_late", "connect", "long_prompt", "queue",       "before_first", "stall",
      "preemption",  "gap",     "batch",       "slow_tokens", "not_explained"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string_view tail_words(TailCause cause) {
  switch (cause) {
    case TailCause::client_late:
      return "sent late by this client; look at its verdict, --threads";
    case TailCause::connect:
      return "opened a connection; connections are closed, or too few";
    case TailCause::long_prompt:
      return "a long prompt; chunked prefill, or a class of its own";
    case TailCause::queue:
      return "waited in the server's queue; more replicas, or fewer queries";
    case TailCause::before_first:
      return "late first token, no word of the server on why; --metrics URL shows its queue";
    case TailCause::stall:
      return "every stream stood still at once; a pause of the server";
    case TailCause::preemption:
      return "put back by the server; more KV cache, or fewer at once";
    case TailCause::gap:
      return "its stream alone stood still";
    case TailCause::batch:
      return "every token slower, as more were in flight";
    case TailCause::slow_tokens:
      return "every token slower, with no more in flight; clocks, power";
    case TailCause::not_explained:
      return "no part holds half of it";
  }
  return {};
}

void TailFold::on_reply(const metrics::Reply& reply) {
  const Event& event = reply.event;
  if (event.outcome != Outcome::ok || !event.sent.known() || !event.done.known()) return;
  if (!origin_.known()) origin_ = run_start();
  Row row{.index = event.query.index, .sample = event.query.sample, .due = event.due};
  row.connect = event.connected ? event.connect_time : Duration{};
  row.late = std::max(event.sent - event.due - row.connect, Duration{});
  const Instant first = event.first_token.known() ? event.first_token : event.done;
  row.ttft = first - event.sent;
  row.decode = event.done - first;
  row.uncached = std::max<std::int64_t>(event.usage.prompt_tokens, 0) -
                 std::max<std::int64_t>(event.usage.cached_tokens, 0);
  row.after = std::max(event.usage.completion_tokens - 1, 0);
  Instant last = Instant::none();
  for (const StreamEvent& one : reply.events) {
    if (!is_fragment(one.category)) continue;
    if (last.known() && one.arrival - last > row.gap) {
      row.gap_from = last;
      row.gap = one.arrival - last;
    }
    last = one.arrival;
    if (one.arrival < origin_) continue;
    const auto cell = static_cast<std::size_t>((one.arrival - origin_).ns / kCell.ns);
    if (cell >= kCellsMost) continue;
    if (cell >= fragments_.size()) fragments_.resize(cell + 1, 0);
    ++fragments_[cell];
  }
  rows_.push_back(row);
}

// No fragment of any stream came inside the gap, its first and last cell left out.
bool TailFold::silent(Instant from, Duration gap) const {
  if (gap < kCell * 3 || from < origin_) return false;
  const auto begin = static_cast<std::size_t>((from - origin_).ns / kCell.ns) + 1;
  const auto end = static_cast<std::size_t>((from + gap - origin_).ns / kCell.ns);
  for (std::size_t cell = begin; cell < std::min(end, fragments_.size()); ++cell) {
    if (fragments_[cell] > 0) return false;
  }
  return true;
}

Tail TailFold::finish(const Load& load, const std::vector<Signal>& signals) {
  Tail out{.queries = rows_.size()};
  if (rows_.size() < kRowsMin) return out;
  const Usual usual = usual_of(rows_, load);
  const Signal* const waiting = signal_of(signals, "requests_waiting");
  const Signal* const preempted = signal_of(signals, "preemptions");

  std::vector<double> excess(rows_.size());
  std::vector<std::size_t> order(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    excess[i] = took_of(rows_[i]).seconds() - expected_of(rows_[i], usual);
    order[i] = i;
  }
  std::ranges::sort(order, [&excess](std::size_t a, std::size_t b) {
    return excess[a] != excess[b] ? excess[a] > excess[b] : a < b;
  });
  const auto most = static_cast<std::size_t>(kSlowShare * static_cast<double>(rows_.size())) + 1;
  order.resize(std::min(order.size(), most));

  for (const std::size_t i : order) {
    const Row& row = rows_[i];
    const double expected = expected_of(row, usual);
    if (took_of(row).seconds() < kBeyond * expected) continue;
    const Instant sent = row.due + row.late + row.connect;
    const Instant first = sent + row.ttft;
    Parts parts{};
    part(parts, TailCause::client_late) = row.late.seconds() - usual.late;
    part(parts, TailCause::connect) = row.connect.seconds() - usual.connect;
    const double ttft = row.ttft.seconds() - usual.ttft;
    const double prompt = usual.slope * (static_cast<double>(row.uncached) - usual.uncached);
    part(parts, TailCause::long_prompt) = std::clamp(prompt, 0.0, std::max(ttft, 0.0));
    const bool queued = seen_in(waiting, sent, first) >= 1;
    part(parts, queued ? TailCause::queue : TailCause::before_first) =
        ttft - part(parts, TailCause::long_prompt);
    const double gap = std::max(row.gap.seconds() - usual.gap, 0.0);
    const bool back = seen_in(preempted, row.gap_from, row.gap_from + row.gap + 1_ns) > 0;
    part(parts, silent(row.gap_from, row.gap) ? TailCause::stall
                : back                        ? TailCause::preemption
                                              : TailCause::gap) = gap;
    const double slower = row.decode.seconds() - usual.tpot * row.after - gap;
    const bool more = load.mean(sent, first + row.decode + 1_ns) > kMoreInFlight * usual.in_flight;
    part(parts, more ? TailCause::batch : TailCause::slow_tokens) = slower;

    SlowQuery slow{.index = row.index,
                   .sample = row.sample,
                   .due = row.due,
                   .took = took_of(row),
                   .expected = Duration::from_seconds(expected)};
    const auto largest = std::ranges::max_element(parts);
    const double share = *largest / excess[i];
    if (share >= kNamed) {
      slow.cause = static_cast<TailCause>(largest - parts.begin());
      slow.share = std::min(share, 1.0);
    }
    ++out.by_cause[static_cast<std::size_t>(slow.cause)];
    out.slow.push_back(slow);
  }
  rows_.clear();
  fragments_.clear();
  return out;
}

Json to_json(const Tail& tail) {
  Json causes = Json::object();
  for (std::size_t i = 0; i < kTailCauses; ++i) {
    if (tail.by_cause[i] > 0) {
      causes.set(to_string(static_cast<TailCause>(i)), tail.by_cause[i]);
    }
  }
  Json slow = Json::array();
  for (const SlowQuery& one : tail.slow) {
    if (slow.size() >= kShownMax) break;
    slow.push_back(Json()
                       .set("query", one.index)
                       .set("sample", one.sample)
                       .set("due_ns", one.due.ns)
                       .set("took_ns", one.took.ns)
                       .set("expected_ns", one.expected.ns)
                       .set("cause", to_string(one.cause))
                       .set("share", one.share));
  }
  return Json()
      .set("queries", tail.queries)
      .set("slow", tail.slow.size())
      .set("causes", std::move(causes))
      .set("slowest", std::move(slow));
}

std::vector<std::pair<std::string, std::string>> tail_lines(const Tail& tail) {
  std::vector<std::pair<std::string, std::string>> out;
  if (tail.queries < kRowsMin) {
    out.emplace_back("tail", format("{} replies are too few to say what is slow", tail.queries));
    return out;
  }
  if (tail.slow.empty()) {
    out.emplace_back("tail", "nothing stands out: no query took half as long again as expected");
    return out;
  }
  for (std::size_t i = 0; i < kTailCauses; ++i) {
    if (tail.by_cause[i] == 0) continue;
    const auto cause = static_cast<TailCause>(i);
    const auto example = std::ranges::find(tail.slow, cause, &SlowQuery::cause);
    out.emplace_back(
        "tail",
        format("{} of {} slow queries: {} ({}); for example query {}: {} where {} was "
               "to be expected{}",
               tail.by_cause[i], tail.slow.size(), to_string(cause), tail_words(cause),
               example->index, human_duration(example->took), human_duration(example->expected),
               cause == TailCause::not_explained
                   ? std::string()
                   : format(", {:.0f} % of it by this", 100 * example->share)));
  }
  return out;
}

}  // namespace assay::observe
