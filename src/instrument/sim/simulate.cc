#include "sim/simulate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/format.h"
#include "sim/fluid.h"

namespace assay::sim {
namespace {

// Adds up served requests; its size does not grow with their number.
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

  std::uint64_t queries() const { return queries_; }
  std::uint64_t refused() const { return refused_; }
  double output() const { return output_; }
  double residence() const { return residence_; }

 private:
  friend class Mixture;
  struct Series {
    Histogram buckets{};
    double sum_ms = 0;
    std::uint64_t count = 0;
    void add(Duration value) {
      buckets.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.ns)));
      sum_ms += value.ms();
      ++count;
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

// Adds up folds of parts that run in parallel; each query of a part has a weight: how many such
// queries end in a second.
class Mixture {
 public:
  void add(const Fold& fold, double weight) { parts_.emplace_back(&fold, weight); }

  void write(SimPoint& out) const {
    const double n = total(&Fold::queries_);
    out.qps = n;
    out.input_tps = total(&Fold::input_);
    out.system_tps = total(&Fold::output_);
    if (n > 0) {
      out.input_tokens_mean = out.input_tps / n;
      out.output_tokens_mean = out.system_tps / n;
    }
    out.ttft_ms = series(&Fold::ttft_);
    out.tpot_ms = series(&Fold::tpot_);
    out.latency_ms = series(&Fold::latency_);
    if (out.tpot_ms.p90 > 0) out.tps_per_user = 1000 / out.tpot_ms.p90;
    if (out.gpus > 0) out.tps_per_gpu = out.system_tps / out.gpus;
  }

 private:
  template <typename Number>
  double total(Number Fold::*member) const {
    double out = 0;
    for (const auto& [fold, weight] : parts_) out += weight * static_cast<double>(fold->*member);
    return out;
  }
  SimSeries series(Fold::Series Fold::*member) const {
    double sum_ms = 0;
    double count = 0;
    for (const auto& [fold, weight] : parts_) {
      sum_ms += weight * (fold->*member).sum_ms;
      count += weight * static_cast<double>((fold->*member).count);
    }
    if (count <= 0) return {};
    SimSeries out{sum_ms / count};
    double seen = 0;
    for (std::size_t i = 0; i < Histogram::kBuckets; ++i) {
      const double before = seen;
      for (const auto& [fold, weight] : parts_) {
        seen += weight * static_cast<double>((fold->*member).buckets.bucket_count(i));
      }
      if (seen <= before) continue;
      const double at = Histogram::middle(i) * 1e-6;
      // Weights are not whole numbers: their sums differ in the last digits.
      const auto reaches = [&](double p) { return seen * (1 + 1e-12) >= p / 100 * count; };
      if (out.p50 == 0 && reaches(50)) out.p50 = at;
      if (out.p90 == 0 && reaches(90)) out.p90 = at;
      if (out.p99 == 0 && reaches(99)) out.p99 = at;
    }
    return out;
  }

