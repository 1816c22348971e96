// Weka's traces of agents: an object a conversation, its requests in order, sub-agents as markers
// between them that hold requests of their own.
//
// A request waits for the one before it in its list, and for the sub-agents that ended before it
// began; a sub-agent's first request waits for the last one before its marker. The delay is the
// recorded time from the last of these ends to the request's start, so it is tools' and thinking
// time and no server's. Children's instants count from their marker where the first of them lies
// before it, else from the conversation's start, as published files have them.
#include <algorithm>

#include "base/format.h"
#include "dataset/length.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

constexpr std::int64_t kWekaBlock = 64;
constexpr double kInstantMostS = 1e9;

// A recorded number of seconds; NaN and infinite ones occur and count as none.
double seconds_at(const Json& object, std::string_view key) {
  const double seconds = object[key].as_double(0);
  return seconds >= 0 && seconds <= kInstantMostS ? seconds : 0;
}

class WekaDocument {
 public:
  WekaDocument(const Json& document, TrajectoryBook& book) : document_(document), book_(book) {}

  Result<Trajectory> read() {
    out_.id = document_["id"].as_string();
    if (out_.id.empty()) return invalid("id: expected the conversation's name");
    auto done = read_all();
    if (!done) return invalid(format("conversation '{}': {}", out_.id, done.error().message));
    return std::move(out_);
  }

 private:
  struct Child {
    std::uint32_t last = 0;  // its last node
    double end = 0;
  };

  Result<void> read_all() {
    const Json& block = document_["block_size"];
    out_.block_tokens = block.is_null() ? kWekaBlock : block.as_int(-1);
    if (out_.block_tokens < 1 || out_.block_tokens > kLengthMax) {
      return invalid(format("block_size: expected 1 to {}, found {}", kLengthMax, block.dump()));
    }
    const std::string_view scope = document_["hash_id_scope"].as_string("global");
    if (scope != "local" && scope != "global") {
      return invalid(format("hash_id_scope: expected local or global, found '{}'", scope));
    }
    scope_ = scope == "local" ? format("hashes of {}", out_.id) : std::string("file");
    const Json& requests = document_["requests"];
    if (!requests.is_array()) return invalid("requests: expected a list");
    TRY(read_list(requests, "main", 0, std::nullopt, 0));
    if (out_.nodes.empty()) book_.drop("conversations without a request that can be asked");
    return {};
  }

