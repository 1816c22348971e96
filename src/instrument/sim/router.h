// Router: chooses the worker for a request.
//
//   round_robin    the next in turn
//   random         any
//   least_loaded   the fewest requests running and waiting
//   power_of_two   two at random, the less loaded of them
//   kv_aware       the lowest sum of prompt blocks still to compute there (queued and its own,
//                  without cached ones) and blocks in use there (the cost of the Dynamo KV router)
//
// A value belongs to one thread; its draws come from one seed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"

namespace assay::sim {

enum class RouterPolicy : std::uint8_t {
  round_robin,
  random,
  least_loaded,
  power_of_two,
  kv_aware
};
Result<RouterPolicy> parse_router(std::string_view word);
std::string_view to_string(RouterPolicy policy);

// A worker's figures for the router.
struct WorkerView {
  bool alive = true;
  double requests = 0;
  double prompt_blocks = 0;  // queued, not yet computed
  double kv_blocks = 0;      // in use
  double cached_blocks = 0;  // of this request's prompt
};

class Router {
 public:
  Router(RouterPolicy policy, std::uint64_t seed) : policy_(policy), rng_(seed) {}
  // Whether view.cached_blocks is used: filling it costs a walk through the prompt's hashes.
  bool wants_cached() const { return policy_ == RouterPolicy::kv_aware; }
  // The index of a worker that is alive; workers.size() when there is none.
  std::size_t pick(std::span<const WorkerView> workers, double prompt_blocks);

 private:
  RouterPolicy policy_;
  Rng rng_;
  std::size_t turn_ = 0;
};

}  // namespace assay::sim
