// Our own format of trajectories: docs/formats/trajectories.md.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/format.h"
#include "base/text.h"
#include "dataset/length.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

constexpr std::array<std::string_view, 4> kTrajectoryKeys{"trajectory", "block_tokens",
                                                          "hash_scope", "nodes"};
constexpr std::array<std::string_view, 13> kNodeKeys{
    "id",    "agent",        "after",    "delay_s",       "messages", "reply", "continues",
    "reset", "input_tokens", "hash_ids", "output_tokens", "model",    "tools"};
constexpr std::int64_t kBlockTokens = 64;

Result<std::int64_t> whole(const Json& object, std::string_view key, std::int64_t most) {
  const Json& value = object[key];
  const std::int64_t number = value.is_integer() ? value.as_int(-1) : -1;
  if (number >= 1 && number <= most) return number;
  return invalid(
      format("{}: expected a whole number from 1 to {}, found {}", key, most, value.dump()));
}

// Reads one trajectory.
class OwnDocument {
 public:
  explicit OwnDocument(const Json& document) : document_(document) {}

  Result<Trajectory> read() {
    TRY(check_trace_keys(document_, kTrajectoryKeys));
    out_.id = document_["trajectory"].as_string();
    if (!is_header_text(out_.id)) {
      return invalid("trajectory: expected a name of printable ASCII");
    }
    auto done = read_all();
    if (!done) return invalid(format("trajectory '{}': {}", out_.id, done.error().message));
    return std::move(out_);
  }

 private:
  static bool is_header_text(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
  }

  const Json& json(std::size_t i) const { return document_["nodes"][i]; }
  const std::string& id(std::size_t i) const { return out_.nodes[i].id; }

  Result<void> read_all() {
    out_.block_tokens = kBlockTokens;
    if (!document_["block_tokens"].is_null()) {
      ASSIGN_OR_RETURN(out_.block_tokens, whole(document_, "block_tokens", kLengthMax));
    }
    const std::string_view scope = document_["hash_scope"].as_string("trajectory");
    if (scope != "trajectory" && scope != "file") {
      return invalid(format("hash_scope: expected trajectory or file, found '{}'", scope));
    }
    in_file_ = scope == "file";
    const Json& nodes = document_["nodes"];
    if (!nodes.is_array() || nodes.size() == 0) return invalid("nodes: expected a list");
    if (nodes.size() > kNodesMax) {
      return invalid(format("{} nodes; {} is the most", nodes.size(), kNodesMax));
    }
    TRY(read_ids());
    for (std::uint32_t i = 0; i < out_.nodes.size(); ++i) {
      auto read = read_node(i);
      if (!read) return invalid(format("node '{}': {}", id(i), read.error().message));
    }
    return read_prompts();
  }

