// Plan: everything decided before the first byte leaves. plan/ makes it from a config and datasets,
// run/ runs it, neither changes it. A phase says when queries are released, how many may be in
// flight, in which order samples are used, and what ends it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/time.h"
#include "domain/query.h"
#include "domain/request_spec.h"
#include "domain/sample.h"
#include "domain/sample_order.h"

namespace assay {

enum class PhaseKind : std::uint8_t {
  warmup,
  performance,
  accuracy,
  tail,  // what a replay left under way: asked to its end and scored, not measured
};
std::string_view to_string(PhaseKind kind);
// Measured, or scored with its own dataset.
constexpr bool is_counted(PhaseKind kind) {
  return kind == PhaseKind::performance || kind == PhaseKind::accuracy;
}

// Limit of queries in flight, from `at` after the phase's start until the next step.
struct LimitStep {
  Duration at{};
  std::uint32_t in_flight_max = std::numeric_limits<std::uint32_t>::max();
};

// A closed loop of users beside a schedule: each asks the next of `rows` when `think` has passed
// since its last reply, whether that succeeded or not. User u asks first at think · u / users.
// With shards this one has the users and rows `first`, first + stride, …
struct UserLoop {
  std::uint32_t users = 1;
  Duration think{};
  std::vector<std::uint32_t> rows{};  // in order, again and again; not empty
  std::uint32_t first = 0;
  std::uint32_t stride = 1;
};

// When to stop issuing: at the first of queries_max reached · duration_max passed · the schedule is
// used up · all of {queries_min issued, duration_min passed, a whole number of passes issued where
// `pass` > 0}. Queries in flight at that moment are drained.
struct StopRule {
  std::uint64_t queries_min = 0;
  std::uint64_t queries_max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t pass = 0;  // queries in one pass; 0: no passes
  Duration duration_min{};
  Duration duration_max = Duration::max();
  Duration drain_max = Duration::max();  // longest drain; then queries in flight are cancelled
  // Longest time without a stream event or completion while queries are in flight; ends the run.
  Duration idle_max = Duration::max();
};

// Ends a whole run before its load does harm or costs more than planned. Counts over all phases and
// all shards. run/guard.h judges it.
struct GuardRule {
  // Queries in a row with the same fatal answer (401, a refused connection) that stop the run: at
  // once if none has succeeded, else after `fatal_patience` of such answers.
  std::uint32_t fatal_max = 0;  // 0: never
  Duration fatal_patience{5'000'000'000};
  // Limits of failed queries: their number, and their share of the ended ones.
  std::uint64_t failures_max = std::numeric_limits<std::uint64_t>::max();
  double failed_share_max = 1;
  // Limits of prompt and reply tokens together, as the endpoint counts them, and of cost.
  std::uint64_t tokens_max = std::numeric_limits<std::uint64_t>::max();
  double cost_max = std::numeric_limits<double>::infinity();
  double price_in = 0;  // of one token
  double price_out = 0;
  // Whether a reply with Retry-After holds back all queries until that time.
  bool honour_retry_after = false;
};

struct PhasePlan {
  PhaseKind kind = PhaseKind::performance;
  std::string name{};         // "warmup", "performance", or an accuracy dataset's name
  std::uint32_t dataset = 0;  // index into the run's datasets
  SampleOrder order{};
  bool salted = false;
  std::uint64_t salt_seed = 0;
  // Open loop: the instants at which queries are due, from the phase's start, ascending. They are
  // drawn before the run, so that a slow target cannot hold back later queries (coordinated
  // omission). Closed loop: false; a query is due when a slot of `limits` is free.
  bool open_loop = false;
  std::vector<Duration> arrivals{};
  std::vector<LimitStep> limits{LimitStep{}};  // at least one, the first at 0
  // Closed loops of users: `order` and `arrivals` are then a schedule beside them, which may be
  // empty, `open_loop` is false, and no limit of queries in flight applies.
  std::vector<UserLoop> loops{};
  // Conversations replace `order`: as many at once as the limit allows; each turn is due when the
  // reply to the one before has come. One entry a trajectory, in starting order. The phase ends
  // when a slot finds no further trajectory; unfinished ones go on in the next phase if that is a
  // tail, and else end with the turns in flight.
  bool replay = false;
  std::vector<Conversation> conversations{};
  StopRule stop{};
  // The numbers of queries that wait until all before them have ended, ascending: a dataset whose
  // rows must be answered in groups. run/in_turn.h keeps them, in one shard; empty: none.
  std::vector<std::uint32_t> barriers{};
  // Latest start, from the start of the first counted phase. Past it, this phase and all later ones
  // are skipped.
  Duration begin_max = Duration::max();
  bool drain = true;  // wait for queries in flight before the next phase begins
};

// A dataset and how to ask its samples, for the target that makes the requests.
struct PlannedDataset {
  Dataset dataset{};
  Generation generation{};
};

struct Plan {
  std::vector<PhasePlan> phases{};
  // This shard sends queries index, index + count, … of each phase; see shard().
  std::uint32_t shard_index = 0;
  std::uint32_t shard_count = 1;
  GuardRule guard{};  // the whole run's, in every shard
};

// The part of `plan` for core `index` of `count`: every count-th query, and a share of each limit
// and each stop count. Together the shards send exactly what the whole plan would.
Plan shard(const Plan& plan, std::uint32_t index, std::uint32_t count);

// The users of all its closed loops.
std::uint64_t users_of(const PhasePlan& phase);

// The queries of one phase in order; with shards, only this shard's. The k-th query has the same
// sample and the same salt for any number of shards.
class QueryStream {
 public:
  QueryStream(const PhasePlan& phase, std::uint16_t phase_index, std::uint32_t shard_index,
              std::uint32_t shard_count);
  Query next();

 private:
  Query draw();

  SampleOrder order_;
  PythonRandom salts_;
  bool salted_;
  std::uint16_t phase_;
  std::uint32_t index_ = 0;
  std::uint32_t first_;
  std::uint32_t stride_;
};

}  // namespace assay
