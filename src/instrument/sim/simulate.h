// simulate: the figures of one operating level of a cluster, without sockets and without waiting.
//
// Closed loop, as usually measured: `concurrency` queries start at once, a new one follows each
// that ends, until queries_per_slot x concurrency are done; caching is off unless asked. The burst
// at the start is part of the measurement, as in the published points: it is a tenth of their
// queries. The protocol is repeated with other lengths until `queries_min` are counted; the first
// time with the lengths of `assay run` at this seed.
//
// Equal workers with an even share each are computed once: n of them at a concurrency of C are n
// times one at C/n; with a remainder r, r of them have one more. So a system of 288 accelerators
// costs as much as one of its workers, and no number of queries is cut.
//
// The loop has one client: after a reply it takes `turn_around` until its next query, and it sends
// queries one after another, `send_gap` apart. No latency includes these times. But an idle engine
// gets a burst as one prompt and, a step later, the rest, at the start or after a batch that ended
// together; and a query never arrives in the very step in which its predecessor ended.
//
// Open loop: arrivals of a Poisson process at `rate`; the first fifth is not counted. Throughput
// counts the queries that end between the first counted arrival and the last one: those still under
// way then, many in a long-tailed load, do not make the system look slow.
//
// A point reports when it is no steady state: too few queries for each slot, slots that stand
// empty, a queue that grows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/histogram.h"
#include "sim/cluster.h"
#include "sim/trust.h"
#include "sim/workload.h"

namespace assay::sim {

struct SimulateOptions {
  std::uint32_t queries_per_slot = 10;
  std::uint32_t queries_min = 400;
  // Compute equal workers once. false: all of them behind their router, so that a list of lengths
  // is that of one measured run.
  bool alike_once = true;
  // The same for equal parts of a system whose prefill is apart. In a closed loop it is an
  // approximation: a part's prompts do not mix with the others'.
  bool apart_once = false;
  std::uint64_t seed = 42;  // of the lengths, as `assay run --run-seed`
  // Times of `assay run` near to the endpoint.
  Duration turn_around{200'000};
  Duration send_gap{20'000};
};

// Milliseconds.
struct SimSeries {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

struct SimPoint {
  double concurrency = 0;  // closed loop
  double rate = 0;         // open loop: queries offered a second
  unsigned gpus = 0;
  std::uint32_t decode_batch = 0;  // most sequences of one decode rank, if a rule sets it
  unsigned replicas = 1;           // equal workers, of which one was computed
  std::uint64_t queries = 0;       // ended, of all replicas
  std::uint64_t refused = 0;       // prompts that no worker's memory holds
  Trust trust{};
  Doubt doubt{};           // measured over simulated, of unseen points like it
  std::string unsteady{};  // why the figures are of no steady state; "" if they are
  SimSeries ttft_ms{};
  SimSeries tpot_ms{};
  SimSeries latency_ms{};
  double input_tokens_mean = 0;
  double output_tokens_mean = 0;
  // Output tokens a second. Closed loop: by Little's law over all queries, those in flight x mean
  // tokens / mean latency, which leaves out the drain at the end. Open loop: tokens over the
  // counted window.
  double system_tps = 0;
  double input_tps = 0;
  double tps_per_user = 0;  // 1000 / TPOT P90 in ms
  double tps_per_gpu = 0;
  double qps = 0;
  double served_share = 1;    // open loop: of the arrivals that count, ended before the last
  double in_flight_mean = 0;  // closed loop: until the last query was sent
  double kv_usage_max = 0;
  double prefix_hit_rate = 0;
  double watts_mean = 0;
  double joules_per_token = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
};

// Conditions of a steady state: queries that each slot finishes, and the share of slots in use.
inline constexpr double kSteadyQueriesPerSlot = 6;
inline constexpr double kSteadyShareInFlight = 0.9;
// Open loop: least share of the offered rate that is served; below it the queue grows. A window
// that is long beside the latency must serve more.
inline constexpr double kKeepsUp = 0.85;
inline constexpr double kKeepsUpLong = 0.97;
// How many latencies, under its load, an open loop should last.
inline constexpr double kLatencies = 40;

// How many workers are equal, so that one represents them. Not where prompts share prefixes: it
// then matters which worker has cached which.
unsigned replicas_of(const ClusterSpec& spec, const Workload& workload,
                     const SimulateOptions& options);
// Queries that a closed loop would compute; the caller refuses more than kQueriesMax.
inline constexpr std::uint64_t kQueriesMax = 20'000'000;
std::uint64_t queries_computed(const ClusterSpec& spec, const Workload& workload,
                               std::uint32_t concurrency, const SimulateOptions& options);

// REQUIRES: concurrency > 0, queries_computed() <= kQueriesMax.
SimPoint simulate_closed(const ClusterSpec& spec, const Workload& workload,
                         std::uint32_t concurrency, const SimulateOptions& options = {});
// Equal parts of a system to which queries go in turn: each gets every n-th arrival, so one part
// with such arrivals stands for all, exactly where workers are aggregated; with prefill apart the
// order in which prompts end is a part's own.
unsigned open_replicas(const ClusterSpec& spec, const Workload& workload,
                       const SimulateOptions& options);
// `queries` of one such part.
SimPoint simulate_open(const ClusterSpec& spec, const Workload& workload, double rate,
                       std::uint64_t queries, const SimulateOptions& options = {});
// As many queries, at least `least` of one part, that they last long beside the latency which that
// rate leads to: a longer loop is tried until its latency asks for no longer one, or `goes_on`,
// where given, says no.
SimPoint simulate_open_long(const ClusterSpec& spec, const Workload& workload, double rate,
                            std::uint64_t least, const SimulateOptions& options = {},
                            const std::function<bool(const SimPoint&)>& goes_on = {});
// Queries of one part for an open loop at that rate to be long compared with the latency of one
// query alone; at least `least`.
std::uint64_t open_queries(const ClusterSpec& spec, const Workload& workload, double rate,
                           std::uint64_t least, const SimulateOptions& options = {});

}  // namespace assay::sim
