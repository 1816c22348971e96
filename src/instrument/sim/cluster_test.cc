// Properties of the engine that hold for every load: spec section 8.5. Random cases come from seeds
// that are printed with a failure.
#include "sim/cluster.h"

#include <gtest/gtest.h>

#include <set>

#include <cmath>
#include <map>

#include "base/format.h"
#include "sim/live_cluster.h"
#include "sim/scenario.h"
#include "sim/simulate.h"
#include "sim/testing_lengths.h"

namespace assay::sim {
namespace {

const Catalogue& catalogue() {
  static const Catalogue kAll = Catalogue::builtin();
  return kAll;
}

ClusterSpec spec_of(Scenario scenario) {
  auto out = make_cluster_spec(catalogue(), scenario);
  EXPECT_TRUE(out) << out.error().message;
  return *out;
}

Scenario small(const char* backend = "vllm") {
  Scenario out;
  out.model = "llama3.1-8b";
  out.hardware = "h100-sxm";
  out.precision = "fp8";
  out.backend = backend;
  out.parallel = "tp=1";
  out.mtp = 0;
  return out;
}

// A random system and load; half of them have little memory, so that sequences are preempted.
struct Case {
  Scenario scenario{};
  std::uint32_t queries = 0;
  std::uint32_t concurrency = 0;
};
Case random_case(std::uint64_t seed) {
  Rng rng(seed);
  Case out;
  const char* backends[] = {"vllm", "sglang", "tensorrt-llm"};
  out.scenario = small(backends[rng.below(3)]);
  out.scenario.gpus = 1 + static_cast<std::uint32_t>(rng.below(3));
  out.scenario.seed = seed;
  const char* routers[] = {"round_robin", "random", "least_loaded", "power_of_two", "kv_aware"};
  out.scenario.router = routers[rng.below(5)];
  switch (rng.below(4)) {
    case 0:
      out.scenario.disagg = "1P+2D";
      out.scenario.gpus = 0;
      break;
    case 1:
      out.scenario.model = "deepseek-r1";
      out.scenario.hardware = "b200-sxm";
      out.scenario.parallel = rng.below(2) == 0 ? "tp=8" : "tp=1,dp=8";
      out.scenario.gpus = 8;
      out.scenario.mtp = static_cast<std::uint32_t>(rng.below(4));
      break;
    default:
      break;
  }
  if (rng.below(2) == 0) out.scenario.kv_share = 0.01 + 0.02 * rng.uniform();
  if (rng.below(4) == 0) out.scenario.noise_sigma = 0.05;
  out.concurrency = 1 + static_cast<std::uint32_t>(rng.below(40));
  out.queries = 60 + static_cast<std::uint32_t>(rng.below(100));
  return out;
}

struct Log {
  std::vector<Served> served{};
  std::map<std::uint64_t, std::uint64_t> tokens{};
  std::map<std::uint64_t, std::uint32_t> lasts{};
  double kv_usage_max = 0;
  bool ordered = true;
};

// A hand-made closed loop, with the checks that need every instant.
Log drive(Cluster& cluster, const Case& c) {
  Log log;
  Rng rng(c.scenario.seed + 17);
  const Workload load{.input = between(1, 900), .output = between(1, 300), .tree = {{256, 3}}};
  std::vector<Emission> out;
  std::vector<Served> served;
  std::uint32_t issued = 0;
  Instant last;
  const auto issue = [&](Instant at) {
    cluster.admit(make_request(load, issued++, cluster.prefix_block_tokens(), rng), at);
  };
  while (issued < std::min(c.concurrency, c.queries)) issue(Instant{});
  while (log.served.size() < c.queries && cluster.next() != Instant::max()) {
    out.clear();
    const Instant now = cluster.next();
    cluster.advance(now, out);
    for (const Emission& e : out) {
      log.ordered = log.ordered && e.at >= last && e.at <= now;
      last = e.at;
      log.tokens[e.request] += e.tokens;
      log.lasts[e.request] += e.last ? 1 : 0;
    }
    const EngineStats stats = cluster.stats();
    log.kv_usage_max = std::max(log.kv_usage_max, stats.kv_usage);
    for (std::size_t i = 0; i < cluster.worker_count(); ++i) {
      EXPECT_GE(cluster.worker(i).kv_tokens_used(), -1e-6);
      // The last of a rank may outgrow its memory by itself; no other sequence is left to preempt.
      EXPECT_LE(cluster.worker(i).kv_usage(), 1.0);
    }
    cluster.take_served(served);
    for (const Served& one : served) {
      log.served.push_back(one);
      if (issued < c.queries) issue(one.last_token);
    }
  }
  return log;
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Random, Seeds, testing::Range<std::uint64_t>(1, 41));

TEST_P(Seeds, work_is_conserved_and_memory_comes_back) {
  const Case c = random_case(GetParam());
  ClusterSpec spec = spec_of(c.scenario);
  spec.every_token = GetParam() % 2 == 0;
  Cluster cluster(spec);
  const Log log = drive(cluster, c);
  ASSERT_EQ(log.served.size(), c.queries) << describe(spec);
  EXPECT_TRUE(log.ordered);
  for (const Served& one : log.served) {
    EXPECT_EQ(log.lasts.at(one.id), 1U);
    EXPECT_EQ(log.tokens.at(one.id), one.refused ? 0U : one.output) << describe(spec);
    EXPECT_LE(one.arrived, one.first_token);
    EXPECT_LE(one.first_token, one.last_token);
  }
  EXPECT_EQ(cluster.in_flight(), 0U);
  for (std::size_t i = 0; i < cluster.worker_count(); ++i) {
    EXPECT_TRUE(cluster.worker(i).idle());
    EXPECT_NEAR(cluster.worker(i).kv_tokens_used(), 0, 1e-6);
  }
}

TEST_P(Seeds, one_seed_is_one_run_and_reporting_every_token_changes_no_instant) {
  const Case c = random_case(GetParam());
  ClusterSpec spec = spec_of(c.scenario);
  Cluster a(spec);
  Cluster b(spec);
  spec.every_token = true;
  Cluster live(spec);
  const Log first = drive(a, c);
  const Log again = drive(b, c);
  ASSERT_EQ(first.served.size(), again.served.size());
  for (std::size_t i = 0; i < first.served.size(); ++i) {
    EXPECT_EQ(first.served[i].id, again.served[i].id);
    EXPECT_EQ(first.served[i].last_token, again.served[i].last_token);
  }
  // A preempted sequence with drafts resumes from its real number of tokens, so the two differ
  // there.
  if (a.stats().preemptions > 0 && spec.deployment.drafts > 0) return;
  const Log told = drive(live, c);
  ASSERT_EQ(first.served.size(), told.served.size());
  for (std::size_t i = 0; i < first.served.size(); ++i) {
    EXPECT_EQ(first.served[i].id, told.served[i].id);
    EXPECT_EQ(first.served[i].first_token, told.served[i].first_token);
    EXPECT_EQ(first.served[i].last_token, told.served[i].last_token);
  }
}

TEST_P(Seeds, cancelled_and_lost_work_leaves_nothing_behind) {
  const Case c = random_case(GetParam());
  ClusterSpec spec = spec_of(c.scenario);
  spec.every_token = GetParam() % 2 == 0;
  Cluster cluster(spec);
  Rng rng(GetParam());
  std::vector<Emission> out;
  std::vector<Served> served;
  std::uint64_t ended = 0;
  std::uint64_t cancelled = 0;
  Instant now;
  for (std::uint64_t id = 0; id < 80; ++id) {
    cluster.admit({id,
                   1 + static_cast<std::uint32_t>(rng.below(900)),
                   1 + static_cast<std::uint32_t>(rng.below(200)),
                   {}},
                  now);
    const std::uint64_t advances = rng.below(12);
    for (std::uint64_t i = 0; i < advances && cluster.next() != Instant::max(); ++i) {
      now = std::max(now, cluster.next());
      cluster.advance(now, out);
    }
    if (rng.below(4) == 0) {
      const std::size_t before = cluster.in_flight();
      cluster.cancel(rng.below(id + 1), now);
      cancelled += before - cluster.in_flight();
    }
    if (id == 40 && cluster.worker_count() > 2) {
      cluster.kill_worker(cluster.worker_count() - 1, now);
    }
  }
  while (cluster.next() != Instant::max()) cluster.advance(cluster.next(), out);
  cluster.take_served(served);
  ended = served.size();
  EXPECT_EQ(ended + cancelled, 80U) << describe(spec);
  EXPECT_EQ(cluster.in_flight(), 0U);
  for (std::size_t i = 0; i < cluster.worker_count(); ++i) {
    EXPECT_NEAR(cluster.worker(i).kv_tokens_used(), 0, 1e-6);
  }
}

// L = lambda W, where L is integrated over time and does not come from the same sums.
TEST(Cluster, obeys_littles_law) {
  ClusterSpec spec = spec_of(small());
  Cluster cluster(spec);
  Rng rng(3);
  const Workload load{between(100, 900), between(50, 200)};
  std::vector<Emission> out;
  std::vector<Served> served;
  double area = 0;
  double residence = 0;
  std::uint64_t done = 0;
  std::uint64_t issued = 0;
  const std::uint64_t queries = 4000;
  Instant now;
  Instant due;
  while (done < queries) {
    Instant to = cluster.next();
    if (issued < queries) to = std::min(to, due);
    area += static_cast<double>(cluster.in_flight()) * (to - now).seconds();
    now = to;
    if (issued < queries && due <= now) {
      cluster.admit(make_request(load, issued++, 16, rng), due);
      due = due + Duration::from_seconds(rng.exponential(1.0 / 20));
    }
    cluster.advance(now, out);
    out.clear();
    cluster.take_served(served);
    for (const Served& one : served) residence += (one.last_token - one.arrived).seconds();
    done += served.size();
  }
  EXPECT_NEAR(area / residence, 1, 0.01);
}

// With more queries in flight, throughput never falls (up to the noise of drawn lengths), and
// tokens never get faster.
TEST(Cluster, throughput_and_tpot_grow_with_concurrency) {
  const Workload load{between(819, 1024), between(819, 1024)};
  for (const char* backend : {"vllm", "sglang", "tensorrt-llm"}) {
    const ClusterSpec spec = spec_of(small(backend));
    double tps = 0;
    double tpot = 0;
    for (std::uint32_t c = 1; c <= 128; c *= 2) {
      const SimPoint p = simulate_closed(spec, load, c);
      EXPECT_GT(p.system_tps, tps) << backend << " " << c;
      EXPECT_GE(p.tpot_ms.mean, tpot * 0.999) << backend << " " << c;
      tps = p.system_tps;
      tpot = p.tpot_ms.mean;
    }
  }
}

// Prompts that fill a step and one output token: a queue with Poisson arrivals and one constant
// service time. Pollaczek and Khinchine: waiting = rho D / (2 (1 - rho)).
TEST(Cluster, pure_prefill_is_an_m_d_1_queue) {
  ClusterSpec spec = spec_of(small());
  spec.deployment.constants.request_s = 1e-9;
  const std::uint32_t prompt = spec.deployment.backend.token_budget;
  const StepModel model(spec.deployment);
  const double d = model.seconds({0, 0, 1.0 * prompt, 0.5 * prompt * prompt, 0, 1.0 * prompt});
  for (const double rho : {0.3, 0.6, 0.8}) {
    const SimPoint p = simulate_open(spec, {exactly(prompt), exactly(1)}, rho / d, 60'000);
    const double expected = d * 1e3 * (1 + rho / (2 * (1 - rho)));
    EXPECT_NEAR(p.ttft_ms.mean / expected, 1, 0.04) << rho;
  }
}

// Tokens a step against 1 + a1 + a1 a2 + a1 a2 a3, within four standard errors.
TEST(Cluster, drafts_are_accepted_as_often_as_they_should_be) {
  Scenario scenario = small("sglang");
  scenario.model = "deepseek-r1";
  scenario.hardware = "b200-sxm";
  scenario.parallel = "tp=8";
  scenario.acceptance = {0.8, 0.6, 0.4};
  const ClusterSpec spec = spec_of(scenario);
  Cluster cluster(spec);
  std::vector<Emission> out;
  for (std::uint64_t id = 0; id < 64; ++id) cluster.admit({id, 16, 4001, {}}, Instant{});
  // All run at once: the steps until the last one ends, against the tokens of the mean sequence.
  while (cluster.next() != Instant::max()) cluster.advance(cluster.next(), out);
  const double expected = expected_tokens({0.8, 0.6, 0.4});
  const double variance = 1.3;  // of one step's tokens, at most
  const double slowest = 4000 / expected * (1 + 4 * std::sqrt(variance / 4000 / expected));
  const auto steps = static_cast<double>(cluster.steps());
  EXPECT_LT(steps, slowest + 10);
  EXPECT_GT(steps, 4000 / expected * 0.98);
}

// The same prompt repeated: all its full blocks are hits, except the one with the last token.
TEST(Cluster, repeated_prompts_hit_as_often_as_arithmetic_says) {
  const ClusterSpec spec = spec_of(small());
  Cluster cluster(spec);
  const std::uint32_t block = cluster.prefix_block_tokens();
  const std::uint32_t prompt = 1000;
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < prompt / block; ++i) hashes.push_back(900 + i);
  std::vector<Emission> out;
  for (std::uint64_t id = 0; id < 10; ++id) {
    cluster.admit({id, prompt, 5, hashes}, std::max(Instant{}, Instant{}));
    while (cluster.next() != Instant::max()) cluster.advance(cluster.next(), out);
  }
  const EngineStats stats = cluster.stats();
  EXPECT_EQ(stats.prefix_query_tokens, 10 * prompt);
  EXPECT_EQ(stats.prefix_hit_tokens, 9 * ((prompt - 1) / block) * block);
}

TEST(Cluster, a_router_that_knows_the_caches_hits_more) {
  // Memory for about half of the prefixes beside the running sequences.
  Scenario scenario = small();
  scenario.gpus = 8;
  scenario.kv_share = 0.05;
  const Workload load{.input = exactly(2100), .output = exactly(50), .tree = {{2048, 40}}};
  const auto hit_rate = [&](const char* router) {
    scenario.router = router;
    SimulateOptions options;
    options.queries_per_slot = 30;
    return simulate_closed(spec_of(scenario), load, 32, options).prefix_hit_rate;
  };
  const double aware = hit_rate("kv_aware");
  EXPECT_GT(aware, hit_rate("round_robin") + 0.1);
}

// One worker and memory for all: each text of the tree is computed once. 200 prompts of 1,000
// tokens; the first level has 4 texts of 400 tokens, and each of these 8 of 200.
TEST(Cluster, a_tree_of_prefixes_is_computed_once_for_each_text) {
  Scenario scenario = small();
  Cluster cluster(spec_of(scenario));
  const std::uint32_t block = cluster.prefix_block_tokens();
  const Workload load{.input = exactly(1000), .output = exactly(2), .tree = {{400, 4}, {200, 8}}};
  Rng rng(3);
  std::set<std::uint64_t> seen;
  std::uint64_t expected = 0;
  Instant at;
  std::vector<Emission> out;
  for (std::uint64_t id = 0; id < 200; ++id) {
    const Request request = make_request(load, id, block, rng);
    ASSERT_EQ(request.prefix_blocks.size(), 1000 / block);
    std::size_t hits = 0;
    while (hits < request.prefix_blocks.size() && seen.contains(request.prefix_blocks[hits]))
      ++hits;
    expected += hits * block;
    seen.insert(request.prefix_blocks.begin(), request.prefix_blocks.end());
    cluster.admit(request, at);
    while (cluster.next() != Instant::max()) {
      at = cluster.next();
      cluster.advance(at, out);
    }
  }
  EXPECT_EQ(cluster.stats().prefix_hit_tokens, expected);
  // 36 texts of whole blocks, and each prompt's own rest.
  const std::size_t first = 400 / block;
  const std::size_t second = 600 / block - first;
  EXPECT_EQ(seen.size(), 4 * first + 32 * second + 200 * (1000 / block - first - second));
}

TEST(Cluster, small_memory_preempts_where_output_is_not_reserved_and_queues_where_it_is) {
  for (const char* backend : {"vllm", "tensorrt-llm"}) {
    Scenario scenario = small(backend);
    scenario.kv_share = 0.02;
    const SimPoint p = simulate_closed(spec_of(scenario), {exactly(500), exactly(800)}, 32);
    EXPECT_EQ(p.queries, 640U);
    EXPECT_EQ(p.preemptions > 0, std::string(backend) == "vllm") << backend;
  }
}

TEST(Cluster, a_dead_workers_requests_end_elsewhere_and_a_slow_worker_is_slow) {
  Scenario scenario = small();
  scenario.gpus = 2;
  ClusterSpec spec = spec_of(scenario);
  spec.every_token = true;
  Cluster cluster(spec);
  std::vector<Emission> out;
  for (std::uint64_t id = 0; id < 20; ++id) cluster.admit({id, 100, 200, {}}, Instant{});
  cluster.advance(Instant{500'000'000}, out);
  cluster.kill_worker(1, Instant{500'000'000});
  while (cluster.next() != Instant::max()) cluster.advance(cluster.next(), out);
  std::map<std::uint64_t, std::uint32_t> tokens;
  for (const Emission& e : out) tokens[e.request] += e.tokens;
  for (std::uint64_t id = 0; id < 20; ++id) EXPECT_EQ(tokens[id], 200U) << id;
  std::vector<Served> served;
  cluster.take_served(served);
  EXPECT_EQ(served.size(), 20U);
  Cluster slow(spec);
  slow.slow_worker(0, 4, Instant{});
  for (std::uint64_t id = 0; id < 2; ++id) slow.admit({id, 100, 200, {}}, Instant{});
  out.clear();
  while (slow.next() != Instant::max()) slow.advance(slow.next(), out);
  slow.take_served(served);
  ASSERT_EQ(served.size(), 2U);
  EXPECT_NEAR((served[1].last_token - served[1].first_token).seconds() /
                  (served[0].last_token - served[0].first_token).seconds(),
              4, 0.01);
}

TEST(Cluster, transfers_share_a_link) {
  SharedLink link(1e9, 0);
  std::vector<std::uint32_t> done;
  link.add(1, 1e9, Instant{});
  link.add(2, 2e9, Instant{});
  link.advance(Instant{1'999'000'000}, done);
  EXPECT_TRUE(done.empty());
  link.advance(Instant{2'000'001'000}, done);
  EXPECT_EQ(done, std::vector<std::uint32_t>{1});
  link.advance(Instant{2'999'000'000}, done);
  EXPECT_EQ(done.size(), 1U);
  link.advance(Instant{3'000'001'000}, done);
  EXPECT_EQ(done.size(), 2U);
}

// The live engine is the same one: at speed 1 its instants equal the simulation's, at speed 10 they
// are a tenth.
TEST(LiveCluster, is_the_simulation_on_another_clock) {
  Scenario scenario = small();
  scenario.gpus = 2;
  const ClusterSpec spec = spec_of(scenario);
  const Instant start{1'700'000'000'000};
  const auto run = [&](double speedup) {
    scenario.speedup = speedup;
    LiveCluster live(spec, scenario);
    for (std::uint64_t id = 0; id < 9; ++id) live.admit({id, 300, 80, {}}, start);
    std::vector<Emission> out;
    while (live.next() != Instant::max()) live.advance(live.next(), out);
    return out;
  };
  ClusterSpec telling = spec;
  telling.every_token = true;
  Cluster plain(telling);
  for (std::uint64_t id = 0; id < 9; ++id) plain.admit({id, 300, 80, {}}, Instant{});
  std::vector<Emission> expected;
  while (plain.next() != Instant::max()) plain.advance(plain.next(), expected);
  for (const double speedup : {1.0, 10.0}) {
    const auto told = run(speedup);
    ASSERT_EQ(told.size(), expected.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(told[i].request, expected[i].request);
      const auto since = static_cast<double>((told[i].at - start).ns) * speedup;
      EXPECT_NEAR(since, static_cast<double>(expected[i].at.ns), 4 * speedup);
    }
  }
}

TEST(LiveCluster, faults_happen_when_they_are_due) {
  Scenario scenario = small();
  scenario.gpus = 2;
  scenario.faults = {{Fault::Kind::revive, 3.0, 1, 1},
                     {Fault::Kind::kill, 0.2, 1, 1},
                     {Fault::Kind::slow, 0.3, 0, 5}};
  LiveCluster live(spec_of(scenario), scenario);
  std::vector<Emission> out;
  const Instant start{77};
  for (std::uint64_t id = 0; id < 8; ++id) live.admit({id, 300, 120, {}}, start);
  while (live.next() != Instant::max()) live.advance(live.next(), out);
  std::map<std::uint64_t, std::uint32_t> tokens;
  Instant last;
  for (const Emission& e : out) {
    tokens[e.request] += e.tokens;
    EXPECT_GE(e.at, last);
    last = e.at;
  }
  for (std::uint64_t id = 0; id < 8; ++id) EXPECT_EQ(tokens[id], 120U);
  EXPECT_GT((last - start).seconds(), 1.5);  // 120 tokens of 4 ms, most of them five times slower
}

}  // namespace
}  // namespace assay::sim
