// Engine: which instance of which step is to run now, what is waited for, what is done. An instance
// is a step, or a step for one partition. Everything that decides is a value: the pipeline, the
// partitions, the ledger (what the journal says), and digests of files that the caller takes. So
// the same journal leads to the same state, after a kill as after a pause.
//
// What an instance would do has a key: SHA-256 of its step's recipe, its partition, its inputs'
// content, what came out of the instances before it, its round of a loop, and how often it was
// asked to restart. A key that the ledger has as done, with its outputs as they were, is not run
// again. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "pipeline/graph.h"
#include "pipeline/pipeline.h"

namespace assay::pipeline {

// The journal's records, folded.
struct Ledger {
  struct Done {
    std::string token{};    // names what came out: the outputs' digest, or this one record
    std::string outputs{};  // digest; empty: none are declared
  };
  struct Decision {
    bool approved = false;
    std::string by{};
  };
  std::map<std::string, Done, std::less<>> done{};                          // by key
  std::map<std::string, std::vector<std::string>, std::less<>> choices{};   // by key and token
  std::map<std::string, Decision, std::less<>> decisions{};                 // by key
  std::map<std::pair<std::string, std::string>, std::uint64_t> restarts{};  // step, partition
  // A record of an unknown kind changes nothing. `graph` resolves restarts of all that follows.
  void add(const Json& record, const Pipeline& pipeline, const Graph& graph);
};

enum class Status : std::uint8_t { pending, ready, running, waiting, done, failed, skipped };

inline constexpr std::uint32_t kNoPartition = static_cast<std::uint32_t>(-1);

struct Instance {
  std::uint32_t step = 0;
  std::uint32_t partition = kNoPartition;
  Status status = Status::pending;
  bool settled = false;     // the steps after it know whether they are taken
  bool held = false;        // settled, and its way out of the loop is still open
  bool choosing = false;    // done, and its conditions decide what follows
  std::uint32_t round = 0;  // of a loop
  std::uint32_t open = 0;   // instances before it that are not settled
  std::uint32_t taken = 0;  // of those before it, how many led here
  std::uint32_t attempts = 0;
  std::string key{};
  std::string token{};
  std::string why{};                 // of a failure
  std::vector<std::size_t> edges{};  // those taken, of a settled one
};

// Digests that the engine asks for. An error fails the instance.
struct Eyes {
  std::function<Result<std::string>(const Step&, const std::string& partition)> inputs{};
  std::function<Result<std::string>(const Step&, const std::string& partition)> outputs{};
};

struct Counts {
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;
  std::uint64_t failed = 0;
  std::uint64_t skipped = 0;
};

class Engine {
 public:
  // The references must outlive it. REQUIRES: at least one partition where a step is partitioned.
  Engine(const Pipeline& pipeline, const Graph& graph, std::vector<std::string> partitions,
         const Ledger& ledger, Eyes eyes);

  // Goes on from what is known. Call it first, and after each call below.
  void advance();
  // Instances to start now, at most `free`, within each step's limit; they are running after this.
  std::vector<std::size_t> take_ready(std::size_t free);
  // A running one has ended well, or a waiting one has what it waited for.
  void finish(std::size_t instance, std::string token);
  // It failed. Tried again while the step has retries left.
  void fail(std::size_t instance, std::string why, bool again);
  // The conditions chose these steps.
  void choose(std::size_t instance, const std::vector<std::string>& targets);
  // The ledger has new decisions: looks at every approval that waits.
  void look_at_decisions();

  const Instance& instance(std::size_t at) const { return instances_[at]; }
  std::size_t size() const { return instances_.size(); }
  const Step& step_of(std::size_t at) const { return pipeline_.steps[instances_[at].step]; }
  // Empty for a step that is not partitioned.
  const std::string& partition_of(std::size_t at) const;
  const std::set<std::size_t>& waiting() const { return waiting_; }
  std::size_t running() const { return running_; }
  bool has_ready() const;
  std::vector<Counts> counts() const;  // of each step
  // As the journal's choices name it.
  std::string choice_key(std::size_t at) const;

 private:
  template <typename F>
  void each_target(std::size_t at, std::size_t edge, F&& visit);
  void consider(std::size_t at);
  void look(std::size_t at);
  void decide(std::size_t at);
  void end_well(std::size_t at, std::string token);
  void end_badly(std::size_t at, std::string why);
  void settle(std::size_t at, std::vector<std::size_t> edges);
  bool is_way_out(const Instance& from, std::size_t edge) const;
  void deliver(std::size_t at, std::size_t edge, bool leads);
  bool release_held();
  std::vector<std::size_t> edges_to(std::size_t at, const std::vector<std::string>& targets) const;
  void begin_round(std::size_t step, std::uint32_t partition);
  void reset(std::size_t at);
  Result<std::string> key_of(std::size_t at) const;
  void set_status(std::size_t at, Status status);

  const Pipeline& pipeline_;
  const Graph& graph_;
  std::vector<std::string> partitions_;
  const Ledger& ledger_;
  Eyes eyes_;
  std::vector<std::string> recipes_{};  // of each step
  std::vector<std::size_t> first_{};    // of each step: its first instance
  std::vector<Instance> instances_{};
  std::deque<std::size_t> open_{};              // to consider
  std::vector<std::set<std::size_t>> ready_{};  // of each step
  std::vector<std::size_t> running_of_{};       // of each step
  std::set<std::size_t> waiting_{};
  std::set<std::size_t> held_{};
  std::size_t running_ = 0;
};

// What a step would do, whatever the paths are: SHA-256.
std::string recipe_of(const Pipeline& pipeline, const Step& step);

}  // namespace assay::pipeline
