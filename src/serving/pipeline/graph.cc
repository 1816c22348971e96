#include "pipeline/graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/check.h"

namespace assay::pipeline {
namespace {

using Indices = std::vector<std::size_t>;

std::map<std::string_view, std::size_t> places_of(const Pipeline& pipeline) {
  std::map<std::string_view, std::size_t> out;
  for (std::size_t i = 0; i < pipeline.steps.size(); ++i) out.emplace(pipeline.steps[i].id, i);
  return out;
}

std::vector<Edge> edges_of(const Pipeline& pipeline) {
  const auto places = places_of(pipeline);
  std::vector<Edge> out;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (std::size_t from = 0; from < pipeline.steps.size(); ++from) {
    const auto add = [&](const std::vector<std::string>& targets, bool conditional) {
      for (const std::string& target : targets) {
        const std::size_t to = places.at(target);
        if (seen.emplace(from, to).second) out.push_back({from, to, conditional, false});
      }
    };
    const Next& next = pipeline.steps[from].next;
    add(next.always, false);
    for (const Branch& branch : next.branches) add(branch.targets, true);
    add(next.otherwise, true);
  }
  return out;
}

// Tarjan's strongly connected components, without recursion: of each step its component.
class Components {
 public:
  Components(std::size_t count, const std::vector<Edge>& edges,
             const std::function<bool(const Edge&)>& counts)
      : next_(count),
        number_(count, kNone),
        low_(count, 0),
        on_stack_(count, false),
        of_(count, 0) {
    for (const Edge& edge : edges) {
      if (counts(edge)) next_[edge.from].push_back(edge.to);
    }
    for (std::size_t step = 0; step < count; ++step) {
      if (number_[step] == kNone) walk(step);
    }
  }
  const Indices& of() const { return of_; }
  std::size_t count() const { return components_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Frame {
    std::size_t step = 0;
    std::size_t at = 0;
  };

  void enter(std::size_t step) {
    number_[step] = low_[step] = counter_++;
    stack_.push_back(step);
    on_stack_[step] = true;
    frames_.push_back({step, 0});
  }
  void walk(std::size_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::size_t step = frame.step;
      if (frame.at < next_[step].size()) {
        const std::size_t to = next_[step][frame.at++];
        if (number_[to] == kNone) {
          enter(to);
        } else if (on_stack_[to]) {
          low_[step] = std::min(low_[step], number_[to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) {
        low_[frames_.back().step] = std::min(low_[frames_.back().step], low_[step]);
      }
      if (low_[step] == number_[step]) close(step);
    }
  }
  void close(std::size_t root) {
    for (;;) {
      const std::size_t step = stack_.back();
      stack_.pop_back();
      on_stack_[step] = false;
      of_[step] = components_;
      if (step == root) break;
    }
    ++components_;
  }

  std::vector<Indices> next_;
  Indices number_;
  Indices low_;
  std::vector<bool> on_stack_;
  Indices of_;
  Indices stack_{};
  std::vector<Frame> frames_{};
  std::size_t counter_ = 0;
  std::size_t components_ = 0;
};

// The members of each component that is a loop.
std::vector<Indices> loops_of(const Components& components, const std::vector<Edge>& edges,
                              const std::function<bool(const Edge&)>& counts) {
  std::vector<Indices> members(components.count());
  for (std::size_t step = 0; step < components.of().size(); ++step) {
    members[components.of()[step]].push_back(step);
  }
  std::set<std::size_t> rings;
  for (const Edge& edge : edges) {
    if (counts(edge) && components.of()[edge.from] == components.of()[edge.to]) {
      rings.insert(components.of()[edge.from]);
    }
  }
  std::vector<Indices> out;
  for (const std::size_t ring : rings) out.push_back(members[ring]);
  return out;
}

std::string names_of(const Pipeline& pipeline, const Indices& steps) {
  constexpr std::size_t kShown = 8;
  std::string out;
  for (std::size_t i = 0; i < steps.size() && i < kShown; ++i) {
    out += (i == 0 ? "" : ", ") + pipeline.steps[steps[i]].id;
  }
  if (steps.size() > kShown) out += ", …";
  return out;
}

void check_loops(const Pipeline& pipeline, const std::vector<Edge>& edges,
                 const Components& components, Faults& faults) {
  const auto all = [](const Edge&) { return true; };
  const auto always = [](const Edge& edge) { return !edge.conditional; };
  std::set<std::size_t> told;
  const Components bare(pipeline.steps.size(), edges, always);
  for (const Indices& ring : loops_of(bare, edges, always)) {
    faults.add(pipeline.steps[ring.front()].line, "steps." + pipeline.steps[ring.front()].id,
               format("a ring without a condition never ends: {}", names_of(pipeline, ring)),
               "one of them needs a `next` with `if`");
    told.insert(ring.begin(), ring.end());
  }
  for (const Indices& ring : loops_of(components, edges, all)) {
    const Step& first = pipeline.steps[ring.front()];
    if (std::ranges::any_of(ring, [&](std::size_t step) { return told.contains(step); })) continue;
    const std::size_t own = components.of()[ring.front()];
    const bool leaves = std::ranges::any_of(edges, [&](const Edge& edge) {
      return components.of()[edge.from] == own && components.of()[edge.to] != own;
    });
    if (!leaves) {
      faults.add(first.line, "steps." + first.id,
                 format("a loop that no branch leaves: {}", names_of(pipeline, ring)),
                 "one branch of its `next` must lead out of it");
    }
    const bool mixed = std::ranges::any_of(
        ring, [&](std::size_t step) { return pipeline.steps[step].partition != first.partition; });
    if (mixed) {
      faults.add(first.line, "steps." + first.id,
                 format("a loop over steps of which only some are partitioned: {}",
                        names_of(pipeline, ring)),
                 "give all of them `partition: true`, or none");
    }
  }
}

void check_reached(const Pipeline& pipeline, const Graph& graph, Faults& faults) {
  std::vector<bool> seen(pipeline.steps.size(), false);
  Indices open = graph.starts;
  for (const std::size_t step : open) seen[step] = true;
  while (!open.empty()) {
    const std::size_t step = open.back();
    open.pop_back();
    for (const std::size_t edge : graph.out[step]) {
      const std::size_t to = graph.edges[edge].to;
      if (!seen[to]) open.push_back(to);
      seen[to] = true;
    }
  }
  for (std::size_t step = 0; step < seen.size(); ++step) {
    if (seen[step]) continue;
    faults.add(pipeline.steps[step].line, "steps." + pipeline.steps[step].id, "is never reached",
               "name it in the `next` of the step before it, or give it `start: true`");
  }
}

// The steps with `start: true`; without one, the first step of the file that no other leads to.
Indices starts_of(const Pipeline& pipeline, const Graph& graph, Faults& faults) {
  Indices out;
  for (std::size_t step = 0; step < pipeline.steps.size(); ++step) {
    const Step& one = pipeline.steps[step];
    if (!one.start) continue;
    out.push_back(step);
    if (graph.in[step].empty()) continue;
    faults.add(one.line, format("steps.{}.start", one.id),
               format("'{}' leads to this step, so it does not start by itself",
                      pipeline.steps[graph.edges[graph.in[step].front()].from].id),
               "leave `start` out");
  }
  for (std::size_t step = 0; out.empty() && step < pipeline.steps.size(); ++step) {
    if (graph.in[step].empty()) out.push_back(step);
  }
  return out;
}

// Kahn's order over forward edges, the first of the file first.
Indices order_of(const Graph& graph, std::size_t count) {
  Indices waits(count, 0);
  std::set<std::size_t> ready;
  for (std::size_t step = 0; step < count; ++step) {
    waits[step] = graph.in[step].size();
    if (waits[step] == 0) ready.insert(step);
  }
  Indices out;
  while (!ready.empty()) {
    const std::size_t step = *ready.begin();
    ready.erase(ready.begin());
    out.push_back(step);
    for (const std::size_t edge : graph.out[step]) {
      if (graph.edges[edge].back) continue;
      if (--waits[graph.edges[edge].to] == 0) ready.insert(graph.edges[edge].to);
    }
  }
  return out;
}

}  // namespace

std::vector<std::size_t> Graph::reached_from(std::size_t step) const {
  std::vector<bool> seen(out.size(), false);
  Indices open{step};
  seen[step] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t edge : out[at]) {
      if (edges[edge].back || seen[edges[edge].to]) continue;
      seen[edges[edge].to] = true;
      open.push_back(edges[edge].to);
    }
  }
  Indices reached;
  for (const std::size_t one : order) {
    if (seen[one]) reached.push_back(one);
  }
  return reached;
}

Graph make_graph(const Pipeline& pipeline, Faults& faults) {
  const std::size_t count = pipeline.steps.size();
  Graph graph{.edges = edges_of(pipeline),
              .out = std::vector<Indices>(count),
              .in = std::vector<Indices>(count)};
  const Components components(count, graph.edges, [](const Edge&) { return true; });
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    Edge& edge = graph.edges[i];
    // Inside a loop the file's order says where a round begins, so what is left has no ring.
    edge.back = components.of()[edge.from] == components.of()[edge.to] && edge.to <= edge.from;
    graph.out[edge.from].push_back(i);
    if (!edge.back) graph.in[edge.to].push_back(i);
  }
  graph.loop = components.of();
  graph.starts = starts_of(pipeline, graph, faults);
  graph.order = order_of(graph, count);
  CHECK(graph.order.size() == count);
  check_loops(pipeline, graph.edges, components, faults);
  check_reached(pipeline, graph, faults);
  return graph;
}

Graph graph_of(const Pipeline& pipeline) {
  Faults faults(pipeline.name);
  Graph graph = make_graph(pipeline, faults);
  CHECK(faults.none());
  return graph;
}

}  // namespace assay::pipeline
