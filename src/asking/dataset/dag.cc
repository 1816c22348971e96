// AIPerf's DAG of conversations, one a line: a turn may fork (a child goes on with the history, and
// the parent ends unless the fork is in the background) or spawn (a child begins empty, and the
// parent waits for it before its next turn, or before `join_at`). An orchestrator asks nothing: its
// children run round after round. Each conversation that no other one begins is a trajectory; it is
// written in our own format and read as that.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/format.h"
#include "base/json_list.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

constexpr std::array<std::string_view, 11> kSessionKeys{
    "session_id",       "turns",  "context_mode",  "pre_session_spawns", "orchestrator",
    "spawns",           "rounds", "think_time_ms", "think_time_sigma",   "think_time_min_ms",
    "think_time_max_ms"};
constexpr std::array<std::string_view, 8> kTurnKeys{"messages", "model", "max_tokens", "tools",
                                                    "extra",    "delay", "forks",      "spawns"};

constexpr std::size_t kDeepest = 200;

Result<double> milliseconds(const Json& value, std::string_view key) {
  const double ms = value.is_null() ? 0 : value.is_number() ? value.as_double(-1) : -1;
  if (ms >= 0) return ms;
  return invalid(format("{}: expected milliseconds, found {}", key, value.dump()));
}

// One branch of a turn.
struct Branch {
  std::vector<std::string> children{};
  bool forks = false;
  bool background = false;
  std::uint64_t join_at = 0;  // of a spawn: the parent's turn that waits for the children
};

// "w1"; {"child": "w1", "background": true}; {"children": ["w1", "w2"], "join_at": 2}
Result<Branch> branch_of(const Json& from, bool forks, std::uint64_t turn) {
  Branch out{.forks = forks, .join_at = turn + 1};
  if (from.is_string()) {
    out.children.emplace_back(from.as_string());
    return out;
  }
  const std::string_view what = forks ? "forks" : "spawns";
  if (!from.is_object()) {
    return invalid(format("{}: expected a session_id or an object, found {}", what, from.dump()));
  }
  static constexpr std::array<std::string_view, 2> kFork{"child", "background"};
  static constexpr std::array<std::string_view, 2> kSpawn{"children", "join_at"};
  TRY(check_trace_keys(from, forks ? std::span<const std::string_view>(kFork) : kSpawn));
  if (forks) {
    out.children.emplace_back(from["child"].as_string());
    out.background = from["background"].as_bool();
    return out;
  }
  for (const Json& child : from["children"].items()) out.children.emplace_back(child.as_string());
  if (!from["join_at"].is_null()) out.join_at = from["join_at"].as_uint();
  return out;
}

Result<std::vector<Branch>> branches_of(const Json& turn, std::uint64_t number,
                                        std::uint64_t turns) {
  std::vector<Branch> out;
  std::set<std::string> seen;
  for (const bool forks : {true, false}) {
    for (const Json& one : turn[forks ? "forks" : "spawns"].items()) {
      ASSIGN_OR_RETURN(Branch branch, branch_of(one, forks, number));
      if (branch.children.empty()) return invalid("spawns: a branch without children");
      for (const std::string& child : branch.children) {
        if (!seen.insert(child).second) {
          return invalid(format("turn {} begins '{}' twice", number, child));
        }
      }
      // A spawn of the last turn has no turn to wait in: it runs on its own.
      const bool last = number + 1 == turns;
      const bool said = one.is_object() && !one["join_at"].is_null();
      if (!forks && said && (branch.join_at <= number || branch.join_at >= turns)) {
        return invalid(format("join_at: {} is not a turn after {} and up to {}", branch.join_at,
                              number, turns - 1));
      }
      if (!forks && last && !said) branch.join_at = turns;
      out.push_back(std::move(branch));
    }
  }
  return out;
}

class DagReader final : public TraceReader {
  using Ids = std::vector<std::string>;

 public:
  Result<void> add(const Json& document, TrajectoryBook&) override {
    TRY(check_trace_keys(document, kSessionKeys));
    const std::string id(document["session_id"].as_string());
    if (id.empty()) return invalid("session_id: expected a name");
    if (!sessions_.emplace(id, document).second) {
      return invalid(format("session '{}': a second one of this name", id));
    }
    order_.push_back(id);
    return {};
  }

