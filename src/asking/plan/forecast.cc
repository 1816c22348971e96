#include "plan/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/json_list.h"

namespace assay::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Range operator+(const Range& a, const Range& b) {
  return {a.low + b.low, a.likely + b.likely, a.high + b.high};
}
Range operator*(const Range& a, double factor) {
  return {a.low * factor, a.likely * factor, a.high * factor};
}

// The range that three values span, with the middle one as the likely one.
Range spanned(double a, double likely, double b) {
  return {std::min({a, likely, b}), likely, std::max({a, likely, b})};
}

double count_of(std::uint64_t queries) {
  return queries == std::numeric_limits<std::uint64_t>::max() ? kNever
                                                              : static_cast<double>(queries);
}
double seconds_of(Duration time) { return time == Duration::max() ? kNever : time.seconds(); }

// On the line of logarithms through the nearest levels below and above, or through the last two
// where all are on one side; nullopt with a single level.
std::optional<double> on_line(std::vector<KnownLevel> levels, double in_flight) {
  std::ranges::sort(levels, {}, &KnownLevel::in_flight);
  const auto at = std::ranges::lower_bound(levels, in_flight, {}, &KnownLevel::in_flight);
  if (at != levels.end() && at->in_flight == in_flight) return at->qps.likely;
  if (levels.size() < 2) return std::nullopt;
  const auto above = std::clamp(at, levels.begin() + 1, levels.end() - 1);
  const KnownLevel& a = *(above - 1);
  const KnownLevel& b = *above;
  if (a.in_flight == b.in_flight) return std::nullopt;
  const double share = std::log(in_flight / a.in_flight) / std::log(b.in_flight / a.in_flight);
  return a.qps.likely * std::pow(b.qps.likely / a.qps.likely, share);
}

struct Course {
  double queries = 0;
  double seconds = 0;
};

double turns_of(const PhasePlan& phase) {
  double turns = 0;
  for (const Conversation& one : phase.conversations) {
    turns += static_cast<double>(one.turns.size());
  }
  return turns;
}

// A closed loop that has c queries under way from its start answers q of them a second: at the time
// t it has issued c + q t. Infinite where nothing ends it.
Course closed_loop(const PhasePlan& phase, double c, double q) {
  const StopRule& stop = phase.stop;
  double issued = kNever;
  if (stop.queries_min > 0 || stop.duration_min > Duration{}) {
    issued = std::max(count_of(stop.queries_min),
                      stop.duration_min > Duration{} ? c + q * stop.duration_min.seconds() : 0);
    const double pass = static_cast<double>(stop.pass);
    if (pass > 0) issued = std::ceil(issued / pass - 1e-9) * pass;
  }
  issued = std::min(issued, count_of(stop.queries_max));
  if (phase.replay) issued = std::min(issued, turns_of(phase));
  if (stop.duration_max < Duration::max()) {
    issued = std::min(issued, c + q * stop.duration_max.seconds());
  }
  const double issuing = std::max(0.0, issued - c) / q;
  return {issued, issuing + std::min(std::min(c, issued) / q, seconds_of(stop.drain_max))};
}

// The queries that are due in time; they take until the last of them is due, or as long as
// `capacity` needs for all.
Course open_loop(const PhasePlan& phase, double capacity, double latency) {
  const StopRule& stop = phase.stop;
  double queries = std::min(static_cast<double>(phase.arrivals.size()), count_of(stop.queries_max));
  const auto late = std::ranges::upper_bound(phase.arrivals, stop.duration_max);
  queries = std::min(queries, static_cast<double>(late - phase.arrivals.begin()));
  if (queries < 1) return {};
  const double last = phase.arrivals[static_cast<std::size_t>(queries) - 1].seconds();
  const double answered = std::max(last + latency, queries / capacity);
  return {queries, std::min(answered, last + seconds_of(stop.drain_max))};
}