  // Adds a list of requests: a chain that begins after `parent`, which ended at `parent_end`.
  // Children are read after the chain, so that the nodes of an agent stand together.
  Result<void> read_list(const Json& requests, const std::string& agent, double shift,
                         std::optional<std::uint32_t> parent, double parent_end, int depth = 0) {
    if (depth > kDepthMax) return invalid(format("sub-agents nested deeper than {}", kDepthMax));
    std::vector<std::pair<std::size_t, std::uint32_t>> chain;  // place in the list, node
    std::optional<std::uint32_t> last = parent;
    double last_end = parent_end;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const Json& request = requests[i];
      if (request["type"].as_string() == "subagent") continue;
      auto node = read_request(request, agent);
      if (!node) return invalid(format("requests[{}]: {}", i, node.error().message));
      if (!*node) continue;
      const double start = shift + seconds_at(request, "t");
      if (last && start < last_end && !chain.empty()) {
        book_.drop("requests that began before the one before them had ended, kept in its order");
      }
      if (last) (*node)->after.push_back(*last);
      starts_.push_back(start);
      ends_.push_back(start + seconds_at(request, "api_time"));
      if (out_.nodes.size() == kNodesMax) return invalid("too many requests");
      last = static_cast<std::uint32_t>(out_.nodes.size());
      last_end = ends_.back();
      chain.emplace_back(i, *last);
      out_.nodes.push_back(**std::move(node));
    }
    TRY(read_children(requests, chain, shift, parent, parent_end, depth));
    for (const auto& [place, node] : chain) set_delay(node);
    return {};
  }

  Result<void> read_children(const Json& requests,
                             const std::vector<std::pair<std::size_t, std::uint32_t>>& chain,
                             double shift, std::optional<std::uint32_t> parent, double parent_end,
                             int depth) {
    std::size_t passed = 0;  // nodes of the chain before the marker
    for (std::size_t i = 0; i < requests.size(); ++i) {
      while (passed < chain.size() && chain[passed].first < i) ++passed;
      const Json& marker = requests[i];
      if (marker["type"].as_string() != "subagent") continue;
      const Json& inner = marker["requests"];
      if (inner.size() == 0) {
        book_.drop("sub-agents without requests");
        continue;
      }
      const double at = shift + seconds_at(marker, "t");
      const bool relative = shift + seconds_at(inner[0], "t") < at;
      std::string name(marker["subagent_type"].as_string());
      if (name.empty()) name = marker["agent_id"].as_string("subagent");
      const auto first = static_cast<std::uint32_t>(out_.nodes.size());
      const auto spawner = passed > 0 ? std::optional(chain[passed - 1].second) : parent;
      const double spawned = spawner ? (passed > 0 ? ends_[*spawner] : parent_end) : 0;
      TRY(read_list(inner, name, relative ? at : shift, spawner, spawned, depth + 1));
      if (out_.nodes.size() == first) continue;
      join(chain, passed, first, marker, at);
    }
    return {};
  }

  // The first later request of the parent that began when the child had ended waits for it.
  void join(const std::vector<std::pair<std::size_t, std::uint32_t>>& chain, std::size_t passed,
            std::uint32_t first, const Json& marker, double at) {
    // The child's own chain stands first among the nodes that it added.
    std::uint32_t last = first;
    double end = ends_[first];
    for (std::uint32_t i = first; i < out_.nodes.size(); ++i) {
      end = std::max(end, ends_[i]);
      if (i > first && !out_.nodes[i].after.empty() && out_.nodes[i].after.front() == last &&
          out_.nodes[i].agent == out_.nodes[first].agent) {
        last = i;
      }
    }
    const double duration = marker["duration_ms"].as_double(-1);
    if (duration >= 0 && duration <= kInstantMostS * 1e3) end = at + duration / 1e3;
    for (; passed < chain.size(); ++passed) {
      const std::uint32_t node = chain[passed].second;
      if (starts_[node] < end) continue;
      out_.nodes[node].after.push_back(last);
      return;
    }
  }

  void set_delay(std::uint32_t node) {
    double before = 0;  // a first request waits from the conversation's start
    for (const std::uint32_t one : out_.nodes[node].after) before = std::max(before, ends_[one]);
    const double delay = std::max(0.0, starts_[node] - before);
    if (delay > kDelayMostS) book_.drop("delays above a day, cut to one");
    out_.nodes[node].delay = Duration::from_seconds(std::min(delay, kDelayMostS));
  }

  // nullopt: it has no tokens and is left out.
  Result<std::optional<TrajectoryNode>> read_request(const Json& request,
                                                     const std::string& agent) {
    if (!request.is_object()) return invalid("expected an object");
    const std::int64_t input = request["in"].as_int(-1);
    const std::int64_t output = request["out"].as_int(-1);
    if (!request["in"].is_integer() || !request["out"].is_integer() || input < 0 || output < 0) {
      return invalid(format("in, out: expected whole numbers, found {} and {}",
                            request["in"].dump(), request["out"].dump()));
    }
    if (input == 0 || output == 0) {
      book_.drop("requests without tokens");
      return std::optional<TrajectoryNode>();
    }
    if (input > kLengthMax || output > kLengthMax) {
      return invalid(format("in, out: {} tokens are the most", kLengthMax));
    }
    TrajectoryNode out{.id = format("{}-{}", agent, out_.nodes.size() + 1),
                       .agent = agent,
                       .input_tokens = input,
                       .scope = scope_,
                       .output_tokens = output};
    const Json& ids = request["hash_ids"];
    if (!ids.is_null() && !ids.is_array()) return invalid("hash_ids: expected a list");
    const std::int64_t blocks = (input + out_.block_tokens - 1) / out_.block_tokens;
    for (const Json& id : ids.items()) {
      if (!id.is_integer()) return invalid("hash_ids: expected whole numbers");
      if (static_cast<std::int64_t>(out.blocks.size()) == blocks) {
        book_.drop("requests with more hash_ids than tokens, cut");
        break;
      }
      out.blocks.push_back(id.as_uint());
    }
    return std::optional(std::move(out));
  }

  static constexpr int kDepthMax = 16;

  const Json& document_;
  TrajectoryBook& book_;
  Trajectory out_{};
  std::string scope_{};
  std::vector<double> starts_{};  // of each node, in seconds from the conversation's start
  std::vector<double> ends_{};
};

class WekaReader final : public TraceReader {
 public:
  Result<void> add(const Json& document, TrajectoryBook& book) override {
    ASSIGN_OR_RETURN(Trajectory read, WekaDocument(document, book).read());
    if (read.nodes.empty()) return {};
    return book.add(std::move(read));
  }
  Result<void> finish(TrajectoryBook&) override { return {}; }
};

}  // namespace

std::unique_ptr<TraceReader> make_weka_reader() { return std::make_unique<WekaReader>(); }

}  // namespace assay::dataset
