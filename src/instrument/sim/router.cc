#include "sim/router.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"

namespace assay::sim {
namespace {

constexpr std::array<std::pair<std::string_view, RouterPolicy>, 5> kNames = {{
    {"round_robin", RouterPolicy::round_robin},
    {"random", RouterPolicy::random},
    {"least_loaded", RouterPolicy::least_loaded},
    {"power_of_two", RouterPolicy::power_of_two},
    {"kv_aware", RouterPolicy::kv_aware},
}};

template <typename Cost>
std::size_t cheapest(std::span<const WorkerView> workers, Cost cost) {
  std::size_t best = workers.size();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!workers[i].alive) continue;
    if (best == workers.size() || cost(workers[i]) < cost(workers[best])) best = i;
  }
  return best;
}

double requests(const WorkerView& worker) { return worker.requests; }

}  // namespace

Result<RouterPolicy> parse_router(std::string_view word) {
  for (const auto& [name, policy] : kNames) {
    if (name == word) return policy;
  }
  return invalid(
      format("router: unknown value '{}'; one of: round_robin, random, least_loaded, "
             "power_of_two, kv_aware",
             word));
}

std::string_view to_string(RouterPolicy policy) {
  for (const auto& [name, value] : kNames) {
    if (value == policy) return name;
  }
  return "round_robin";
}

std::size_t Router::pick(std::span<const WorkerView> workers, double prompt_blocks) {
  const std::size_t n = workers.size();
  const auto any = [&](const WorkerView& w) { return w.alive; };
  if (std::none_of(workers.begin(), workers.end(), any)) return n;
  const auto draw = [&] {
    std::size_t i = static_cast<std::size_t>(rng_.below(n));
    while (!workers[i].alive) i = (i + 1) % n;
    return i;
  };
  switch (policy_) {
    case RouterPolicy::round_robin: {
      std::size_t i = turn_ % n;
      while (!workers[i].alive) i = (i + 1) % n;
      turn_ = i + 1;
      return i;
    }
    case RouterPolicy::random:
      return draw();
    case RouterPolicy::least_loaded:
      return cheapest(workers, requests);
    case RouterPolicy::power_of_two: {
      const std::size_t a = draw();
      const std::size_t b = draw();
      return workers[b].requests < workers[a].requests ? b : a;
    }
    case RouterPolicy::kv_aware:
      return cheapest(workers, [&](const WorkerView& w) {
        const double prefill = std::max(0.0, w.prompt_blocks + prompt_blocks - w.cached_blocks);
        return prefill + w.kv_blocks + prompt_blocks;
      });
  }
  return n;
}

}  // namespace assay::sim