PhaseForecast open_phase(const PhasePlan& phase, std::span<const KnownLevel> levels) {
  if (phase.arrivals.empty()) return {.name = phase.name, .kind = phase.kind};
  Range latency{kNever, 0, 0};
  double known = 0;
  for (const KnownLevel& level : levels) {
    known = std::max(known, level.qps.low);
    latency.low = std::min(latency.low, level.in_flight / level.qps.high);
    latency.high = std::max(latency.high, level.in_flight / level.qps.low);
  }
  latency.likely = std::sqrt(latency.low * latency.high);
  // No more can be under way than there are queries. The slow end reckons with no more than the
  // highest rate that is known.
  const double most = std::min(static_cast<double>(phase.arrivals.size()),
                               static_cast<double>(phase.limits.back().in_flight_max));
  const Range rate = rate_at(levels, most);
  const Course least = open_loop(phase, rate.high, latency.low);
  const Course likely = open_loop(phase, rate.likely, latency.likely);
  const Course longest = open_loop(phase, std::min(rate.low, known), latency.high);
  return {.name = phase.name,
          .kind = phase.kind,
          .queries = spanned(least.queries, likely.queries, longest.queries),
          .seconds = spanned(least.seconds, likely.seconds, longest.seconds)};
}

Result<PhaseForecast> closed_phase(const PhasePlan& phase, std::span<const KnownLevel> levels) {
  double c = phase.limits.back().in_flight_max;
  if (phase.replay) c = std::min(c, static_cast<double>(phase.conversations.size()));
  if (!phase.loops.empty()) c = static_cast<double>(users_of(phase) + phase.arrivals.size());
  c = std::min(c, count_of(phase.stop.queries_max));
  if (phase.stop.duration_min == Duration{} && phase.stop.queries_min > 0) {
    c = std::min(c, std::max(1.0, count_of(phase.stop.queries_min)));
  }
  if (c < 1) return PhaseForecast{.name = phase.name, .kind = phase.kind};
  const Range rate = rate_at(levels, c);
  const Course fast = closed_loop(phase, c, rate.high);
  const Course likely = closed_loop(phase, c, rate.likely);
  const Course slow = closed_loop(phase, c, rate.low);
  if (!std::isfinite(likely.queries)) {
    return invalid(
        format("a forecast of the phase '{}': nothing in the plan ends it; give --samples or "
               "--duration",
               phase.name));
  }
  return PhaseForecast{.name = phase.name,
                       .kind = phase.kind,
                       .in_flight = c,
                       .queries = spanned(slow.queries, likely.queries, fast.queries),
                       .seconds = spanned(fast.seconds, likely.seconds, slow.seconds)};
}

// What one query has in tokens: as at the nearest known level, between the least and the most of
// all. nullopt where a level does not know.
std::optional<Range> tokens_each(std::span<const KnownLevel> levels, double in_flight,
                                 std::optional<double> KnownLevel::*which) {
  std::optional<Range> out;
  double nearest = kNever;
  for (const KnownLevel& level : levels) {
    if (!(level.*which)) return std::nullopt;
    const double tokens = *(level.*which);
    if (!out) out = Range{tokens, tokens, tokens};
    out->low = std::min(out->low, tokens);
    out->high = std::max(out->high, tokens);
    const double away = std::abs(std::log(level.in_flight / std::max(1.0, in_flight)));
    if (away < nearest) {
      nearest = away;
      out->likely = tokens;
    }
  }
  return out;
}

void add_tokens(std::optional<Range>& sum, const Range& queries, const std::optional<Range>& each) {
  if (!sum) return;
  if (!each) {
    sum.reset();
    return;
  }
  sum = *sum +
        Range{queries.low * each->low, queries.likely * each->likely, queries.high * each->high};
}

Json json_of(const std::optional<Range>& range) { return range ? range->to_json() : Json(); }

}  // namespace

Json Range::to_json() const {
  return Json::object().set("low", low).set("likely", likely).set("high", high);
}

Range rate_at(std::span<const KnownLevel> levels, double in_flight) {
  CHECK(!levels.empty() && in_flight > 0);
  double low = 0;
  double high = kNever;
  for (const KnownLevel& level : levels) {
    const double share = in_flight / level.in_flight;
    low = std::max(low, level.qps.low * std::min(1.0, share));
    high = std::min(high, level.qps.high * std::max(1.0, share));
  }
  if (low > high) std::swap(low, high);
  const auto line = on_line({levels.begin(), levels.end()}, in_flight);
  return {low, std::clamp(line.value_or(std::sqrt(low * high)), low, high), high};
}

