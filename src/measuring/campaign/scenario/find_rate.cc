#include "campaign/scenario/find_rate.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::campaign {
namespace {

// P99 needs 662 queries where one of them is over it.
constexpr std::uint64_t kShortQueries = 700;
constexpr std::uint64_t kShortPart = 5;
// No queue grows over a limit in less time than the limit.
constexpr std::uint64_t kLimits = 10;
// What a search takes where nothing is unusual.
constexpr std::uint32_t kShortUsual = 7;
constexpr std::uint32_t kLongUsual = 5;

Duration least_time(const loadgen::Test& test) {
  const loadgen::TestSettings& asked = test.requested;
  const Duration by_count = Duration::from_seconds(static_cast<double>(asked.min_query_count) /
                                                   std::max(asked.server_target_qps, 1e-6));
  return std::max(1_ms * static_cast<std::int64_t>(asked.min_duration_ms), by_count);
}

std::string minutes(Duration time) { return three_digits(time.seconds() / 60); }

Json probe_json(const loadgen::RateProbe& probe) {
  return Json()
      .set("rate", probe.rate)
      .set("queries", probe.queries)
      .set("over", probe.over)
      .set("completed_rate", probe.completed_rate)
      .set("arrived_rate", probe.arrived_rate)
      .set("long", probe.is_long);
}

std::string probe_text(const loadgen::RateProbe& probe) {
  const double share =
      probe.queries == 0 ? 1 : static_cast<double>(probe.over) / static_cast<double>(probe.queries);
  return format("rate {:>8}/s  {:>9} queries  {:>6.2f} % over a limit{}", three_digits(probe.rate),
                count_text(probe.queries), share * 100, probe.is_long ? "" : "  (short)");
}

Json rate_json(double rate) { return rate > 0 ? Json(rate) : Json(); }

}  // namespace

loadgen::Test probe_test(const loadgen::Test& asked, const loadgen::RateSearch::Next& next,
                         std::uint64_t index) {
  loadgen::Test out = asked;
  loadgen::TestSettings& settings = out.requested;
  settings.server_target_qps = next.rate;
  settings.schedule_rng_seed += index;
  if (next.is_long) return out;
  const std::uint64_t limit_ms =
      (settings.use_token_latencies ? settings.server_ttft_latency
                                    : settings.server_target_latency_ns) /
      1'000'000;
  settings.min_duration_ms =
      std::min(settings.min_duration_ms,
               std::max(settings.min_duration_ms / kShortPart, kLimits * limit_ms));
  settings.min_query_count = std::min(settings.min_query_count, kShortQueries);
  return out;
}

SearchCost search_cost(const loadgen::Test& asked, const loadgen::RateWish& wish) {
  loadgen::Test first = asked;
  first.requested.server_target_qps = wish.first;
  const Duration of_short = least_time(probe_test(first, {.rate = wish.first}, 0));
  const Duration of_long = least_time(first);
  return {of_short * wish.short_max + of_long * wish.long_max,
          of_short * std::min(kShortUsual, wish.short_max) +
              of_long * std::min(kLongUsual, wish.long_max)};
}

std::string cost_text(const loadgen::Test& asked, const loadgen::RateWish& wish) {
  loadgen::Test first = asked;
  first.requested.server_target_qps = wish.first;
  const SearchCost cost = search_cost(asked, wish);
  return format(
      "qps: at most {} short probes of {} s and {} of {} s: {} minutes at most, about {}, and what "
      "the answers take",
      wish.short_max,
      three_digits(least_time(probe_test(first, {.rate = wish.first}, 0)).seconds()), wish.long_max,
      three_digits(least_time(first).seconds()), minutes(cost.most), minutes(cost.about));
}

Result<Json> find_rate(const loadgen::RateWish& wish, const MeasureRate& measure,
                       const std::function<void(const std::string&)>& say) {
  loadgen::RateSearch search(wish);
  Json steps = Json::array();
  std::string stopped;
  for (std::uint64_t i = 0; const auto next = search.next(); ++i) {
    auto probe = measure(*next, i);
    if (!probe) {
      if (probe.error().code != Code::exhausted) return probe.error();
      stopped = probe.error().message;
      break;
    }
    // A plan rounds no rate, and the search knows its probes by it.
    probe->rate = next->rate;
    probe->is_long = next->is_long;
    search.tell(*probe);
    say(probe_text(*probe));
    steps.push_back(probe_json(*probe));
  }
  const loadgen::RateFound found = search.found();
  Json out = Json::object()
                 .set("find", "qps")
                 .set("edge", rate_json(found.edge))
                 .set("low", rate_json(found.low))
                 .set("high", rate_json(found.high))
                 .set("good", rate_json(found.good))
                 .set("bad", rate_json(found.bad))
                 .set("open_end", found.open_end)
                 .set("steps", std::move(steps));
  if (!stopped.empty()) out.set("stopped", stopped);
  return out;
}

std::string rate_text(const Json& found) {
  std::string out;
  if (found["stopped"].is_string()) {
    out = format("the search ended early, after {} probes\n", found["steps"].size());
  }
  if (found["edge"].is_null()) return out + "no rate that was asked keeps the limits\n";
  if (found["open_end"].as_bool()) {
    return out + format("{} queries a second keep the limits, and no higher rate was asked\n",
                        three_digits(found["edge"].as_double()));
  }
  out += format("the limits hold up to {} queries a second ({} to {}, 95 %)\n",
                three_digits(found["edge"].as_double()), three_digits(found["low"].as_double()),
                three_digits(found["high"].as_double()));
  if (found["good"].is_null()) return out;
  return out + format("the highest rate asked at which LoadGen's early stopping holds: {}\n",
                      three_digits(found["good"].as_double()));
}

}  // namespace assay::campaign