  Result<void> read_ids() {
    const Json& nodes = document_["nodes"];
    out_.nodes.resize(nodes.size());
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      std::string& own = out_.nodes[i].id;
      own = nodes[i]["id"].as_string();
      if (own.empty()) return invalid(format("node {}: id: expected a text", i + 1));
      if (!places_.try_emplace(own, i).second) {
        return invalid(format("node '{}': a second one of this id", own));
      }
    }
    return {};
  }

  Result<std::uint32_t> place_of(const Json& name, std::string_view key) const {
    const auto found = places_.find(std::string(name.as_string()));
    if (found != places_.end()) return found->second;
    return invalid(format("{}: no node {} in this trajectory", key, name.dump()));
  }

  Result<void> read_node(std::uint32_t i) {
    const Json& from = json(i);
    TrajectoryNode& to = out_.nodes[i];
    TRY(check_trace_keys(from, kNodeKeys));
    if (!from["agent"].is_null()) {
      if (from["agent"].as_string().empty()) return invalid("agent: expected a name");
      to.agent = from["agent"].as_string();
    }
    const Json& after = from["after"];
    if (!after.is_null() && !after.is_array()) return invalid("after: expected a list of ids");
    for (const Json& one : after.items()) {
      ASSIGN_OR_RETURN(const std::uint32_t before, place_of(one, "after"));
      if (before == i) return invalid("after: it waits for itself");
      if (std::ranges::find(to.after, before) != to.after.end()) {
        return invalid(format("after: {} stands there twice", one.dump()));
      }
      to.after.push_back(before);
      if (++edges_ > kEdgesMax)
        return invalid(format("after: the file has more than {} of them in all", kEdgesMax));
    }
    const Json& delay = from["delay_s"];
    const double seconds = delay.is_null() ? 0 : delay.is_number() ? delay.as_double(-1) : -1;
    if (!(seconds >= 0 && seconds <= kDelayMostS)) {
      return invalid(format("delay_s: expected 0 to {}, found {}", kDelayMostS, delay.dump()));
    }
    to.delay = Duration::from_seconds(seconds);
    if (!from["output_tokens"].is_null()) {
      ASSIGN_OR_RETURN(to.output_tokens, whole(from, "output_tokens", kLengthMax));
    }
    to.model = from["model"];
    if (!to.model.is_null() && to.model.as_string().empty()) {
      return invalid("model: expected a name");
    }
    to.tools = from["tools"];
    if (!to.tools.is_null() && !to.tools.is_array()) return invalid("tools: expected a list");
    if (!from["reset"].is_null() && !from["reset"].is_bool()) {
      return invalid("reset: expected true or false");
    }
    return {};
  }

  // Gives each node its place in an order in which all that it waits for stand before it.
  Result<std::vector<std::uint32_t>> in_order() {
    if (const std::string cycle = cycle_of(out_); !cycle.empty()) {
      return invalid(
          format("its nodes wait for each other ({}); take one of them out of an 'after'", cycle));
    }
    std::vector<std::size_t> missing(out_.nodes.size());
    std::vector<std::vector<std::uint32_t>> next(out_.nodes.size());
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < out_.nodes.size(); ++i) {
      missing[i] = out_.nodes[i].after.size();
      for (const std::uint32_t before : out_.nodes[i].after) next[before].push_back(i);
      if (missing[i] == 0) order.push_back(i);
    }
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (const std::uint32_t i : next[order[k]]) {
        if (--missing[i] == 0) order.push_back(i);
      }
    }
    rank_.resize(order.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) rank_[order[k]] = k;
    return order;
  }

  // Whether `later` waits for `earlier`, directly or through others.
  bool waits_for(std::uint32_t later, std::uint32_t earlier) const {
    std::vector<std::uint32_t> open{later};
    std::vector<bool> seen(out_.nodes.size());
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const std::uint32_t before : out_.nodes[at].after) {
        if (before == earlier) return true;
        if (seen[before] || rank_[before] < rank_[earlier]) continue;
        seen[before] = true;
        open.push_back(before);
      }
    }
    return false;
  }

  // The node whose history node i goes on with; nullopt where its context begins anew.
  Result<std::optional<std::uint32_t>> continued(std::uint32_t i) {
    const Json& from = json(i);
    const auto last = last_of_.find(out_.nodes[i].agent);
    std::optional<std::uint32_t> out;
    if (!from["continues"].is_null()) {
      if (from["reset"].as_bool()) return invalid("continues: not together with reset: true");
      ASSIGN_OR_RETURN(out, place_of(from["continues"], "continues"));
    } else if (!from["reset"].as_bool() && last != last_of_.end()) {
      out = last->second;
    }
    if (out && !waits_for(i, *out)) {
      return invalid(
          format("it continues the history of '{}' and does not wait for it: name it "
                 "in 'after', name another in 'continues', or set reset: true",
                 id(*out)));
    }
    return out;
  }

  Result<void> read_prompts() {
    ASSIGN_OR_RETURN(const std::vector<std::uint32_t> order, in_order());
    contexts_.resize(out_.nodes.size());
    histories_.resize(out_.nodes.size());
    // By place in the file, an agent's node goes on with its agent's node before it.
    std::vector<std::optional<std::uint32_t>> from(out_.nodes.size());
    for (std::uint32_t i = 0; i < out_.nodes.size(); ++i) {
      auto before = continued(i);
      if (!before) return invalid(format("node '{}': {}", id(i), before.error().message));
      from[i] = *before;
      last_of_[out_.nodes[i].agent] = i;
    }
    for (const std::uint32_t i : order) {
      auto read = read_prompt(i, from[i]);
      if (!read) return invalid(format("node '{}': {}", id(i), read.error().message));
    }
    return {};
  }

  Result<void> read_prompt(std::uint32_t i, std::optional<std::uint32_t> before) {
    const Json& from = json(i);
    TrajectoryNode& to = out_.nodes[i];
    contexts_[i] = before ? contexts_[*before] : i;
    const bool said = !from["messages"].is_null();
    if (said == !from["input_tokens"].is_null()) {
      return invalid("it needs either messages or input_tokens");
    }
    if (!said) return read_lengths(i);
    for (const char* key : {"hash_ids"}) {
      if (!from[key].is_null()) return invalid(format("{}: only with input_tokens", key));
    }
    if (before && !json(*before)["input_tokens"].is_null()) {
      return invalid(format("it continues the history of '{}', which has no text", id(*before)));
    }
    Messages all = before ? histories_[*before] : Messages();
    TRY(append(from["messages"], all));
    to.messages = all;
    const Json& reply = from["reply"];
    if (!reply.is_null()) {
      if (!reply.is_object() || reply["role"].as_string("assistant") != "assistant") {
        return invalid("reply: expected the assistant's message");
      }
      Json message = Json().set("role", "assistant");
      for (const auto& [key, value] : reply.members()) message.set(key, value);
      all.push_back(std::move(message));
    }
    histories_[i] = std::move(all);
    return {};
  }

  static Result<void> append(const Json& messages, Messages& to) {
    if (!messages.is_array() || messages.size() == 0) {
      return invalid("messages: expected a list of messages");
    }
    for (const Json& one : messages.items()) {
      if (one["role"].as_string().empty()) {
        return invalid(format("messages: expected {{\"role\": …}}, found {}", one.dump()));
      }
      to.push_back(one);
    }
    return {};
  }

  Result<void> read_lengths(std::uint32_t i) {
    const Json& from = json(i);
    TrajectoryNode& to = out_.nodes[i];
    if (!from["reply"].is_null()) return invalid("reply: only with messages");
    ASSIGN_OR_RETURN(to.input_tokens, whole(from, "input_tokens", kLengthMax));
    const Json& ids = from["hash_ids"];
    const auto length = static_cast<std::uint64_t>(to.input_tokens);
    const auto block = static_cast<std::uint64_t>(out_.block_tokens);
    if (ids.is_null()) {
      // One growing context: each prompt is its beginning, as long as it says.
      to.scope = format("context {} of {}", id(contexts_[i]), out_.id);
      for (std::uint64_t k = 0; k * block < length; ++k) to.blocks.push_back(k);
      return {};
    }
    if (!ids.is_array()) return invalid("hash_ids: expected a list");
    if (ids.size() > (length + block - 1) / block) {
      return invalid(format("hash_ids: {} blocks of {} tokens are more than {} tokens", ids.size(),
                            block, length));
    }
    for (const Json& one : ids.items()) {
      if (!one.is_integer()) return invalid("hash_ids: expected whole numbers");
      to.blocks.push_back(one.as_int() < 0 ? static_cast<std::uint64_t>(one.as_int())
                                           : one.as_uint());
    }
    to.scope = in_file_ ? std::string("file") : format("hashes of {}", out_.id);
    return {};
  }

  const Json& document_;
  Trajectory out_{};
  bool in_file_ = false;
  std::size_t edges_ = 0;
  std::unordered_map<std::string, std::uint32_t> places_{};
  std::unordered_map<std::string, std::uint32_t> last_of_{};  // of each agent
  std::vector<std::uint32_t> rank_{};
  std::vector<std::uint32_t> contexts_{};  // where each node's history began
  std::vector<Messages> histories_{};      // with the node's own reply
};

class OwnReader final : public TraceReader {
 public:
  Result<void> add(const Json& document, TrajectoryBook& book) override {
    ASSIGN_OR_RETURN(Trajectory read, read_own_trajectory(document));
    return book.add(std::move(read));
  }
  Result<void> finish(TrajectoryBook&) override { return {}; }
};

}  // namespace

Result<void> check_trace_keys(const Json& object, std::span<const std::string_view> keys) {
  for (const auto& [key, value] : object.members()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    const std::string_view near = nearest(key, keys);
    return invalid(format("unknown key '{}'{}", key,
                          near.empty() ? "" : format(", did you mean '{}'?", near)));
  }
  return {};
}

Result<Trajectory> read_own_trajectory(const Json& document) {
  return OwnDocument(document).read();
}

std::unique_ptr<TraceReader> make_own_reader() { return std::make_unique<OwnReader>(); }

}  // namespace assay::dataset
