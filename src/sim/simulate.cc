#include "sim/simulate.h"

#include <algorithm>
#include <cmath>

namespace assay::sim {
namespace {

// Folds served requests; its size does not grow with their number.
class Fold {
 public:
  void add(const Served& served) {
    if (served.refused) {
      ++refused_;
      return;
    }
    ++queries_;
    const Duration ttft = served.first_token - served.arrived;
    const Duration latency = served.last_token - served.arrived;
    ttft_.add(ttft);
    latency_.add(latency);
    if (served.output > 1)
      tpot_.add((served.last_token - served.first_token) / (served.output - 1));
    input_ += served.prompt;
    output_ += served.output;
    residence_ += latency.seconds();
  }

  void write(SimPoint& out) const {
    const auto n = static_cast<double>(std::max<std::uint64_t>(1, queries_));
    out.queries = queries_;
    out.refused = refused_;
    out.ttft_ms = ttft_.series();
    out.tpot_ms = tpot_.series();
    out.latency_ms = latency_.series();
    out.input_tokens_mean = input_ / n;
    out.output_tokens_mean = output_ / n;
    if (out.tpot_ms.p90 > 0) out.tps_per_user = 1000 / out.tpot_ms.p90;
  }
  double input() const { return input_; }
  double output() const { return output_; }
  double residence() const { return residence_; }
  std::uint64_t queries() const { return queries_; }

 private:
  struct Series {
    Histogram buckets{};
    double sum_ms = 0;
    std::uint64_t count = 0;
    void add(Duration value) {
      buckets.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.ns)));
      sum_ms += value.ms();
      ++count;
    }
    SimSeries series() const {
      if (count == 0) return {};
      return {sum_ms / static_cast<double>(count), buckets.percentile(50) * 1e-6,
              buckets.percentile(90) * 1e-6, buckets.percentile(99) * 1e-6};
    }
  };
  Series ttft_{};
  Series tpot_{};
  Series latency_{};
  double input_ = 0;
  double output_ = 0;
  double residence_ = 0;
  std::uint64_t queries_ = 0;
  std::uint64_t refused_ = 0;
};

// What the repetitions of a protocol add up to.
struct Totals {
  double seconds = 0;
  double joules = 0;
  double kv_usage_max = 0;
  std::uint64_t preemptions = 0;
  std::uint64_t steps = 0;
  std::uint64_t hits = 0;
  std::uint64_t looked_up = 0;

  void add(const Cluster& cluster, Instant end) {
    seconds += (end - Instant{}).seconds();
    joules += cluster.energy_joules(end);
    const EngineStats stats = cluster.stats();
    preemptions += stats.preemptions;
    hits += stats.prefix_hit_tokens;
    looked_up += stats.prefix_query_tokens;
    steps += cluster.steps();
  }
  void write(SimPoint& out, double output_tokens) const {
    out.kv_usage_max = kv_usage_max;
    out.preemptions = preemptions;
    out.steps = steps;
    if (looked_up > 0) {
      out.prefix_hit_rate = static_cast<double>(hits) / static_cast<double>(looked_up);
    }
    if (seconds > 0) out.watts_mean = joules / seconds;
    if (output_tokens > 0) out.joules_per_token = joules / output_tokens;
  }
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// How many sequences each decode rank was built for, where the backend's recipes go by the load.
std::uint32_t decode_batch(const ClusterSpec& spec, std::uint32_t concurrency) {
  if (!spec.prefill || spec.decode_batch > 0) return spec.decode_batch;
  const double ranks = double{1} * spec.workers * spec.deployment.parallelism.dp;
  return spec.deployment.backend.decode_batch(concurrency / ranks);
}

}  // namespace

Request make_request(const Workload& workload, std::uint64_t id, std::uint32_t block_tokens,
                     Rng& rng) {
  Request request;
  request.id = id;
  request.prompt_tokens = workload.input(rng);
  request.output_tokens = workload.output(rng);
  if (workload.prefix_share <= 0 || workload.prefix_tokens == 0) return request;
  const bool shared = rng.uniform() < workload.prefix_share;
  const std::uint64_t which = rng.below(std::max(1U, workload.prefixes));
  request.prompt_tokens = std::max(request.prompt_tokens, workload.prefix_tokens + 1);
  const std::uint32_t common = shared ? workload.prefix_tokens / block_tokens : 0;
  std::uint64_t chain = 0;
  for (std::uint32_t i = 0; i < request.prompt_tokens / block_tokens; ++i) {
    chain = mix(chain, i < common ? which + 1 : mix(id, ~std::uint64_t{0}));
    request.prefix_blocks.push_back(chain);
  }
  return request;
}