  std::vector<std::pair<const Fold*, double>> parts_{};
};

// Sums over the repetitions of a protocol.
struct Totals {
  double seconds = 0;
  double joules = 0;
  double full_seconds = 0;      // until the last query was sent
  double full_in_flight_s = 0;  // query-seconds until then
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
  double watts() const { return seconds > 0 ? joules / seconds : 0; }
  // Writes the figures of `count` such parts.
  void write(SimPoint& out, unsigned count) const {
    out.kv_usage_max = std::max(out.kv_usage_max, kv_usage_max);
    out.preemptions += preemptions * count;
    out.steps += steps * count;
    if (looked_up > 0) {
      out.prefix_hit_rate = static_cast<double>(hits) / static_cast<double>(looked_up);
    }
    out.watts_mean += watts() * count;
  }
};

// The sequences for which each decode rank was built, if the backend's recipes depend on the load.
std::uint32_t decode_batch(const ClusterSpec& spec, const Workload& workload,
                           std::uint32_t concurrency) {
  if (!spec.prefill || spec.decode_batch > 0) return spec.decode_batch;
  const unsigned dp = spec.deployment.parallelism.dp;
  return spec.deployment.backend.decode_batch(
      {.queries = concurrency / (double{1} * spec.workers * dp),
       .output = mean_load(workload).output,
       .attention_dp = dp > 1});
}

// What the point rests on, with `in_flight` on each accelerator.
void judge(SimPoint& out, const Deployment& deployment, double in_flight) {
  out.trust = deployment.trust.at(in_flight);
  out.doubt =
      doubt_of(deployment.doubts, out.trust, deployment.subject(), deployment.apart, in_flight);
}

// One round of a closed loop. The cluster gets a query when its predecessor ends, though it is sent
// a little later: a cluster keeps arrivals until they are due.
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
      started_s_ += (due - Instant{}).seconds();
      if (issued_ == queries_) note_full(due, fold, totals);
    };
    residence_before_s_ = fold.residence();
    while (issued_ < std::min(concurrency, queries_)) issue(Instant{});
    Instant now;
    while (ended_ < queries_) {
      now = cluster_.next();
      if (now == Instant::max()) break;
      emissions_.clear();
      cluster_.advance(now, emissions_);
      cluster_.take_served(served_);
      if (served_.empty()) continue;
      totals.kv_usage_max = std::max(totals.kv_usage_max, cluster_.stats().kv_usage);
      for (const Served& one : served_) {
        fold.add(one);
        ++ended_;
        started_s_ -= (one.arrived - Instant{}).seconds();
        if (issued_ < queries_) issue(one.last_token + options_.turn_around);
      }
    }
    totals.add(cluster_, now);
  }

 private:
  // The last query is sent: every slot was used until now.
  void note_full(Instant now, const Fold& fold, Totals& totals) {
    const double now_s = (now - Instant{}).seconds();
    const auto in_flight = static_cast<double>(issued_ - ended_);
    totals.full_seconds += now_s;
    totals.full_in_flight_s +=
        fold.residence() - residence_before_s_ + in_flight * now_s - started_s_;
  }

  Cluster cluster_;
  const Workload& workload_;
  LengthList lengths_;
  Rng prefixes_;
  std::uint32_t queries_;
  const SimulateOptions& options_;
  std::uint32_t issued_ = 0;
  std::uint32_t ended_ = 0;
  Instant sent_{};
  double started_s_ = 0;  // sum of the send times of queries in flight
  double residence_before_s_ = 0;
  std::vector<Emission> emissions_{};
  std::vector<Served> served_{};
};

// Arrivals of a Poisson process; the first fifth is not counted.
class OpenLoop {
 public:
  // `part` is one of `replicas` equal parts of the system; a part gets every replicas-th arrival.
  OpenLoop(const ClusterSpec& part, unsigned replicas, const Workload& workload, double rate,
           std::uint64_t queries, std::uint64_t seed)
      : cluster_(part),
        replicas_(replicas),
        workload_(workload),
        gpus_(part.gpus() * replicas),
        rate_(rate),
        queries_(queries),
        skipped_(queries / 5),
        lengths_(seed),
        arrivals_(mix_seed(seed, 7)) {}

  SimPoint run() {
    Instant due = Instant{} + gap();
    Instant counted_from = Instant::none();
    Instant counted_to;
    while (done_ < queries_) {
      const Instant next = cluster_.next();
      if (issued_ < queries_ && due <= next) {
        if (issued_ == skipped_) counted_from = due;
        counted_to = due;
        cluster_.admit(make_request(workload_, issued_++, cluster_.prefix_block_tokens(), lengths_),
                       due);
        due = due + gap();
        continue;
      }
      if (next == Instant::max()) break;
      advance(next);
    }
    totals_.add(cluster_, last_);
    return point(counted_from.known() ? (counted_to - counted_from).seconds() : 0);
  }

 private:
  Duration gap() {
    double seconds = 0;
    for (unsigned i = 0; i < replicas_; ++i) seconds += arrivals_.exponential(1 / rate_);
    return Duration::from_seconds(seconds);
  }

  void advance(Instant to) {
    emissions_.clear();
    cluster_.advance(to, emissions_);
    cluster_.take_served(served_);
    for (const Served& one : served_) {
      ++done_;
      last_ = one.last_token;
      if (one.id >= skipped_) fold_.add(one);
      if (one.refused) continue;
      output_ += one.output;
      if (issued_ == queries_ || issued_ <= skipped_) continue;
      ++ended_;
      ended_input_ += one.prompt;
      ended_output_ += one.output;
    }
    if (served_.empty()) return;
    totals_.kv_usage_max = std::max(totals_.kv_usage_max, cluster_.stats().kv_usage);
  }

  SimPoint point(double window_s) const {
    SimPoint out;
    out.rate = rate_;
    out.gpus = gpus_;
    out.replicas = replicas_;
    totals_.write(out, replicas_);
    Mixture mixture;
    mixture.add(fold_, 1);
    mixture.write(out);
    out.queries = fold_.queries() * replicas_;
    out.refused = fold_.refused() * replicas_;
    const double each = window_s > 0 ? replicas_ / window_s : 0;
    out.system_tps = ended_output_ * each;
    out.input_tps = ended_input_ * each;
    out.qps = ended_ * each;
    out.served_share = static_cast<double>(ended_) / static_cast<double>(queries_ - skipped_);
    out.in_flight_mean = fold_.residence() * each;
    if (gpus_ > 0) out.tps_per_gpu = out.system_tps / gpus_;
    if (output_ > 0) out.joules_per_token = totals_.joules / output_;
    out.unsteady = why_unsteady(out, window_s);
    judge(out, cluster_.spec().deployment, out.in_flight_mean / std::max(1U, gpus_));
    return out;
  }

