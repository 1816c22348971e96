#include "metrics/trajectory_fold.h"

#include <algorithm>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

constexpr std::array<double, 3> kShownPercentiles = {50.0, 90.0, 99.0};

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Json short_series(const Distribution& series) {
  Json out = Json().set("count", series.count);
  if (series.empty()) return out;
  out.set("mean", series.mean);
  for (const double p : kShownPercentiles) out.set(format("p{:.0f}", p), series.percentile(p));
  return out.set("max", series.max);
}

Json nodes_json(const NodeFigures& nodes) {
  return Json()
      .set("planned", nodes.planned)
      .set("sent", nodes.sent)
      .set("succeeded", nodes.succeeded)
      .set("failed", nodes.failed)
      .set("given_up", nodes.given_up)
      .set("never_due", nodes.never_due())
      .set("output_tokens", nodes.output_tokens)
      .set("ttft", short_series(nodes.ttft))
      .set("latency", short_series(nodes.latency));
}

std::string times_text(const Distribution& series) {
  const auto at = [&series](double p) {
    return human_duration(Duration{static_cast<std::int64_t>(series.percentile(p))});
  };
  return format("P50 {}, P99 {}", at(50.0), at(99.0));
}

}  // namespace

TrajectoryFold::TrajectoryFold(const RunInfo& info, Trajectories trajectories)
    : ReplyFold(info, false, true),
      trajectories_(std::move(trajectories)),
      agents_(trajectories_.agents.size()) {
  std::uint64_t row = 0;
  for (const Traced& one : trajectories_.all) {
    first_row_.push_back(row);
    row += one.nodes.size();
  }
  for (const PhaseInfo& phase : info.phases) phases_.push_back(phase.kind);
}

void TrajectoryFold::on_phase(const PhaseMark& mark) {
  if (mark.step != PhaseStep::issue_ended || mark.phase >= phases_.size()) return;
  if (phases_[mark.phase] != PhaseKind::performance) return;
  load_ended_ = load_ended_.known() ? std::min(load_ended_, mark.at) : mark.at;
}

void TrajectoryFold::on_reply(const Reply& reply) {
  const Event& event = reply.event;
  if (trajectories_.all.empty()) return;
  const std::uint64_t rows = trajectories_.rows();
  const std::uint64_t row = event.query.sample % rows;
  const auto found = std::ranges::upper_bound(first_row_, row) - 1;
  const auto of = static_cast<std::uint32_t>(found - first_row_.begin());
  const std::uint64_t number = event.query.sample / rows * trajectories_.all.size() + of;
  const Traced& traced = trajectories_.all[of];
  Begun& begun = begun_[number];
  if (begun.nodes.empty()) {
    begun.of = of;
    begun.nodes.resize(traced.nodes.size());
  }
  Node& node = begun.nodes[row - *found];
  Agent& agent = agents_[traced.nodes[row - *found].agent];
  scratch_.clear();
  kAssayDefinition.measure(reply, scratch_);
  node.sent = event.sent.known();
  node.due = event.due;
  node.done = event.done;
  if (!scratch_.success) {
    const bool never = event.outcome == Outcome::cancelled && !event.sent.known();
    node.end = never ? End::given_up : End::failed;
    return;
  }
  node.end = End::ok;
  node.tokens = scratch_.tokens.value_or(0);
  if (scratch_.ttft) {
    ttft_.add(static_cast<std::int64_t>(*scratch_.ttft));
    agent.ttft.add(static_cast<std::int64_t>(*scratch_.ttft));
  }
  if (scratch_.latency) {
    latency_.add(static_cast<std::int64_t>(*scratch_.latency));
    agent.latency.add(static_cast<std::int64_t>(*scratch_.latency));
  }
}

