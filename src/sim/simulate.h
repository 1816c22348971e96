// simulate: one operating level of a cluster, as numbers, without sockets and without waiting.
//
// Closed loop, as the field measures it: `concurrency` queries start at once, each that ends is
// followed by another, until queries_per_slot x concurrency are done; caching off unless asked. The
// burst at the start is part of the measurement, as it is in the published points: it is a tenth of
// their queries. The protocol is repeated with other lengths until `queries_min` are counted.
//
// Open loop: arrivals of a Poisson process at `rate`; the first tenth is not counted. Throughput is
// what ends between the first counted arrival and the last one: what is still under way then, and
// in a long-tailed load that is much, does not make the system look slow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "base/rng.h"
#include "sim/cluster.h"

namespace assay::sim {

using LengthDraw = std::function<std::uint32_t(Rng&)>;

struct Workload {
  LengthDraw input{};
  LengthDraw output{};
  // Prefix reuse: this share of prompts begins with one of `prefixes` common prefixes of
  // `prefix_tokens` tokens.
  double prefix_share = 0;
  std::uint32_t prefix_tokens = 0;
  std::uint32_t prefixes = 1;
};

struct SimulateOptions {
  std::uint32_t queries_per_slot = 10;
  std::uint32_t queries_min = 400;
  std::uint32_t queries_max = 200'000;
  std::uint64_t seed = 1;
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

// The request that is the k-th of a run: its lengths and its prompt's block hashes.
Request make_request(const Workload& workload, std::uint64_t id, std::uint32_t block_tokens,
                     Rng& rng);

}  // namespace assay::sim
