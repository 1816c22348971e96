#include "pipeline/engine.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json_list.h"

namespace assay::pipeline {
namespace {

const std::string kNoName;

}  // namespace

void Ledger::add(const Json& record, const Pipeline& pipeline, const Graph& graph) {
  const std::string_view kind = record["t"].as_string();
  const std::string key(record["key"].as_string());
  if (kind == "done") {
    done[key] = {std::string(record["token"].as_string()),
                 std::string(record["outputs"].as_string())};
  } else if (kind == "choice") {
    std::vector<std::string> to;
    for (const Json& one : record["to"].items()) to.emplace_back(one.as_string());
    choices[key] = std::move(to);
  } else if (kind == "approve" || kind == "reject") {
    decisions[key] = {kind == "approve", std::string(record["by"].as_string())};
  } else if (kind == "restart") {
    const std::string step(record["step"].as_string());
    const std::string partition(record["part"].as_string());
    const auto found =
        std::ranges::find_if(pipeline.steps, [&](const Step& one) { return one.id == step; });
    if (found == pipeline.steps.end()) return;
    const auto at = static_cast<std::size_t>(found - pipeline.steps.begin());
    std::vector<std::size_t> steps{at};
    if (record["following"].as_bool()) steps = graph.reached_from(at);
    for (const std::size_t one : steps) {
      const Step& other = pipeline.steps[one];
      ++restarts[{other.id, other.partition ? partition : std::string()}];
    }
  }
}

std::string recipe_of(const Pipeline& pipeline, const Step& step) {
  Json parameters = Json::object();
  const auto use = [&](const std::string& text) {
    const auto names = names_in(text);
    if (!names) return;
    for (const std::string& name : *names) {
      if (!name.starts_with("parameters.")) continue;
      const auto found = pipeline.site.parameters.find(name.substr(name.find('.') + 1));
      if (found != pipeline.site.parameters.end()) parameters.set(name, found->second);
    }
  };
  for (const auto* const texts : {&step.command, &step.inputs, &step.outputs}) {
    for (const std::string& one : *texts) use(one);
  }
  use(step.file.path);
  Json mounts = Json::array();
  for (const Mount& one : step.mounts) {
    mounts.push_back(json_list(std::array<std::string_view, 5>{
        one.name, one.path, one.file ? "file" : "", one.from_step, one.from_mount}));
  }
  const auto stand_in = pipeline.site.images.find(step.image);
  const bool stands_in = step.type == StepType::container && stand_in != pipeline.site.images.end();
  return sha256_hex(Json()
                        .set("id", step.id)
                        .set("type", to_string(step.type))
                        .set("image", step.image)
                        .set("stand_in", stands_in ? json_list(stand_in->second) : Json())
                        .set("command", json_list(step.command))
                        .set("mounts", std::move(mounts))
                        .set("parameters", std::move(parameters))
                        .set("outputs", json_list(step.outputs))
                        .set("file", step.file.path)
                        .set("count", step.file.count ? Json(*step.file.count) : Json())
                        .dump());
}

Engine::Engine(const Pipeline& pipeline, const Graph& graph, std::vector<std::string> partitions,
               const Ledger& ledger, Eyes eyes)
    : pipeline_(pipeline),
      graph_(graph),
      partitions_(std::move(partitions)),
      ledger_(ledger),
      eyes_(std::move(eyes)),
      ready_(pipeline.steps.size()),
      running_of_(pipeline.steps.size(), 0) {
  for (std::size_t step = 0; step < pipeline.steps.size(); ++step) {
    recipes_.push_back(recipe_of(pipeline, pipeline.steps[step]));
    first_.push_back(instances_.size());
    const bool many = pipeline.steps[step].partition;
    for (std::size_t i = 0; i < (many ? partitions_.size() : 1); ++i) {
      instances_.push_back({.step = static_cast<std::uint32_t>(step),
                            .partition = many ? static_cast<std::uint32_t>(i) : kNoPartition});
    }
  }
  for (std::size_t at = 0; at < instances_.size(); ++at) {
    for (const std::size_t edge : graph_.out[instances_[at].step]) {
      if (!graph_.edges[edge].back) each_target(at, edge, [](Instance& to) { ++to.open; });
    }
  }
  for (std::size_t at = 0; at < instances_.size(); ++at) {
    if (instances_[at].open == 0) open_.push_back(at);
  }
}

template <typename F>
void Engine::each_target(std::size_t at, std::size_t edge, F&& visit) {
  const std::size_t to = graph_.edges[edge].to;
  const std::size_t first = first_[to];
  if (!pipeline_.steps[to].partition) {
    visit(instances_[first]);
  } else if (instances_[at].partition != kNoPartition) {
    visit(instances_[first + instances_[at].partition]);
  } else {
    for (std::size_t i = 0; i < partitions_.size(); ++i) visit(instances_[first + i]);
  }
}

const std::string& Engine::partition_of(std::size_t at) const {
  const std::uint32_t partition = instances_[at].partition;
  return partition == kNoPartition ? kNoName : partitions_[partition];
}

void Engine::set_status(std::size_t at, Status status) {
  Instance& one = instances_[at];
  if (one.status == Status::ready) ready_[one.step].erase(at);
  if (one.status == Status::waiting) waiting_.erase(at);
  if (one.status == Status::running) {
    --running_;
    --running_of_[one.step];
  }
  one.status = status;
  if (status == Status::ready) ready_[one.step].insert(at);
  if (status == Status::waiting) waiting_.insert(at);
  if (status == Status::running) {
    ++running_;
    ++running_of_[one.step];
  }
}

void Engine::advance() {
  do {
    while (!open_.empty()) {
      const std::size_t at = open_.front();
      open_.pop_front();
      if (instances_[at].status == Status::pending && instances_[at].open == 0) consider(at);
    }
  } while (release_held());
}

// Everything before it is settled.
void Engine::consider(std::size_t at) {
  Instance& one = instances_[at];
  const bool is_start = std::ranges::find(graph_.starts, one.step) != graph_.starts.end();
  if (one.taken == 0 && !is_start) {
    set_status(at, Status::skipped);
    settle(at, {});
    return;
  }
  auto key = key_of(at);
  if (!key) return end_badly(at, key.error().message);
  one.key = std::move(*key);
  look(at);
}

void Engine::look(std::size_t at) {
  Instance& one = instances_[at];
  const Step& step = step_of(at);
  if (step.type == StepType::dummy) return end_well(at, one.key);
  if (step.type == StepType::manual_approval) return decide(at);
  const auto done = ledger_.done.find(one.key);
  if (done != ledger_.done.end()) {
    const auto now = done->second.outputs.empty() ? Result<std::string>(std::string())
                                                  : eyes_.outputs(step, partition_of(at));
    if (!now) return end_badly(at, now.error().message);
    if (*now == done->second.outputs) return end_well(at, done->second.token);
  }
  set_status(at, step.type == StepType::wait_for_file ? Status::waiting : Status::ready);
}

void Engine::decide(std::size_t at) {
  const auto found = ledger_.decisions.find(instances_[at].key);
  if (found == ledger_.decisions.end()) return set_status(at, Status::waiting);
  if (found->second.approved) return end_well(at, instances_[at].key);
  end_badly(at, format("rejected by {}", found->second.by));
}

void Engine::look_at_decisions() {
  for (std::size_t at = 0; at < instances_.size(); ++at) {
    const Instance& one = instances_[at];
    if (one.choosing || step_of(at).type != StepType::manual_approval) continue;
    if (one.status == Status::waiting || one.status == Status::failed) decide(at);
  }
}

void Engine::end_badly(std::size_t at, std::string why) {
  instances_[at].why = std::move(why);
  set_status(at, Status::failed);
}

void Engine::end_well(std::size_t at, std::string token) {
  Instance& one = instances_[at];
  one.token = std::move(token);
  one.why.clear();
  const Next& next = step_of(at).next;
  if (!next.conditional()) {
    set_status(at, Status::done);
    settle(at, edges_to(at, next.always));
    return;
  }
  const auto chosen = ledger_.choices.find(choice_key(at));
  if (chosen != ledger_.choices.end()) {
    set_status(at, Status::done);
    settle(at, edges_to(at, chosen->second));
    return;
  }
  one.choosing = true;
  set_status(at, Status::waiting);
}

std::string Engine::choice_key(std::size_t at) const {
  return format("{}/{}", instances_[at].key, instances_[at].token);
}

std::vector<std::size_t> Engine::edges_to(std::size_t at,
                                          const std::vector<std::string>& targets) const {
  std::vector<std::size_t> out;
  for (const std::size_t edge : graph_.out[instances_[at].step]) {
    const std::string& to = pipeline_.steps[graph_.edges[edge].to].id;
    if (std::ranges::find(targets, to) != targets.end()) out.push_back(edge);
  }
  return out;
}

void Engine::settle(std::size_t at, std::vector<std::size_t> edges) {
  Instance& one = instances_[at];
  CHECK(!one.settled);
  one.settled = true;
  one.edges = std::move(edges);
  const std::vector<std::size_t> taken = one.edges;
  one.held = std::ranges::any_of(taken, [&](std::size_t edge) { return !is_way_out(one, edge); });
  if (one.held) held_.insert(at);
  for (const std::size_t edge : graph_.out[one.step]) {
    const bool leads = std::ranges::find(taken, edge) != taken.end();
    if (graph_.edges[edge].back || (one.held && !leads && is_way_out(one, edge))) continue;
    deliver(at, edge, leads);
  }
  for (const std::size_t edge : taken) {
    if (graph_.edges[edge].back) begin_round(graph_.edges[edge].to, one.partition);
  }
}

bool Engine::is_way_out(const Instance& from, std::size_t edge) const {
  return graph_.loop[from.step] != graph_.loop[graph_.edges[edge].to];
}

void Engine::deliver(std::size_t at, std::size_t edge, bool leads) {
  each_target(at, edge, [&](Instance& to) {
    --to.open;
    if (leads) ++to.taken;
    if (to.open == 0) open_.push_back(static_cast<std::size_t>(&to - instances_.data()));
  });
}

// While a loop goes on, its ways out that were not taken are open: the next round may take them.
// When all its instances are settled, it has ended, and these ways were not taken.
bool Engine::release_held() {
  bool released = false;
  for (auto next = held_.begin(); next != held_.end();) {
    const std::size_t at = *next;
    Instance& one = instances_[at];
    bool ended = true;
    for (std::size_t step = 0; step < graph_.loop.size() && ended; ++step) {
      if (graph_.loop[step] != graph_.loop[one.step]) continue;
      const std::size_t offset = one.partition == kNoPartition ? 0 : one.partition;
      ended = instances_[first_[step] + offset].settled;
    }
    if (!ended) {
      ++next;
      continue;
    }
    next = held_.erase(next);
    one.held = false;
    released = true;
    for (const std::size_t edge : graph_.out[one.step]) {
      const bool leads = std::ranges::find(one.edges, edge) != one.edges.end();
      if (!leads && is_way_out(one, edge)) deliver(at, edge, false);
    }
  }
  return released;
}

// The steps of the loop, and all after them, of this partition: as if they had not been yet.
void Engine::begin_round(std::size_t step, std::uint32_t partition) {
  std::vector<std::size_t> own;
  for (const std::size_t one : graph_.reached_from(step)) {
    const bool all = pipeline_.steps[one].partition && partition == kNoPartition;
    const bool same = pipeline_.steps[one].partition && partition != kNoPartition;
    if (same) own.push_back(first_[one] + partition);
    for (std::size_t i = 0; !same && i < (all ? partitions_.size() : 1); ++i) {
      own.push_back(first_[one] + i);
    }
  }
  for (const std::size_t at : own) reset(at);
  for (const std::size_t at : own) {
    if (instances_[at].open == 0) open_.push_back(at);
  }
}

void Engine::reset(std::size_t at) {
  Instance& one = instances_[at];
  if (one.settled) {
    for (const std::size_t edge : graph_.out[one.step]) {
      const bool led = std::ranges::find(one.edges, edge) != one.edges.end();
      if (graph_.edges[edge].back || (one.held && !led && is_way_out(one, edge))) continue;
      each_target(at, edge, [&](Instance& to) {
        ++to.open;
        if (led) --to.taken;
      });
    }
  }
  set_status(at, Status::pending);
  one.settled = false;
  one.held = false;
  held_.erase(at);
  one.choosing = false;
  one.edges.clear();
  one.attempts = 0;
  ++one.round;
}

Result<std::string> Engine::key_of(std::size_t at) const {
  const Instance& one = instances_[at];
  const Step& step = step_of(at);
  const std::string& partition = partition_of(at);
  ASSIGN_OR_RETURN(const std::string inputs, eyes_.inputs(step, partition));
  Sha256 before;
  for (const std::size_t edge : graph_.in[one.step]) {
    const std::size_t from = graph_.edges[edge].from;
    const bool same = pipeline_.steps[from].partition && one.partition != kNoPartition;
    const bool all = pipeline_.steps[from].partition && !same;
    for (std::size_t i = 0; i < (all ? partitions_.size() : 1); ++i) {
      const std::size_t source = first_[from] + (same ? one.partition : i);
      const Instance& other = instances_[source];
      if (std::ranges::find(other.edges, edge) == other.edges.end()) continue;
      before.add(
          format("{}\n{}\n{}\n", pipeline_.steps[from].id, partition_of(source), other.token));
    }
  }
  std::uint64_t restarts = 0;
  for (const std::string& name : {std::string(), partition}) {
    const auto found = ledger_.restarts.find({step.id, name});
    if (found != ledger_.restarts.end()) restarts += found->second;
    if (partition.empty()) break;
  }
  return sha256_hex(format("assay pipeline 1\n{}\n{}\n{}\n{}\n{}\n{}", recipes_[one.step],
                           partition, inputs, before.finish(), one.round, restarts));
}

bool Engine::has_ready() const {
  return std::ranges::any_of(ready_, [](const auto& one) { return !one.empty(); });
}

// The last steps first: what was begun is brought to its end before more is begun.
std::vector<std::size_t> Engine::take_ready(std::size_t free) {
  std::vector<std::size_t> out;
  for (auto at = graph_.order.rbegin(); at != graph_.order.rend(); ++at) {
    const std::int64_t limit = pipeline_.steps[*at].limit;
    while (out.size() < free && !ready_[*at].empty() &&
           (limit == 0 || running_of_[*at] < static_cast<std::size_t>(limit))) {
      const std::size_t one = *ready_[*at].begin();
      set_status(one, Status::running);
      ++instances_[one].attempts;
      out.push_back(one);
    }
  }
  return out;
}

void Engine::finish(std::size_t instance, std::string token) {
  end_well(instance, std::move(token));
}

void Engine::fail(std::size_t instance, std::string why, bool again) {
  Instance& one = instances_[instance];
  if (again && one.attempts <= static_cast<std::uint64_t>(step_of(instance).retries)) {
    one.why = std::move(why);
    return set_status(instance, Status::ready);
  }
  end_badly(instance, std::move(why));
}

void Engine::choose(std::size_t instance, const std::vector<std::string>& targets) {
  CHECK(instances_[instance].choosing);
  instances_[instance].choosing = false;
  set_status(instance, Status::done);
  settle(instance, edges_to(instance, targets));
}

std::vector<Counts> Engine::counts() const {
  std::vector<Counts> out(pipeline_.steps.size());
  for (const Instance& one : instances_) {
    Counts& counts = out[one.step];
    ++counts.total;
    switch (one.status) {
      case Status::pending:
      case Status::ready:
        break;
      case Status::running:
        ++counts.running;
        break;
      case Status::waiting:
        ++counts.waiting;
        break;
      case Status::done:
        ++counts.done;
        break;
      case Status::failed:
        ++counts.failed;
        break;
      case Status::skipped:
        ++counts.skipped;
        break;
    }
  }
  return out;
}

}  // namespace assay::pipeline
