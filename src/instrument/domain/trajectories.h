// Trajectories as a fact of a run: which query is which node of which trajectory, what it waited
// for and whose it is. Kept in RunInfo::facts (kTrajectoriesFact), so that a log alone tells the
// figures of agents and trajectories. Sample i is node i mod `rows`; later passes are repeats.
//
// A text for each trajectory has its nodes, "agent:delay_ns:a,b" where a and b are the nodes that
// it waits for, by their place in the trajectory, separated by ';'; and a text of 16 hex digits a
// node names what it asks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/plan.h"

namespace assay {

inline constexpr std::string_view kTrajectoriesFact = "trajectories";

struct TracedNode {
  std::uint32_t agent = 0;  // index into Trajectories::agents
  Duration delay{};
  std::vector<std::uint32_t> after{};  // places in the trajectory
  std::uint64_t asked = 0;             // hash of what it asks
};

struct Traced {
  std::string id{};
  std::vector<TracedNode> nodes{};
};

struct Trajectories {
  std::vector<std::string> agents{};
  std::vector<Traced> all{};  // the file's, in order; their nodes are the rows of a pass
  std::uint64_t planned = 0;  // trajectories to begin, repeats included
  bool salted = false;        // repeats share no prefix
  std::vector<std::pair<std::string, std::uint64_t>> dropped{};  // Dataset::dropped

  std::uint64_t rows() const;
};

// The trajectories of a phase that replays `dataset`. Call it while the samples have their text.
Trajectories trajectories_of(const PhasePlan& phase, const Dataset& dataset, bool salted);

Json to_json(const Trajectories& trajectories);
// Empty where the run replayed none. Fails on what to_json() never writes.
Result<Trajectories> trajectories_from(const Json& facts);

}  // namespace assay
