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

// How many sequences each decode rank was built for, where the backend's recipes go by the load.
std::uint32_t decode_batch(const ClusterSpec& spec, std::uint32_t concurrency) {
  if (!spec.prefill || spec.decode_batch > 0) return spec.decode_batch;
  const double ranks = double{1} * spec.workers * spec.deployment.parallelism.dp;
  return spec.deployment.backend.decode_batch(concurrency / ranks);
}

// One round of a closed loop. A query is handed to the cluster when its predecessor ends, though it
// is sent a little later: a cluster keeps arrivals until they are due.
class ClosedLoop {
 public:
  ClosedLoop(const ClusterSpec& spec, const Workload& workload, std::uint32_t queries,
             const SimulateOptions& options, std::uint64_t seed)
      : cluster_(spec),
        workload_(workload),
        lengths_(workload, queries, seed),
        prefixes_(mix_seed(seed, 11)),
        queries_(queries),
        options_(options) {}

  void run(std::uint32_t concurrency, std::uint64_t first_id, Fold& fold, Totals& totals) {
    const auto issue = [&](Instant due) {
      if (issued_ > 0) due = std::max(due, sent_ + options_.send_gap);
      sent_ = due;
      cluster_.admit(make_request(workload_, lengths_.next(), first_id + issued_,
                                  cluster_.prefix_block_tokens(), prefixes_),
                     due);
      ++issued_;
    };
    while (issued_ < std::min(concurrency, queries_)) issue(Instant{});
    Instant now;
    for (std::uint32_t done = 0; done < queries_;) {
      now = cluster_.next();
      if (now == Instant::max()) break;
      emissions_.clear();
      cluster_.advance(now, emissions_);
      cluster_.take_served(served_);
      if (served_.empty()) continue;
      totals.kv_usage_max = std::max(totals.kv_usage_max, cluster_.stats().kv_usage);
      for (const Served& one : served_) {
        fold.add(one);
        ++done;
        if (issued_ < queries_) issue(one.last_token + options_.turn_around);
      }
    }
    totals.add(cluster_, now);
  }

 private:
  Cluster cluster_;
  const Workload& workload_;
  LengthList lengths_;
  Rng prefixes_;
  std::uint32_t queries_;
  const SimulateOptions& options_;
  std::uint32_t issued_ = 0;
  Instant sent_{};
  std::vector<Emission> emissions_{};
  std::vector<Served> served_{};
};

}  // namespace

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
  for (std::uint64_t round = 0; round < rounds; ++round) {
    ClusterSpec again = spec;
    again.seed = spec.seed + round;
    again.decode_batch = out.decode_batch;
    const std::uint64_t seed = round == 0 ? options.seed : mix_seed(options.seed, round);
    ClosedLoop loop(again, workload, static_cast<std::uint32_t>(each), options, seed);
    loop.run(concurrency, round * each, fold, totals);
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
  Rng arrivals(mix_seed(options.seed, 7));
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