SimPoint simulate_closed(const ClusterSpec& spec, const Workload& workload,
                         std::uint32_t concurrency, const SimulateOptions& options) {
  SimPoint out;
  out.concurrency = concurrency;
  out.gpus = spec.gpus();
  out.decode_batch = decode_batch(spec, concurrency);
  const std::uint64_t each =
      std::clamp<std::uint64_t>(std::uint64_t{options.queries_per_slot} * concurrency, concurrency,
                                std::max<std::uint64_t>(concurrency, options.queries_max));
  const std::uint64_t rounds = std::max<std::uint64_t>(1, (options.queries_min + each - 1) / each);
  Fold fold;
  Totals totals;
  std::vector<Emission> emissions;
  std::vector<Served> served;
  Rng lengths(options.seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    ClusterSpec again = spec;
    again.seed = spec.seed + round;
    again.decode_batch = out.decode_batch;
    Cluster cluster(std::move(again));
    const std::uint32_t block = cluster.prefix_block_tokens();
    std::uint64_t issued = 0;
    std::uint64_t done = 0;
    Instant now;
    const auto issue = [&](Instant at) {
      cluster.admit(make_request(workload, round * each + issued, block, lengths), at);
      ++issued;
    };
    while (issued < std::min<std::uint64_t>(concurrency, each)) issue(now);
    while (done < each) {
      now = cluster.next();
      if (now == Instant::max()) break;
      emissions.clear();
      cluster.advance(now, emissions);
      cluster.take_served(served);
      if (served.empty()) continue;
      totals.kv_usage_max = std::max(totals.kv_usage_max, cluster.stats().kv_usage);
      for (const Served& one : served) {
        fold.add(one);
        ++done;
        if (issued < each) issue(one.last_token);
      }
    }
    totals.add(cluster, now);
  }
  fold.write(out);
  if (fold.residence() > 0) {
    const double slots = concurrency / fold.residence();
    out.system_tps = fold.output() * slots;
    out.input_tps = fold.input() * slots;
    out.qps = static_cast<double>(fold.queries()) * slots;
    out.in_flight_mean = fold.residence() / totals.seconds;
  }
  if (out.gpus > 0) out.tps_per_gpu = out.system_tps / out.gpus;
  totals.write(out, fold.output());
  return out;
}

SimPoint simulate_open(const ClusterSpec& spec, const Workload& workload, double rate,
                       std::uint64_t queries, const SimulateOptions& options) {
  SimPoint out;
  out.rate = rate;
  out.gpus = spec.gpus();
  Cluster cluster(spec);
  Fold fold;
  Totals totals;
  std::vector<Emission> emissions;
  std::vector<Served> served;
  Rng lengths(options.seed);
  Rng arrivals(mix(options.seed, 7));
  const std::uint32_t block = cluster.prefix_block_tokens();
  const std::uint64_t skipped = queries / 10;
  std::uint64_t issued = 0;
  std::uint64_t done = 0;
  Instant due = Instant{} + Duration::from_seconds(arrivals.exponential(1 / rate));
  Instant counted_from = Instant::none();
  Instant counted_to;
  double ended = 0;  // within the counted window: what it gives, whoever arrived when
  double ended_input = 0;
  double ended_output = 0;
  Instant last;
  while (done < queries) {
    const Instant next = cluster.next();
    if (issued < queries && due <= next) {
      if (issued == skipped) counted_from = due;
      counted_to = due;
      cluster.admit(make_request(workload, issued++, block, lengths), due);
      due = due + Duration::from_seconds(arrivals.exponential(1 / rate));
      continue;
    }
    if (next == Instant::max()) break;
    emissions.clear();
    cluster.advance(next, emissions);
    cluster.take_served(served);
    for (const Served& one : served) {
      ++done;
      last = one.last_token;
      if (one.id >= skipped) fold.add(one);
      if (!one.refused && issued < queries && issued > skipped) {
        ++ended;
        ended_input += one.prompt;
        ended_output += one.output;
      }
    }
    if (!served.empty()) {
      totals.kv_usage_max = std::max(totals.kv_usage_max, cluster.stats().kv_usage);
    }
  }
  totals.add(cluster, last);
  fold.write(out);
  const double window = counted_from.known() ? (counted_to - counted_from).seconds() : 0;
  if (window > 0) {
    out.system_tps = ended_output / window;
    out.input_tps = ended_input / window;
    out.qps = ended / window;
    out.in_flight_mean = fold.residence() / window;
  }
  if (out.gpus > 0) out.tps_per_gpu = out.system_tps / out.gpus;
  totals.write(out, fold.output());
  return out;
}

}  // namespace assay::sim
