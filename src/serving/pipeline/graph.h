// Graph: the order of a pipeline's steps. Each `next` is an edge. An edge that leads back into a
// loop (to an earlier step of the file from which this one is reached again) begins a new round of
// the loop; all others go forward and have no ring. Pure; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "pipeline/faults.h"
#include "pipeline/pipeline.h"

namespace assay::pipeline {

// Indices are those of Pipeline::steps.
struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  bool conditional = false;  // taken only when a condition chooses it
  bool back = false;
};

struct Graph {
  std::vector<Edge> edges{};
  std::vector<std::vector<std::size_t>> out{};  // of each step: indices of edges
  std::vector<std::vector<std::size_t>> in{};   // forward edges only
  std::vector<std::size_t> order{};             // a step stands after all that lead forward to it
  std::vector<std::size_t> starts{};
  std::vector<std::size_t> loop{};  // of each step: a number that the steps of one loop share
  // The step and all that are reached from it by forward edges, in `order`.
  std::vector<std::size_t> reached_from(std::size_t step) const;
};

// Adds to `faults`: a step that no other names, a ring without a condition or without a way out, a
// loop over steps of which only some are partitioned. The graph is complete only without faults.
// REQUIRES: every `next` names a step.
Graph make_graph(const Pipeline& pipeline, Faults& faults);

// REQUIRES: read_pipeline() made it.
Graph graph_of(const Pipeline& pipeline);

}  // namespace assay::pipeline
