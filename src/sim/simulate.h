// simulate: one operating level of a cluster, as numbers, without sockets and without waiting.
//
// Closed loop, as the field measures it: `concurrency` queries start at once, each that ends is
// followed by another, until queries_per_slot x concurrency are done; caching off unless asked. The
// burst at the start is part of the measurement, as it is in the published points: it is a tenth of
// their queries. The protocol is repeated with other lengths until `queries_min` are counted; the
// first time with those of `assay run` at this seed.
//
// The client of that loop is one: after a reply it takes `turn_around` until its next query, and it
// sends one query after another, `send_gap` apart. Neither is in any latency. But an idle engine
// meets a burst as one prompt and a step later the rest, be it the start or a batch whose replies
// ended together; and a query never arrives with the very step that its predecessor ended.
//
// Open loop: arrivals of a Poisson process at `rate`; the first tenth is not counted. Throughput is
// what ends between the first counted arrival and the last one: what is still under way then, and
// in a long-tailed load that is much, does not make the system look slow.
#pragma once

#include <cstdint>

#include "base/histogram.h"
#include "sim/cluster.h"
#include "sim/workload.h"

namespace assay::sim {

struct SimulateOptions {
  std::uint32_t queries_per_slot = 10;
  std::uint32_t queries_min = 400;
  std::uint32_t queries_max = 200'000;
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
  std::uint64_t queries = 0;
  std::uint64_t refused = 0;  // prompts that no worker's memory holds
  SimSeries ttft_ms{};
  SimSeries tpot_ms{};
  SimSeries latency_ms{};
  double input_tokens_mean = 0;
  double output_tokens_mean = 0;
  // Output tokens a second. Closed loop: by Little's law over all queries, C x mean tokens / mean
  // latency, which leaves out the drain at the end. Open loop: tokens over the counted window.
  double system_tps = 0;
  double input_tps = 0;
  double tps_per_user = 0;  // 1000 / TPOT P90 in ms
  double tps_per_gpu = 0;
  double qps = 0;
  double in_flight_mean = 0;
  double kv_usage_max = 0;
  double prefix_hit_rate = 0;
  double watts_mean = 0;
  double joules_per_token = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
};

SimPoint simulate_closed(const ClusterSpec& spec, const Workload& workload,
                         std::uint32_t concurrency, const SimulateOptions& options = {});
SimPoint simulate_open(const ClusterSpec& spec, const Workload& workload, double rate,
                       std::uint64_t queries, const SimulateOptions& options = {});

}  // namespace assay::sim
