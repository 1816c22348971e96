// Cluster: workers behind a router: a serving system as a benchmark sees it, as an Engine.
//
//   request → front end (request_s) → router → worker                      aggregated
//   request → front end → router → prefill worker → KV transfer → decode worker   disaggregated
//
// SimTarget drives it on SimClock, `assay endpoint --scenario` on OsClock, sim/simulate.h in its
// own closed loop. All results follow from the seed. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "sim/engine.h"
#include "sim/router.h"
#include "sim/transfer.h"
#include "sim/worker.h"

namespace assay::sim {

struct ClusterSpec {
  Deployment deployment{};  // aggregated workers; in a disaggregated cluster, the decode workers
  unsigned workers = 1;
  std::optional<Deployment> prefill{};  // if given: disaggregated
  unsigned prefill_workers = 1;
  RouterPolicy router = RouterPolicy::round_robin;
  std::uint64_t seed = 1;
  bool every_token = false;  // emit each step's tokens; else first and last only
  bool prefix_cache = true;
  double noise_sigma = 0;
  double stall_chance = 0;
  double transfer_setup_s = 1e-3;
  double kv_share = 1;  // of every worker's KV memory
  // Disaggregated: sequences of one rank of a decode worker. 0: the value of the backend's rule for
  // a known concurrency, else seqs_max.
  std::uint32_t decode_batch = 0;

  unsigned gpus() const;
};

// The true times of one request, known when it ends.
struct Served {
  std::uint64_t id = 0;
  std::uint32_t prompt = 0;
  std::uint32_t output = 0;
  std::uint32_t worker = 0;
  bool refused = false;
  Instant arrived{};
  Instant first_token{};
  Instant last_token{};
};

class Cluster final : public Engine {
 public:
  explicit Cluster(ClusterSpec spec);

  void admit(const Request& request, Instant now) override;
  void cancel(std::uint64_t request, Instant now) override;
  Instant next() const override;
  void advance(Instant now, std::vector<Emission>& out) override;
  EngineStats stats() const override;

  // Requests that ended since the last call, in order; the caller's vector is reused.
  void take_served(std::vector<Served>& out);

  // Faults (docs/guide/serving_model.md). Requests of a dead worker start anew on another.
  void kill_worker(std::size_t worker, Instant now);
  void revive_worker(std::size_t worker, Instant now);
  void slow_worker(std::size_t worker, double factor, Instant now);
  void shrink_kv(std::size_t worker, double share, Instant now);

  std::size_t worker_count() const { return workers_.size(); }
  const Worker& worker(std::size_t i) const { return *workers_[i]; }
  const ClusterSpec& spec() const { return spec_; }
  std::uint64_t steps() const;
  double energy_joules(Instant now) const;
  std::uint32_t prefix_block_tokens() const { return workers_.front()->prefix_block_tokens(); }
  std::size_t in_flight() const { return slots_.size() - free_.size(); }

 private:
  enum class Stage : std::uint8_t { none, front, prefill, moving, handoff, serving };
  struct Slot {
    Stage stage = Stage::none;
    std::uint32_t worker = 0;
    std::uint32_t source = 0;  // prefill worker whose link moves the KV
    std::uint32_t told = 0;    // tokens emitted
    std::uint32_t cached = 0;  // prompt tokens that the entry worker's prefix cache had
    std::uint32_t use = 0;     // counts uses: timers of earlier ones are stale
    Request request{};
    Instant arrived{};
    Instant first{Instant::none()};
  };
  struct Timer {
    Instant at{};
    std::uint64_t order = 0;
    std::uint32_t slot = 0;
    std::uint32_t use = 0;
    bool operator>(const Timer& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct Due {  // a worker or link wants a call at this time
    Instant at{};
    std::uint32_t who = 0;
    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : who > other.who;
    }
  };

  bool disaggregated() const { return spec_.prefill.has_value(); }
  std::size_t first_decode() const { return disaggregated() ? spec_.prefill_workers : 0; }
  void route(std::uint32_t slot, Instant now);
  std::size_t choose(std::size_t from, std::size_t to, const Request& request, Router& router);
  void to_worker(std::uint32_t slot, std::size_t worker, Instant now);
  void move_kv(std::uint32_t slot, Instant now, std::vector<Emission>& out);
  void moved(std::uint32_t slot, Instant now);
  void to_decode(std::uint32_t slot, Instant now);
  void handle(const WorkerEvent& event, std::vector<Emission>& out);
  void finish(std::uint32_t slot, Instant at, bool refused);
  void leave(std::uint32_t slot);
  void note(std::uint32_t who);
  Instant due_of(std::uint32_t who) const;
  void run_due(std::uint32_t who, Instant at, std::vector<Emission>& out);

  ClusterSpec spec_;
  std::vector<std::unique_ptr<Worker>> workers_{};  // prefill workers first
  std::vector<SharedLink> links_{};                 // one a prefill worker
  std::vector<bool> alive_{};
  Router router_;
  Router decode_router_;
  std::vector<Slot> slots_{};
  std::vector<std::uint32_t> free_{};
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_{};  // live only, for cancel()
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_{};
  mutable std::priority_queue<Due, std::vector<Due>, std::greater<>> due_{};
  std::vector<Instant> noted_{};  // the time of each in due_; others are stale
  std::uint64_t order_ = 0;
  std::vector<Served> served_{};
  std::vector<WorkerEvent> events_{};
  std::vector<WorkerView> views_{};
  std::vector<std::uint32_t> moved_{};
};

}  // namespace assay::sim