// Goes back over the critical path of a trajectory that succeeded in every node.
void TrajectoryFold::walk(const Traced& traced, const Begun& begun) {
  std::size_t last = 0;
  std::int64_t tokens = 0;
  std::int64_t all_replies = 0;
  Instant began = Instant::max();
  for (std::size_t i = 0; i < begun.nodes.size(); ++i) {
    const Node& node = begun.nodes[i];
    if (begun.nodes[last].done < node.done) last = i;
    if (traced.nodes[i].after.empty()) began = std::min(began, node.due - traced.nodes[i].delay);
    tokens += node.tokens;
    all_replies += (node.done - node.due).ns;
  }
  std::int64_t replies = 0;
  std::int64_t tools = 0;
  const std::int64_t wall = (begun.nodes[last].done - began).ns;
  for (std::size_t at = last, steps = 0; steps < begun.nodes.size(); ++steps) {
    const std::int64_t took = (begun.nodes[at].done - begun.nodes[at].due).ns;
    replies += took;
    agents_[traced.nodes[at].agent].critical_ns += took;
    tools += traced.nodes[at].delay.ns;
    const std::vector<std::uint32_t>& after = traced.nodes[at].after;
    if (after.empty()) break;
    at = *std::ranges::max_element(after, {},
                                   [&begun](std::uint32_t one) { return begun.nodes[one].done; });
  }
  wall_.add(wall);
  wall_ns_ += wall;
  replies_ns_ += replies;
  tools_ns_ += tools;
  if (tokens > 0 && wall > tools) {
    interactivity_.add(static_cast<double>(tokens) / (static_cast<double>(wall - tools) * 1e-9));
  }
  if (replies > 0) parallel_.add(share_of(all_replies, replies));
}

void TrajectoryFold::close(std::uint64_t number, const Begun& begun, TrajectoryReport& out) {
  const Traced& traced = trajectories_.all[begun.of];
  if (number >= trajectories_.planned) return;  // a log that contradicts its own facts
  ++out.begun;
  std::size_t ok = 0;
  bool ended = true;
  bool failed = false;
  Instant last{};
  for (std::size_t i = 0; i < begun.nodes.size(); ++i) {
    const Node& node = begun.nodes[i];
    NodeFigures& agent = agents_[traced.nodes[i].agent].nodes;
    const bool lost =
        node.end == End::given_up &&
        std::ranges::any_of(traced.nodes[i].after, [&begun](std::uint32_t before) {
          return begun.nodes[before].end == End::failed || begun.nodes[before].end == End::given_up;
        });
    agent.sent += node.sent ? 1U : 0U;
    ended = ended && node.end != End::none;
    last = std::max(last, node.done);
    if (node.end == End::ok) {
      ++ok;
      ++agent.succeeded;
      agent.output_tokens += node.tokens;
    } else if (node.end != End::none) {
      failed = true;
      ++(lost ? agent.given_up : agent.failed);
    }
  }
  const bool good = ok == begun.nodes.size();
  if (good) walk(traced, begun);
  out.succeeded += good ? 1U : 0U;
  out.failed += failed ? 1U : 0U;
  if (!ended || load_ended_ < last) return;  // an end that is not known is before all others
  ++out.loaded;
  out.loaded_good += good ? 1U : 0U;
}

// In the order of what they ask, so that two runs agree however their queries interleaved.
std::string TrajectoryFold::digest() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sent;
  for (const auto& [number, begun] : begun_) {
    const Traced& traced = trajectories_.all[begun.of];
    const std::uint64_t repeat = trajectories_.salted ? number / trajectories_.all.size() : 0;
    for (std::size_t i = 0; i < begun.nodes.size(); ++i) {
      if (begun.nodes[i].sent) sent.emplace_back(traced.nodes[i].asked, repeat);
    }
  }
  std::ranges::sort(sent);
  Sha256 hash;
  for (const auto& [asked, repeat] : sent) hash.add(format("{:016x} {}\n", asked, repeat));
  return hash.finish();
}

TrajectoryReport TrajectoryFold::finish() {
  TrajectoryReport out{.planned = trajectories_.planned, .dropped = trajectories_.dropped};
  const std::size_t sources = trajectories_.all.size();
  for (std::size_t k = 0; k < sources; ++k) {
    const std::uint64_t times = out.planned / sources + (out.planned % sources > k ? 1 : 0);
    for (const TracedNode& node : trajectories_.all[k].nodes) {
      agents_[node.agent].nodes.planned += times;
    }
  }
  for (const auto& [number, begun] : begun_) close(number, begun, out);
  for (std::size_t a = 0; a < agents_.size(); ++a) {
    Agent& agent = agents_[a];
    const std::int64_t waited = agent.latency.total();
    AgentFigures figures{.name = trajectories_.agents[a], .nodes = std::move(agent.nodes)};
    if (waited > 0) {
      figures.interactivity =
          static_cast<double>(figures.nodes.output_tokens) / (static_cast<double>(waited) * 1e-9);
    }
    figures.critical_share = share_of(agent.critical_ns, wall_ns_);
    out.nodes.planned += figures.nodes.planned;
    out.nodes.sent += figures.nodes.sent;
    out.nodes.succeeded += figures.nodes.succeeded;
    out.nodes.failed += figures.nodes.failed;
    out.nodes.given_up += figures.nodes.given_up;
    out.nodes.output_tokens += figures.nodes.output_tokens;
    figures.nodes.ttft = agent.ttft.finish(false);
    figures.nodes.latency = agent.latency.finish(false);
    out.agents.push_back(std::move(figures));
  }
  out.nodes.ttft = ttft_.finish(false);
  out.nodes.latency = latency_.finish(false);
  out.wall = wall_.finish(false);
  out.interactivity = interactivity_.finish(false);
  out.parallel = parallel_.finish(false);
  out.replies_share = share_of(replies_ns_, wall_ns_);
  out.tools_share = share_of(tools_ns_, wall_ns_);
  out.other_share = share_of(wall_ns_ - replies_ns_ - tools_ns_, wall_ns_);
  out.sent_digest = digest();
  return out;
}