  std::string why_unsteady(const SimPoint& out, double window_s) const {
    if (out.queries == 0) return {};
    const double latencies = window_s / (out.latency_ms.mean * 1e-3);
    const double least = latencies < kLatencies / 2 ? kKeepsUp : kKeepsUpLong;
    if (out.refused == 0 && out.served_share < least) {
      return format("{:.4g} of {:.4g} queries/s are served: the queue grows as long as they come",
                    out.qps, rate_);
    }
    if (latencies < kSteadyQueriesPerSlot) {
      return format("{:.4g} s of arrivals are short beside a latency of {:.4g} s", window_s,
                    out.latency_ms.mean * 1e-3);
    }
    return {};
  }

  Cluster cluster_;
  unsigned replicas_;
  const Workload& workload_;
  unsigned gpus_;
  double rate_;
  std::uint64_t queries_;
  std::uint64_t skipped_;
  Rng lengths_;
  Rng arrivals_;
  Fold fold_{};
  Totals totals_{};
  std::uint64_t issued_ = 0;
  std::uint64_t done_ = 0;
  Instant last_{};
  double output_ = 0;  // of all that ended
  double ended_ = 0;   // ended within the counted window, whenever they arrived
  double ended_input_ = 0;
  double ended_output_ = 0;
  std::vector<Emission> emissions_{};
  std::vector<Served> served_{};
};

// Some equal workers, at one concurrency each.
struct Part {
  unsigned count = 1;
  std::uint32_t concurrency = 0;
  Fold fold{};
  Totals totals{};

  // Until the last query was sent; over the whole round if all were sent at once.
  double in_flight() const {
    const bool burst = fold.queries() <= concurrency || totals.full_seconds <= 0;
    if (!burst) return totals.full_in_flight_s / totals.full_seconds;
    return totals.seconds > 0 ? fold.residence() / totals.seconds : 0;
  }
  // One query's weight: how many like it end in a second, by Little's law.
  double weight() const {
    if (fold.residence() <= 0) return 0;
    const bool burst = fold.queries() <= concurrency;
    return count * (burst ? double{1} * concurrency : in_flight()) / fold.residence();
  }
};

void run_part(Part& part, ClusterSpec spec, const Workload& workload,
              const SimulateOptions& options) {
  const std::uint64_t each = std::uint64_t{options.queries_per_slot} * part.concurrency;
  CHECK(each <= kQueriesMax);
  const std::uint64_t rounds = std::max<std::uint64_t>(1, (options.queries_min + each - 1) / each);
  const std::uint64_t first_seed = spec.seed;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    spec.seed = first_seed + round;
    const std::uint64_t seed = round == 0 ? options.seed : mix_seed(options.seed, round);
    ClosedLoop loop(spec, workload, static_cast<std::uint32_t>(each), options, seed);
    loop.run(part.concurrency, round * each, part.fold, part.totals);
  }
}

std::string why_unsteady(const SimPoint& point, const SimulateOptions& options) {
  if (point.queries == 0) return {};
  if (options.queries_per_slot < kSteadyQueriesPerSlot) {
    return format("{} queries for each place are a burst; a steady state takes {}",
                  options.queries_per_slot, kSteadyQueriesPerSlot);
  }
  if (point.in_flight_mean < kSteadyShareInFlight * point.concurrency) {
    return format(
        "on average {:.4g} of {:.0f} queries are in flight: the client does not fill them",
        point.in_flight_mean, point.concurrency);
  }
  return {};
}

}  // namespace

unsigned replicas_of(const ClusterSpec& spec, const Workload& workload,
                     const SimulateOptions& options) {
  const bool even =
      spec.router == RouterPolicy::round_robin || spec.router == RouterPolicy::least_loaded;
  if (!options.alike_once || !even || !workload.tree.empty() || spec.workers == 0) return 1;
  if (spec.prefill) return options.apart_once ? std::gcd(spec.workers, spec.prefill_workers) : 1;
  return spec.workers;
}

