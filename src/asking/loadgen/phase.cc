#include "loadgen/phase.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/format.h"
#include "base/python_random.h"
#include "loadgen/queries.h"

namespace assay::loadgen {
namespace {

// 4 bytes a sample, and 8 for its instant.
constexpr std::uint64_t kPlannedMax = 200'000'000;
constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

struct Drawn {
  std::vector<std::uint32_t> samples{};
  std::vector<Duration> due{};  // Server
  std::uint64_t queries = 0;
  std::uint64_t per_query = 1;
};

Result<Drawn> draw_all(const EffectiveSettings& settings) {
  const auto sets = loaded_sets(settings, Phase::performance);
  ASSIGN_OR_RETURN(QueryStream stream,
                   QueryStream::make(settings, sets.front(), Phase::performance));
  Drawn out{.per_query = stream.samples_per_query()};
  const bool server = settings.scenario == Scenario::Server;
  for (loadgen::Query query; stream.next(query);) {
    if (out.samples.size() + query.samples.size() > kPlannedMax) {
      return invalid(
          format("these settings give more than {} samples, which no plan holds: a lower "
                 "rate, a longer expected latency or a shorter min_duration",
                 kPlannedMax));
    }
    for (const std::uint64_t sample : query.samples) {
      out.samples.push_back(static_cast<std::uint32_t>(sample));
    }
    if (server) out.due.push_back(Duration{query.due_ns});
  }
  out.queries = stream.made();
  return out;
}

// The seed of the reference's orders.
constexpr std::uint64_t kOrderSeed = 123;

// The samples of `count` queries, and the barriers between the groups.
std::vector<std::uint32_t> by_groups(std::span<const std::uint32_t> groups, std::size_t count,
                                     std::vector<std::uint32_t>& barriers) {
  std::size_t rows = 0;
  for (const std::uint32_t size : groups) rows += size;
  const std::size_t passes = std::max<std::size_t>(1, count / rows);
  PythonRandom random(kOrderSeed);
  std::vector<std::uint32_t> out;
  std::uint32_t first = 0;
  for (const std::uint32_t size : groups) {
    std::vector<std::uint32_t> order(size);
    std::iota(order.begin(), order.end(), first);
    random.shuffle(order);
    const bool last = first + size == rows;
    const std::size_t end = last ? count : std::min(count, out.size() + passes * size);
    for (std::size_t i = 0; out.size() < end; ++i) out.push_back(order[i % size]);
    if (end == count) return out;
    barriers.push_back(static_cast<std::uint32_t>(end));
    first += size;
  }
  return out;
}

Duration of_ms(std::int64_t ms) { return 1_ms * ms; }

// LoadGen's own early ends, which it calls errors.
std::uint64_t queries_max(const EffectiveSettings& settings, std::uint64_t generated) {
  return settings.max_query_count == 0 ? generated : std::min(settings.max_query_count, generated);
}

}  // namespace

Result<PhaseCounts> set_phase(const EffectiveSettings& settings, std::uint32_t in_flight_max,
                              std::span<const std::uint32_t> groups, PhasePlan& phase) {
  if (settings.scenario == Scenario::Server && settings.max_async_queries > 0) {
    return Error{Code::unsupported,
                 "max_async_queries: LoadGen ends a test with so many queries outstanding, which a "
                 "run over a network does not; leave it 0"};
  }
  const bool in_turn =
      settings.scenario == Scenario::SingleStream || settings.scenario == Scenario::MultiStream;
  if (!groups.empty() && in_turn) {
    return Error{Code::unsupported,
                 "a data set whose rows are answered in groups is asked by server and offline"};
  }
  ASSIGN_OR_RETURN(Drawn drawn, draw_all(settings));
  PhaseCounts out{.queries = drawn.queries, .samples = drawn.samples.size()};
  StopRule& stop = phase.stop;
  stop.pass = 0;
  stop.duration_min = {};
  stop.duration_max =
      settings.max_duration_ms > 0 ? of_ms(settings.max_duration_ms) : Duration::max();
  const std::uint64_t most = queries_max(settings, drawn.queries) * drawn.per_query;
  switch (settings.scenario) {
    case Scenario::SingleStream:
    case Scenario::MultiStream: {
      const std::uint64_t group = drawn.per_query;
      out.group = static_cast<std::uint32_t>(group);
      phase.open_loop = false;
      phase.arrivals.clear();
      phase.limits = {{{}, 2 * out.group}};
      stop.pass = group;
      stop.queries_min = std::min(settings.min_query_count * group, most);
      stop.queries_max = most;
      stop.duration_min = of_ms(settings.target_duration_ms);
      break;
    }
    case Scenario::Server:
      phase.open_loop = true;
      phase.arrivals = std::move(drawn.due);
      phase.arrivals.resize(most);
      phase.limits = {{{}, kUnlimited}};
      stop.queries_min = stop.queries_max = most;
      break;
    case Scenario::Offline:
      phase.open_loop = true;
      phase.arrivals.assign(most, Duration{});
      phase.limits = {{{}, in_flight_max == 0 ? kUnlimited : in_flight_max}};
      stop.queries_min = stop.queries_max = most;
      break;
  }
  phase.barriers.clear();
  if (!groups.empty()) drawn.samples = by_groups(groups, most, phase.barriers);
  phase.order = SampleOrder::listed(std::move(drawn.samples));
  return out;
}

}  // namespace assay::loadgen
