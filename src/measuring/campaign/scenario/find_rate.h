// find_rate: the highest Server rate whose limits hold, of an endpoint (loadgen/rate_search.h).
// Each probe is a Server test of its own length and schedule; the test whose rate is searched is
// long.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "loadgen/rate_search.h"
#include "loadgen/test.h"

namespace assay::campaign {

// One probe as a test: the asked one at another rate, with arrivals of its own. A short one lasts a
// fifth of it or ten times the latency limit, and is at most 700 queries where the number decides.
loadgen::Test probe_test(const loadgen::Test& asked, const loadgen::RateSearch::Next& next,
                         std::uint64_t index);

// How long the search may take, and about how long it does, from the tests' least lengths at the
// first rate; answers that are awaited come on top.
struct SearchCost {
  Duration most{};
  Duration about{};
};
SearchCost search_cost(const loadgen::Test& asked, const loadgen::RateWish& wish);
// "qps: at most 14 short probes of 12 s and 6 of 60 s: 8.8 minutes at most, about 6.4, …"
std::string cost_text(const loadgen::Test& asked, const loadgen::RateWish& wish);

// Measures one probe. `index` counts from 0.
using MeasureRate = std::function<Result<loadgen::RateProbe>(const loadgen::RateSearch::Next& next,
                                                             std::uint64_t index)>;

// {find, edge, low, high, good, bad, open_end, steps: [{rate, queries, over, …}]}; good and bad are
// null where there is none. If a disk or memory ran out, what is known so far, with the reason in
// `stopped`.
Result<Json> find_rate(const loadgen::RateWish& wish, const MeasureRate& measure,
                       const std::function<void(const std::string&)>& say);

std::string rate_text(const Json& found);

}  // namespace assay::campaign