std::uint64_t queries_computed(const ClusterSpec& spec, const Workload& workload,
                               std::uint32_t concurrency, const SimulateOptions& options) {
  const unsigned replicas = replicas_of(spec, workload, options);
  return std::uint64_t{options.queries_per_slot} * (concurrency / replicas + 1);
}

SimPoint simulate_closed(const ClusterSpec& spec, const Workload& workload,
                         std::uint32_t concurrency, const SimulateOptions& options) {
  SimPoint out;
  out.concurrency = concurrency;
  out.gpus = spec.gpus();
  out.decode_batch = decode_batch(spec, workload, concurrency);
  out.replicas = replicas_of(spec, workload, options);
  ClusterSpec one = spec;
  one.decode_batch = out.decode_batch;
  one.workers = spec.workers / out.replicas;
  if (one.prefill) one.prefill_workers = spec.prefill_workers / out.replicas;
  const std::uint32_t more = concurrency % out.replicas;
  std::vector<Part> parts(2);
  parts[0].count = out.replicas - more;
  parts[0].concurrency = concurrency / out.replicas;
  parts[1].count = more;
  parts[1].concurrency = parts[0].concurrency + 1;
  Mixture mixture;
  double tokens_joules = 0;  // in a second
  for (Part& part : parts) {
    if (part.count == 0) continue;
    if (part.concurrency == 0) {
      const double idle_w = Cluster(one).energy_joules(Instant{} + 1_s);
      out.watts_mean += idle_w * part.count;
      tokens_joules += idle_w * part.count;
      continue;
    }
    run_part(part, one, workload, options);
    mixture.add(part.fold, part.weight());
    out.queries += part.fold.queries() * part.count;
    out.refused += part.fold.refused() * part.count;
    out.in_flight_mean += part.in_flight() * part.count;
    part.totals.write(out, part.count);
    tokens_joules += part.totals.joules * part.weight();
  }
  mixture.write(out);
  if (out.system_tps > 0) out.joules_per_token = tokens_joules / out.system_tps;
  out.unsteady = why_unsteady(out, options);
  judge(out, spec.deployment, double{1} * concurrency / std::max(1U, out.gpus));
  return out;
}

unsigned open_replicas(const ClusterSpec& spec, const Workload& workload,
                       const SimulateOptions& options) {
  const bool in_turn = spec.router == RouterPolicy::round_robin && workload.tree.empty();
  if (!options.alike_once || !in_turn || spec.workers == 0) return 1;
  return spec.prefill ? std::gcd(spec.workers, spec.prefill_workers) : spec.workers;
}

SimPoint simulate_open(const ClusterSpec& spec, const Workload& workload, double rate,
                       std::uint64_t queries, const SimulateOptions& options) {
  const unsigned replicas = open_replicas(spec, workload, options);
  ClusterSpec part = spec;
  part.workers /= replicas;
  if (part.prefill) part.prefill_workers /= replicas;
  OpenLoop loop(part, replicas, workload, rate, queries, options.seed);
  return loop.run();
}

SimPoint simulate_open_long(const ClusterSpec& spec, const Workload& workload, double rate,
                            std::uint64_t least, const SimulateOptions& options,
                            const std::function<bool(const SimPoint&)>& goes_on) {
  constexpr int kLonger = 5;  // a queue that grows asks for ever more
  constexpr double kEach = 4;
  std::uint64_t queries = open_queries(spec, workload, rate, least, options);
  SimPoint out = simulate_open(spec, workload, rate, queries, options);
  for (int i = 0; i < kLonger && (!goes_on || goes_on(out)); ++i) {
    const auto now = static_cast<double>(queries);
    const double wanted = kLatencies * rate / out.replicas * out.latency_ms.mean * 1e-3;
    if (wanted < 1.2 * now || now >= 1.0 * kQueriesMax / 10) break;
    queries = static_cast<std::uint64_t>(std::min({wanted, kEach * now, 1.0 * kQueriesMax / 10}));
    out = simulate_open(spec, workload, rate, queries, options);
  }
  return out;
}

std::uint64_t open_queries(const ClusterSpec& spec, const Workload& workload, double rate,
                           std::uint64_t least, const SimulateOptions& options) {
  SimulateOptions alone = options;
  alone.queries_per_slot = 10;
  alone.queries_min = 400;
  ClusterSpec one = spec;
  if (!spec.prefill) one.workers = 1;
  const double alone_s = simulate_closed(one, workload, 1, alone).latency_ms.mean * 1e-3;
  const double wanted = 40 * rate / open_replicas(spec, workload, options) * alone_s;
  const auto most = static_cast<double>(kQueriesMax / 10);
  return std::max(least, static_cast<std::uint64_t>(std::min(wanted, most)));
}

}  // namespace assay::sim