  Result<void> finish(TrajectoryBook& book) override {
    TRY(find_roots());
    for (const std::string& id : order_) {
      if (book.full()) break;
      if (begun_.contains(id)) continue;
      nodes_ = Json::array();
      path_.clear();
      auto last = expand(id, {}, "", 0, true, book);
      if (!last) return last.error();
      const Json document =
          Json().set("trajectory", id).set("nodes", std::exchange(nodes_, Json::array()));
      ASSIGN_OR_RETURN(Trajectory read, read_own_trajectory(document));
      TRY(book.add(std::move(read)));
    }
    return {};
  }

 private:
  // Who is begun by another; a session that is in a ring with others would have no root.
  Result<void> find_roots() {
    for (const auto& [id, document] : sessions_) {
      std::vector<std::string> children;
      const Json& turns = document["turns"];
      for (std::uint64_t i = 0; i < turns.size(); ++i) {
        auto branches = branches_of(turns[i], i, turns.size());
        if (!branches) return branches.error().within(format("session '{}'", id));
        for (const Branch& branch : *branches) {
          children.insert(children.end(), branch.children.begin(), branch.children.end());
        }
      }
      for (const char* const key : {"pre_session_spawns", "spawns"}) {
        for (const Json& child : document[key].items()) children.emplace_back(child.as_string());
      }
      for (const Json& round : document["rounds"].items()) {
        for (const Json& child : round["spawns"].items()) children.emplace_back(child.as_string());
      }
      for (const std::string& child : children) {
        if (!sessions_.contains(child)) {
          return invalid(format("session '{}' begins '{}', which is not in the file", id, child));
        }
        begun_.insert(child);
      }
    }
    for (const auto& [id, document] : sessions_) {
      if (!begun_.contains(id)) return {};
    }
    if (sessions_.empty()) return {};
    return invalid(
        "every session is begun by another one; remove one of them from its `forks` or `spawns`");
  }

  // Adds a session's turns. `after`: what its first turn waits for; `history`: the node whose
  // history it goes on with, or "". Returns the nodes whose end is the session's end.
  Result<Ids> expand(const std::string& id, Ids after, const std::string& history, double delay_ms,
                     bool root, TrajectoryBook& book) {
    if (std::ranges::find(path_, id) != path_.end()) {
      return invalid(format("session '{}' begins itself, through '{}'", id, path_.back()));
    }
    if (path_.size() == kDeepest) {
      return invalid(format("session '{}': more than {} sessions begin one another", id, kDeepest));
    }
    path_.push_back(id);
    const Json& document = sessions_.at(id);
    auto out = document["orchestrator"].as_bool() || document["turns"].is_null()
                   ? orchestrate(document, std::move(after), delay_ms, book)
                   : turns(document, std::move(after), history, delay_ms, root, book);
    path_.pop_back();
    if (!out) return out.error().within(format("session '{}'", id));
    return out;
  }

  Result<Ids> orchestrate(const Json& document, Ids after, double delay_ms, TrajectoryBook& book) {
    ASSIGN_OR_RETURN(const double think, milliseconds(document["think_time_ms"], "think_time_ms"));
    if (document["think_time_sigma"].as_double() > 0) {
      book.drop("think times that are drawn, waited as their median");
    }
    const Json& rounds = document["rounds"];
    const std::uint64_t count = rounds.is_array() ? rounds.size() : rounds.as_uint(1);
    if (count == 0 || count > kNodesMax) {
      return invalid(format("rounds: expected 1 to {}, or a list", kNodesMax));
    }
    for (std::uint64_t round = 0; round < count; ++round) {
      const Json& own = rounds[round];
      const Json& children = own["spawns"].is_null() ? document["spawns"] : own["spawns"];
      if (children.size() == 0) return invalid("spawns: an orchestrator needs children");
      double wait = round == 0 ? delay_ms : think;
      if (!own["think_time_ms"].is_null()) {
        ASSIGN_OR_RETURN(wait, milliseconds(own["think_time_ms"], "think_time_ms"));
      }
      Ids ends;
      for (const Json& child : children.items()) {
        ASSIGN_OR_RETURN(const Ids last,
                         expand(std::string(child.as_string()), after, "", wait, false, book));
        ends.insert(ends.end(), last.begin(), last.end());
      }
      after = std::move(ends);
    }
    return after;
  }

