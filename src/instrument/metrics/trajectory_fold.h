// TrajectoryFold: the figures of a replay's trajectories (domain/trajectories.h): a node, an agent,
// a whole trajectory. It covers the measured phase and its tail: a trajectory is judged to its end.
//
// A trajectory's wall time runs from its begin to the end of its last node. Its critical path goes
// back from that node: over the node's time (due to done), its tools' delay, then the predecessor
// that ended last, and so on. So the wall time is the path's replies, its tools, and what the
// client took between (`other`). Interactivity is the trajectory's output tokens over the wall time
// without the tools: what one who waits for the endpoint gets per second. Figures of time are of
// the trajectories that succeeded in every node.
//
// "Under load": it ended before a slot had no trajectory left to begin.
//
// The digest names what was really sent: a hash over the nodes that left, whatever their order. Two
// runs with the same digest asked the same.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "domain/trajectories.h"
#include "metrics/definitions/definition.h"
#include "metrics/distribution.h"
#include "metrics/reply_fold.h"
#include "metrics/series.h"

namespace assay::metrics {

struct NodeFigures {
  std::uint64_t planned = 0;
  std::uint64_t sent = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;    // sent, or meant to be, without a reply
  std::uint64_t given_up = 0;  // waited for one that failed
  std::int64_t output_tokens = 0;
  Distribution ttft{};  // ns
  Distribution latency{};
  std::uint64_t never_due() const { return planned - succeeded - failed - given_up; }
};

struct AgentFigures {
  std::string name{};
  NodeFigures nodes{};
  double interactivity = 0;   // output tokens over the seconds of its replies
  double critical_share = 0;  // of the wall time of all trajectories that succeeded
};

struct TrajectoryReport {
  std::uint64_t planned = 0;
  std::uint64_t begun = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t failed = 0;       // a node failed
  std::uint64_t loaded = 0;       // ended under load
  std::uint64_t loaded_good = 0;  // of these, succeeded
  std::uint64_t unfinished() const { return begun - succeeded - failed; }
  NodeFigures nodes{};
  std::vector<AgentFigures> agents{};
  Distribution wall{};           // ns
  Distribution interactivity{};  // tokens a second
  Distribution parallel{};       // the sum of all replies' times over the path's
  double replies_share = 0;      // of the wall time of all, on the critical path
  double tools_share = 0;
  double other_share = 0;
  std::string sent_digest{};  // sha256
  std::vector<std::pair<std::string, std::uint64_t>> dropped{};
};

class TrajectoryFold final : public ReplyFold {
 public:
  TrajectoryFold(const RunInfo& info, Trajectories trajectories);
  void on_phase(const PhaseMark& mark) override;
  // REQUIRES: called once.
  TrajectoryReport finish();

 private:
  enum class End : std::uint8_t { none, ok, failed, given_up };
  struct Node {
    End end = End::none;
    bool sent = false;
    Instant due{};
    Instant done{};
    std::int64_t tokens = 0;
  };
  // Begun, of one repeat.
  struct Begun {
    std::uint32_t of = 0;  // index into trajectories_.all
    std::vector<Node> nodes{};
  };
  struct Agent {
    NodeFigures nodes{};
    Series ttft{};
    Series latency{};
    std::int64_t critical_ns = 0;
  };

  void on_reply(const Reply& reply) override;
  void close(std::uint64_t number, const Begun& begun, TrajectoryReport& out);
  void walk(const Traced& traced, const Begun& begun);
  std::string digest() const;

  Trajectories trajectories_;
  std::vector<std::uint64_t> first_row_{};  // of each trajectory
  std::map<std::uint64_t, Begun> begun_{};  // by its number, repeats included
  std::vector<Agent> agents_{};
  std::vector<PhaseKind> phases_{};
  Instant load_ended_ = Instant::none();
  Series ttft_{};
  Series latency_{};
  Series wall_{};
  RatioSeries interactivity_{};
  RatioSeries parallel_{};
  std::int64_t wall_ns_ = 0;  // of the ones that succeeded, together
  std::int64_t replies_ns_ = 0;
  std::int64_t tools_ns_ = 0;
  Figures scratch_{};
};

// `trajectories` of result_summary.json.
Json to_json(const TrajectoryReport& report);
// For a report: lines, each with its name.
std::vector<std::pair<std::string, std::string>> trajectory_lines(const TrajectoryReport& report);

}  // namespace assay::metrics
