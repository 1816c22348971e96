#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "sim/catalogue.h"
#include "sim/scenario.h"
#include "sim/worker.h"

namespace assay::sim {
namespace {

// A prefill worker of eight GB200 under SGLang.
Deployment prefill_worker(const char* parallel) {
  Scenario scenario;
  scenario.model = "deepseek-r1";
  scenario.hardware = "gb200";
  scenario.backend = "sglang";
  scenario.precision = "fp8";
  scenario.disagg = std::string("1P:") + parallel + "+1D:tp=8";
  return *make_cluster_spec(Catalogue::builtin(), scenario)->prefill;
}

Worker worker_of(const Deployment& deployment, std::uint64_t seed = 1) {
  return Worker(deployment, {.role = WorkerRole::prefill, .seed = seed, .prefix_cache = false});
}

// When each prompt had been computed, by its number.
void run_until(Worker& worker, Instant until, std::map<std::uint32_t, Instant>& ends) {
  std::vector<WorkerEvent> events;
  while (worker.next() <= until && worker.next() != Instant::max()) {
    worker.advance(worker.next(), events);
  }
  for (const WorkerEvent& event : events) {
    EXPECT_EQ(event.kind, WorkerEvent::Kind::prefilled);
    ends[event.slot] = event.at;
  }
}

// A fills the first step, B waits for the second, and C comes while A is computed.
std::map<std::uint32_t, Instant> of_three(bool ahead) {
  Deployment deployment = prefill_worker("tp=8");
  deployment.backend.prefill_ahead = ahead;
  deployment.backend.token_budget = 1000;
  Worker worker = worker_of(deployment);
  std::map<std::uint32_t, Instant> ends;
  worker.admit({.slot = 0, .id = 1, .prompt = 1000}, Instant{});
  worker.admit({.slot = 1, .id = 2, .prompt = 200}, Instant{});
  run_until(worker, Instant{} + 1_ns, ends);
  worker.admit({.slot = 2, .id = 3, .prompt = 200}, Instant{} + 1_ms);
  run_until(worker, Instant::max(), ends);
  return ends;
}

TEST(WorkerPrompts, what_arrives_during_a_step_misses_the_next_where_that_is_made_up_ahead) {
  const auto at_once = of_three(false);
  EXPECT_LT(at_once.at(0), at_once.at(1));
  EXPECT_EQ(at_once.at(1), at_once.at(2));
  const auto ahead = of_three(true);
  EXPECT_EQ(ahead.at(0), at_once.at(0));
  EXPECT_LT(ahead.at(1), at_once.at(1)) << "B has the second step to itself";
  EXPECT_LT(ahead.at(1), ahead.at(2));
}

TEST(WorkerPrompts, where_nothing_waited_the_scheduler_looks_again_when_the_step_ends) {
  Worker worker = worker_of(prefill_worker("tp=8"));
  std::map<std::uint32_t, Instant> ends;
  worker.admit({.slot = 0, .id = 1, .prompt = 1000}, Instant{});
  run_until(worker, Instant{} + 1_ns, ends);
  worker.admit({.slot = 1, .id = 2, .prompt = 1000}, Instant{} + 1_ms);
  run_until(worker, Instant::max(), ends);
  EXPECT_EQ(ends.at(1) - ends.at(0), ends.at(0) - Instant{}) << "the second step follows at once";
}

// Seconds for `count` prompts that are all there at the start.
double all_done_s(bool draws, std::uint32_t count, std::uint64_t seed = 1) {
  Deployment deployment = prefill_worker("tp=1,dp=8");
  deployment.backend.prefill_draws_ranks = draws;
  deployment.backend.token_budget = 1000;
  Worker worker = worker_of(deployment, seed);
  for (std::uint32_t i = 0; i < count; ++i) {
    worker.admit({.slot = i, .id = i, .prompt = 1000}, Instant{});
  }
  std::map<std::uint32_t, Instant> ends;
  run_until(worker, Instant::max(), ends);
  EXPECT_EQ(ends.size(), count);
  double last = 0;
  for (const auto& [slot, end] : ends) last = std::max(last, (end - Instant{}).seconds());
  return last;
}

TEST(WorkerPrompts, drawn_ranks_have_unequal_queues_and_over_many_prompts_equal_shares) {
  EXPECT_GT(all_done_s(true, 8), 1.5 * all_done_s(false, 8));
  EXPECT_NE(all_done_s(true, 64, 1), all_done_s(true, 64, 2));
  const double many = all_done_s(true, 8000) / all_done_s(false, 8000);
  EXPECT_GT(many, 1.005);
  EXPECT_LT(many, 1.15);
}

TEST(WorkerPrompts, aggregated_workers_draw_no_ranks) {
  Deployment deployment = prefill_worker("tp=1,dp=8");
  ASSERT_TRUE(deployment.backend.prefill_draws_ranks);
  deployment.backend.token_budget = 1000;
  Worker worker(deployment, {.role = WorkerRole::both, .prefix_cache = false});
  for (std::uint32_t i = 0; i < 8; ++i) {
    worker.admit({.slot = i, .id = i, .prompt = 1000, .output = 1}, Instant{});
  }
  std::vector<WorkerEvent> events;
  while (worker.next() != Instant::max()) worker.advance(worker.next(), events);
  ASSERT_EQ(events.size(), 8U);
  for (const WorkerEvent& event : events) EXPECT_EQ(event.at, events.front().at);
}

}  // namespace
}  // namespace assay::sim
