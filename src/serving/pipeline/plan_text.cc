#include "pipeline/plan_text.h"

#include <algorithm>

#include "base/format.h"
#include "base/json_list.h"
#include "pipeline/graph.h"

namespace assay::pipeline {
namespace {

// The conditions on which a step goes on to another; "otherwise" for those of `else`.
std::string when_of(const Next& next, const std::string& target) {
  std::string out;
  const auto add = [&](const std::vector<std::string>& targets, const std::string& word) {
    if (std::ranges::find(targets, target) == targets.end()) return;
    out += (out.empty() ? "" : " or ") + word;
  };
  for (const Branch& branch : next.branches) add(branch.targets, branch.condition);
  add(next.otherwise, "otherwise");
  return out;
}

std::string detail_of(const Step& step) {
  std::string out(to_string(step.type));
  if (step.partition) out += ", for each partition";
  if (step.limit > 0) out += format(", at most {} at a time", step.limit);
  if (step.retries > 0) out += format(", tried again {} times", step.retries);
  return out;
}

}  // namespace

std::string plan_text(const Pipeline& pipeline) {
  const Graph graph = graph_of(pipeline);
  std::string out;
  for (std::size_t at = 0; at < graph.order.size(); ++at) {
    const Step& step = pipeline.steps[graph.order[at]];
    out += format("{:>3}  {:<28}{}\n", at + 1, step.id, detail_of(step));
    for (const std::size_t one : graph.out[graph.order[at]]) {
      const Edge& edge = graph.edges[one];
      const std::string& to = pipeline.steps[edge.to].id;
      out += format("       {} {}{}\n", edge.back ? "back to" : "then", to,
                    edge.conditional ? ", when " + when_of(step.next, to) : "");
    }
    if (step.next.conditional() && step.next.otherwise.empty()) {
      out += format("       else asks again every {:g} s\n", step.next.wait.seconds());
    }
  }
  for (const std::string& note : pipeline.notes) out += format("note: {}\n", note);
  return out;
}

Json plan_json(const Pipeline& pipeline) {
  const Graph graph = graph_of(pipeline);
  Json steps = Json::array();
  for (const std::size_t at : graph.order) {
    const Step& step = pipeline.steps[at];
    Json next = Json::array();
    for (const std::size_t one : graph.out[at]) {
      const Edge& edge = graph.edges[one];
      const std::string& to = pipeline.steps[edge.to].id;
      next.push_back(Json()
                         .set("to", to)
                         .set("when", edge.conditional ? Json(when_of(step.next, to)) : Json())
                         .set("back", edge.back));
    }
    steps.push_back(Json()
                        .set("id", step.id)
                        .set("type", to_string(step.type))
                        .set("partition", step.partition)
                        .set("limit", step.limit)
                        .set("next", std::move(next)));
  }
  return Json()
      .set("pipeline", pipeline.name)
      .set("steps", std::move(steps))
      .set("notes", json_list(pipeline.notes));
}

}  // namespace assay::pipeline
