// Plan: everything decided before the first byte leaves. Made by plan/ from a config and datasets,
// run by run/, never changed by either. A phase says when queries are released, how many may be in
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
  tail,  // what a phase of conversations left under way: asked to its end and scored, not measured
};
std::string_view to_string(PhaseKind kind);
// Measured, or scored by a dataset of its own.
constexpr bool is_counted(PhaseKind kind) {
  return kind == PhaseKind::performance || kind == PhaseKind::accuracy;
}

// From `at` after the phase's start until the next step, at most `in_flight_max` queries are in
// flight.
struct LimitStep {
  Duration at{};
  std::uint32_t in_flight_max = std::numeric_limits<std::uint32_t>::max();
};

// When to stop issuing. Issuing ends at the first of: queries_max reached · duration_max passed ·
// the schedule is used up · all of {queries_min issued, duration_min passed, a whole number of
// passes issued where `pass` > 0} hold. What is in flight then is drained.
struct StopRule {
  std::uint64_t queries_min = 0;
  std::uint64_t queries_max = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t pass = 0;  // queries in one pass; 0: passes do not matter
  Duration duration_min{};
  Duration duration_max = Duration::max();
  Duration drain_max = Duration::max();  // then what is still in flight is cancelled
  // No stream event and no completion for so long while queries are in flight: the run is stopped.
  Duration idle_max = Duration::max();
};

// What ends a whole run before its load does harm or costs more than was meant. Counted over all
// phases and all shards together. run/guard.h judges it.
struct GuardRule {
  // So many queries in a row got the same fatal answer (401, a refused connection): the run is
  // stopped, at once where none has succeeded, else when that has gone on for `fatal_patience`.
  std::uint32_t fatal_max = 0;  // 0: never
  Duration fatal_patience{5'000'000'000};
  // More than so many failed, or more than this share of those that ended.
  std::uint64_t failures_max = std::numeric_limits<std::uint64_t>::max();
  double failed_share_max = 1;
  // Tokens of prompts and replies together, as the endpoint counts them; and what they cost.
  std::uint64_t tokens_max = std::numeric_limits<std::uint64_t>::max();
  double cost_max = std::numeric_limits<double>::infinity();
  double price_in = 0;  // of one token
  double price_out = 0;
  // A reply that says Retry-After holds back every query until then.
  bool honour_retry_after = false;
};

struct PhasePlan {
  PhaseKind kind = PhaseKind::performance;
  std::string name{};         // "warmup", "performance", or an accuracy dataset's name
  std::uint32_t dataset = 0;  // index into the run's datasets
  SampleOrder order{};
  bool salted = false;
  std::uint64_t salt_seed = 0;
  // Open loop: instants at which queries are due, counted from the phase's start, ascending. Drawn
  // before the run, so that a slow target cannot hold back the queries behind (coordinated
  // omission). Closed loop: false, and a query is due when a slot of `limits` is free.
  bool open_loop = false;
  std::vector<Duration> arrivals{};
  std::vector<LimitStep> limits{LimitStep{}};  // at least one, the first at 0
  // Conversations in place of `order`: as many at once as the limit says, each turn due when the
  // reply to the one before has come. One entry a trajectory, in the order in which they begin. The
  // phase ends when a slot has no further trajectory to begin; what is unfinished then goes on in
  // the next phase if that is a tail, and else ends with the turns in flight.
  bool replay = false;
  std::vector<Conversation> conversations{};
  StopRule stop{};
  // Of phases that repeat one another until a time is over: so long after the first counted phase
  // began, neither this phase nor any after it is begun.
  Duration begin_max = Duration::max();
  bool drain = true;  // wait for what is in flight before the next phase begins
};

// A dataset and how to ask its samples: what a target needs to make requests.
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

// The part of `plan` that core `index` of `count` runs: every count-th query, its share of each
// limit and of each stop count. Together the shards send exactly what the whole plan would.
Plan shard(const Plan& plan, std::uint32_t index, std::uint32_t count);

// The queries of one phase in order. With shards, only this shard's: the k-th query has the same
// sample and the same salt whatever the number of shards.
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