  Result<Ids> turns(const Json& document, Ids after, const std::string& history, double delay_ms,
                    bool root, TrajectoryBook& book) {
    const Json& list = document["turns"];
    if (list.size() == 0) return invalid("turns: expected a list of turns");
    const std::string_view mode = document["context_mode"].as_string("delta_without_responses");
    const bool whole = mode == "message_array_with_responses";
    if (!whole && !mode.starts_with("delta")) {
      return invalid(format("context_mode: unknown value '{}'", mode));
    }
    for (const Json& child : document["pre_session_spawns"].items()) {
      ASSIGN_OR_RETURN([[maybe_unused]] const Ids last,
                       expand(std::string(child.as_string()), after, "", delay_ms, false, book));
    }
    const std::string agent = format("{}", document["session_id"].as_string());
    std::map<std::uint64_t, Ids> joins;
    std::string before = history;
    for (std::uint64_t i = 0; i < list.size(); ++i) {
      auto node = turn(list[i], i, root, book);
      if (!node) return node.error().within(format("turn {}", i));
      if (i > 0) {
        after = {before};
        const Ids& joined = joins[i];
        after.insert(after.end(), joined.begin(), joined.end());
        delay_ms = 0;
      }
      const std::string name = format("{}/{}/{}", agent, i, nodes_.size());
      ASSIGN_OR_RETURN(const double own, milliseconds(list[i]["delay"], "delay"));
      node->set("id", name)
          .set("agent", agent)
          .set("after", json_list(after))
          .set("delay_s", std::min((delay_ms + own) / 1e3, kDelayMostS));
      if (before.empty() || whole) {
        node->set("reset", true);
      } else {
        node->set("continues", before);
      }
      nodes_.push_back(*std::move(node));
      if (nodes_.size() > kNodesMax) return invalid("more turns than a trajectory may have");
      before = name;
      ASSIGN_OR_RETURN(const auto branches, branches_of(list[i], i, list.size()));
      for (const Branch& branch : branches) {
        for (const std::string& child : branch.children) {
          ASSIGN_OR_RETURN(const Ids last,
                           expand(child, {name}, branch.forks ? name : "", 0, false, book));
          if (!branch.forks) {
            joins[branch.join_at].insert(joins[branch.join_at].end(), last.begin(), last.end());
          } else if (!branch.background && i + 1 < list.size()) {
            return invalid(
                format("turn {} forks, which ends the session, and {} turns follow: "
                       "background: true lets it go on",
                       i, list.size() - i - 1));
          }
        }
      }
    }
    return Ids{before};
  }

  Result<Json> turn(const Json& from, std::uint64_t number, bool root, TrajectoryBook& book) {
    TRY(check_trace_keys(from, kTurnKeys));
    for (const Json& message : from["messages"].items()) {
      if (message["role"].as_string() == "system" && !(root && number == 0)) {
        return invalid("messages: a system message stands in the root's first turn alone");
      }
    }
    Json out = Json().set("messages", from["messages"]);
    for (const char* const key : {"model", "tools"}) {
      if (!from[key].is_null()) out.set(key, from[key]);
    }
    if (!from["max_tokens"].is_null()) out.set("output_tokens", from["max_tokens"]);
    if (from["extra"].size() > 0) book.drop("extra fields of a request's body, not sent");
    return out;
  }

  std::map<std::string, Json> sessions_{};
  Ids order_{};                    // in the file
  std::set<std::string> begun_{};  // by another session
  Ids path_{};                     // of sessions, from the root
  Json nodes_ = Json::array();
};

}  // namespace

std::unique_ptr<TraceReader> make_dag_reader() { return std::make_unique<DagReader>(); }

}  // namespace assay::dataset
