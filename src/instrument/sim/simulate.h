// simulate: one operating level of a cluster, as numbers, without sockets and without waiting.
//
// Closed loop, as the field measures it: `concurrency` queries start at once, each that ends is
// followed by another, until queries_per_slot x concurrency are done; caching off unless asked. The
// burst at the start is part of the measurement, as it is in the published points: it is a tenth of
// their queries. The protocol is repeated with other lengths until `queries_min` are counted; the
// first time with those of `assay run` at this seed.
//
// Workers that are alike and get an even share each are computed once: n of them at a concurrency
// of C are n times one at C/n, with a remainder r that many of them at one more. So a system of 288
// accelerators costs as much as one worker of it, and no number of queries is cut.
//
// The client of that loop is one: after a reply it takes `turn_around` until its next query, and it
// sends one query after another, `send_gap` apart. Neither is in any latency. But an idle engine
// meets a burst as one prompt and a step later the rest, be it the start or a batch whose replies
// ended together; and a query never arrives with the very step that its predecessor ended.
//
// Open loop: arrivals of a Poisson process at `rate`; the first tenth is not counted. Throughput is
// what ends between the first counted arrival and the last one: what is still under way then, and
// in a long-tailed load that is much, does not make the system look slow.
//
// A point says where it is no steady state: too few queries for each slot, slots that stand empty,
// a queue that grows.
#pragma once

#include <cstdint>
#include <string>

#include "base/histogram.h"
#include "sim/cluster.h"
#include "sim/trust.h"
#include "sim/workload.h"

namespace assay::sim {

struct SimulateOptions {
  std::uint32_t queries_per_slot = 10;
  std::uint32_t queries_min = 400;
  // Workers that are alike are computed once. false: all of them behind their router, so that a
  // list of lengths is that of one measured run.
  bool alike_once = true;
  std::uint64_t seed = 42;  // of the lengths, as `assay run --run-seed`
  // What `assay run` takes, near to the endpoint.
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
  std::uint32_t decode_batch = 0;  // sequences of one decode rank at most, where that is a rule's
  unsigned replicas = 1;           // workers that are alike, of which one was computed
  std::uint64_t queries = 0;       // ended, of all replicas
  std::uint64_t refused = 0;       // prompts that no worker's memory holds
  Trust trust{};
  std::string unsteady{};  // why these are no figures of a steady state; "" where they are
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
  double in_flight_mean = 0;  // closed loop: until the last query was sent
  double kv_usage_max = 0;
  double prefix_hit_rate = 0;
  double watts_mean = 0;
  double joules_per_token = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
};

// What a steady state takes: queries that each slot finishes, and the share of slots in use.
inline constexpr double kSteadyQueriesPerSlot = 6;
inline constexpr double kSteadyShareInFlight = 0.9;
// Open loop: a system that keeps up serves as fast as it is asked; else its queue grows.
inline constexpr double kKeepsUp = 0.85;

// How many workers are alike, so that one stands for them: not where prompts share prefixes, since
// then it matters which worker has seen which.
unsigned replicas_of(const ClusterSpec& spec, const Workload& workload,
                     const SimulateOptions& options);
// What a closed loop would have to compute: for the caller to refuse, above kQueriesMax.
inline constexpr std::uint64_t kQueriesMax = 20'000'000;
std::uint64_t queries_computed(const ClusterSpec& spec, const Workload& workload,
                               std::uint32_t concurrency, const SimulateOptions& options);

// REQUIRES: concurrency > 0, queries_computed() <= kQueriesMax.
SimPoint simulate_closed(const ClusterSpec& spec, const Workload& workload,
                         std::uint32_t concurrency, const SimulateOptions& options = {});
SimPoint simulate_open(const ClusterSpec& spec, const Workload& workload, double rate,
                       std::uint64_t queries, const SimulateOptions& options = {});
// How many queries an open loop at that rate takes to be long beside one query's latency; at least
// `least`.
std::uint64_t open_queries(const ClusterSpec& spec, const Workload& workload, double rate,
                           std::uint64_t least, const SimulateOptions& options = {});

}  // namespace assay::sim