void Forecast::add(Forecast other, const std::string& name) {
  const bool first = phases.empty();
  for (PhaseForecast& phase : other.phases) {
    phase.name = name + " " + phase.name;
    phases.push_back(std::move(phase));
  }
  queries = queries + other.queries;
  seconds = seconds + other.seconds;
  const auto joined = [first](const std::optional<Range>& a, const std::optional<Range>& b) {
    if (first) return b;
    return a && b ? std::optional<Range>(*a + *b) : std::nullopt;
  };
  prompt_tokens = joined(prompt_tokens, other.prompt_tokens);
  output_tokens = joined(output_tokens, other.output_tokens);
  for (std::string& note : other.notes) {
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
  }
}

Result<Forecast> forecast(const Plan& plan, Duration run_max, std::span<const KnownLevel> levels) {
  CHECK(!levels.empty());
  Forecast out;
  out.prompt_tokens = out.output_tokens = Range{};
  for (const PhasePlan& phase : plan.phases) {
    PhaseForecast one;
    if (phase.open_loop) {
      one = open_phase(phase, levels);
    } else {
      ASSIGN_OR_RETURN(one, closed_phase(phase, levels));
    }
    out.queries = out.queries + one.queries;
    out.seconds = out.seconds + one.seconds;
    add_tokens(out.prompt_tokens, one.queries,
               tokens_each(levels, one.in_flight, &KnownLevel::prompt_tokens));
    add_tokens(out.output_tokens, one.queries,
               tokens_each(levels, one.in_flight, &KnownLevel::output_tokens));
    if (phase.replay) {
      out.notes.emplace_back("the pauses between the turns of a conversation are not in the time");
    }
    if (!phase.loops.empty()) {
      out.notes.emplace_back("users who think, or a schedule beside them, are not in the time");
    }
    out.phases.push_back(std::move(one));
  }
  const double limit = seconds_of(run_max);
  if (out.seconds.high > limit) {
    out.notes.push_back(format("the run may meet its limit of {:.0f} s and stop there", limit));
    out.seconds = {std::min(out.seconds.low, limit), std::min(out.seconds.likely, limit), limit};
  }
  return out;
}

ForecastCost cost_of(const Forecast& forecast, const ForecastPrices& prices) {
  ForecastCost out;
  const bool priced = prices.prompt_token > 0 || prices.output_token > 0;
  const bool known = (forecast.prompt_tokens || prices.prompt_token == 0) &&
                     (forecast.output_tokens || prices.output_token == 0);
  if (priced && known) {
    out.tokens = forecast.prompt_tokens.value_or(Range{}) * prices.prompt_token +
                 forecast.output_tokens.value_or(Range{}) * prices.output_token;
  }
  constexpr double kHour = 3600;
  if (prices.cards) out.card_hours = forecast.seconds * (*prices.cards / kHour);
  if (out.card_hours && prices.card_hour) out.cards = *out.card_hours * *prices.card_hour;
  return out;
}

Json forecast_json(const Forecast& forecast, const ForecastCost& cost) {
  Json phases = Json::array();
  for (const PhaseForecast& phase : forecast.phases) {
    phases.push_back(Json::object()
                         .set("name", phase.name)
                         .set("kind", to_string(phase.kind))
                         .set("in_flight", phase.in_flight > 0 ? Json(phase.in_flight) : Json())
                         .set("queries", phase.queries.to_json())
                         .set("seconds", phase.seconds.to_json()));
  }
  return Json::object()
      .set("phases", std::move(phases))
      .set("queries", forecast.queries.to_json())
      .set("seconds", forecast.seconds.to_json())
      .set("prompt_tokens", json_of(forecast.prompt_tokens))
      .set("output_tokens", json_of(forecast.output_tokens))
      .set("cost", Json::object()
                       .set("tokens", json_of(cost.tokens))
                       .set("card_hours", json_of(cost.card_hours))
                       .set("cards", json_of(cost.cards)))
      .set("notes", json_list(forecast.notes));
}

}  // namespace assay::plan