Json to_json(const TrajectoryReport& report) {
  Json agents = Json::array();
  for (const AgentFigures& one : report.agents) {
    agents.push_back(Json()
                         .set("name", one.name)
                         .set("nodes", nodes_json(one.nodes))
                         .set("interactivity", one.interactivity)
                         .set("critical_share", one.critical_share));
  }
  Json dropped = Json::object();
  for (const auto& [reason, count] : report.dropped) dropped.set(reason, count);
  return Json()
      .set("planned", report.planned)
      .set("begun", report.begun)
      .set("succeeded", report.succeeded)
      .set("failed", report.failed)
      .set("unfinished", report.unfinished())
      .set("under_load", Json().set("ended", report.loaded).set("succeeded", report.loaded_good))
      .set("nodes", nodes_json(report.nodes))
      .set("agents", std::move(agents))
      .set("wall", short_series(report.wall))
      .set("interactivity", short_series(report.interactivity))
      .set("parallel", short_series(report.parallel))
      .set("critical_path", Json()
                                .set("replies_share", report.replies_share)
                                .set("tools_share", report.tools_share)
                                .set("other_share", report.other_share))
      .set("dropped", std::move(dropped))
      .set("sent_digest", report.sent_digest);
}

std::vector<std::pair<std::string, std::string>> trajectory_lines(const TrajectoryReport& report) {
  std::vector<std::pair<std::string, std::string>> out;
  std::string text =
      format("{} of {} succeeded", count_text(report.succeeded), count_text(report.planned));
  if (report.failed > 0) text += format(", {} failed", count_text(report.failed));
  if (report.begun < report.planned) {
    text += format(", {} never begun", count_text(report.planned - report.begun));
  }
  text +=
      format("; under load {} of {}", count_text(report.loaded_good), count_text(report.loaded));
  if (!report.wall.empty()) text += "; wall " + times_text(report.wall);
  if (!report.interactivity.empty()) {
    text += format("; P50 {} tok/s", three_digits(report.interactivity.median()));
  }
  out.emplace_back("trajectories", std::move(text));
  if (!report.wall.empty()) {
    out.emplace_back("critical path",
                     format("{:.1f} % replies, {:.1f} % tools, {:.1f} % other; P50 {} at once",
                            100 * report.replies_share, 100 * report.tools_share,
                            100 * report.other_share, three_digits(report.parallel.median())));
  }
  for (const AgentFigures& one : report.agents) {
    text = format("{}: {} of {} queries", one.name, count_text(one.nodes.succeeded),
                  count_text(one.nodes.planned));
    if (one.nodes.failed > 0) text += format(", {} failed", count_text(one.nodes.failed));
    if (one.nodes.given_up > 0) text += format(", {} given up", count_text(one.nodes.given_up));
    if (!one.nodes.latency.empty()) text += "; latency " + times_text(one.nodes.latency);
    text += format("; {} tok/s; {:.1f} % of the critical path", three_digits(one.interactivity),
                   100 * one.critical_share);
    out.emplace_back("agent", std::move(text));
  }
  std::string dropped;
  for (const auto& [reason, count] : report.dropped) {
    dropped += format("{}{} {}", dropped.empty() ? "" : "; ", count_text(count), reason);
  }
  if (!dropped.empty()) out.emplace_back("left out", std::move(dropped));
  out.emplace_back("sent",
                   format("{} of {} queries, digest {}", count_text(report.nodes.sent),
                          count_text(report.nodes.planned), report.sent_digest.substr(0, 16)));
  return out;
}

}  // namespace assay::metrics
