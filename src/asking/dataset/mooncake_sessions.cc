// Mooncake's rows with a session_id, as AIPerf writes them: each row of a session is asked `delay`
// milliseconds after the reply to the one before it. Bailian's rows name the row that they follow,
// so a session is a tree; its times are arrivals, which say nothing of the time after a reply.
#include <unordered_map>

#include "base/format.h"
#include "dataset/length.h"
#include "dataset/trace.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

// A row's lengths and blocks.
Result<TrajectoryNode> session_node(const Json& row, std::int64_t block) {
  TrajectoryNode node{.scope = "file"};
  node.input_tokens = row["input_length"].as_int(-1);
  node.output_tokens = row["output_length"].as_int(-1);
  if (node.input_tokens < 1 || node.input_tokens > kLengthMax || node.output_tokens < 1 ||
      node.output_tokens > kLengthMax) {
    return invalid(format("input_length, output_length: expected 1 to {}, found {} and {}",
                          kLengthMax, row["input_length"].dump(), row["output_length"].dump()));
  }
  const Json& ids = row["hash_ids"];
  if (!ids.is_null() && !ids.is_array()) return invalid("hash_ids: expected a list");
  const std::int64_t blocks = (node.input_tokens + block - 1) / block;
  if (static_cast<std::int64_t>(ids.size()) > blocks) {
    return invalid(format("hash_ids: {} blocks of {} tokens are more than {} tokens", ids.size(),
                          block, node.input_tokens));
  }
  for (const Json& id : ids.items()) {
    if (!id.is_integer()) return invalid("hash_ids: expected whole numbers");
    node.blocks.push_back(id.as_uint());
  }
  return node;
}

// Sessions in the order of their first rows.
class SessionsReader : public TraceReader {
 public:
  Result<void> finish(TrajectoryBook& book) override {
    for (Trajectory& one : sessions_) {
      if (book.full()) break;
      TRY(book.add(std::move(one)));
    }
    return {};
  }

 protected:
  std::vector<Trajectory> sessions_{};
};

class MooncakeReader final : public SessionsReader {
 public:
  Result<void> add(const Json& row, TrajectoryBook& book) override {
    if (!is_mooncake(row)) return invalid("expected a row with input_length and output_length");
    const std::string session(row["session_id"].as_string());
    if (session.empty()) {
      return invalid(
          "session_id: a row without a session follows no reply: replay such a file "
          "with load_pattern.type: trace, without agentic_inference");
    }
    ASSIGN_OR_RETURN(TrajectoryNode node, session_node(row, kTraceBlock));
    TRY(read_delay(row["delay"], node, book));
    const auto [found, is_new] = places_.try_emplace(session, sessions_.size());
    if (is_new) sessions_.push_back({.id = session, .block_tokens = kTraceBlock});
    std::vector<TrajectoryNode>& nodes = sessions_[found->second].nodes;
    node.id = std::to_string(nodes.size() + 1);
    if (!nodes.empty()) node.after = {static_cast<std::uint32_t>(nodes.size() - 1)};
    if (nodes.size() == kNodesMax) return invalid(format("'{}': too many rows", session));
    nodes.push_back(std::move(node));
    return {};
  }

 private:
  static Result<void> read_delay(const Json& delay, TrajectoryNode& node, TrajectoryBook& book) {
    if (delay.is_null()) return {};
    const double seconds = delay.is_number() ? delay.as_double(-1) / 1e3 : -1;
    if (!(seconds >= 0)) {
      return invalid(format("delay: expected milliseconds, found {}", delay.dump()));
    }
    if (seconds > kDelayMostS) book.drop("delays above a day, cut to one");
    node.delay = Duration::from_seconds(std::min(seconds, kDelayMostS));
    return {};
  }

  std::unordered_map<std::string, std::size_t> places_{};
};

class BailianReader final : public SessionsReader {
 public:
  Result<void> add(const Json& row, TrajectoryBook& book) override {
    if (!is_bailian(row)) return invalid("expected a row with chat_id and parent_chat_id");
    const std::int64_t id = row["chat_id"].as_int();
    if (row["input_length"].as_int() == 0 || row["output_length"].as_int() == 0) {
      book.drop("rows without tokens");
      return {};
    }
    ASSIGN_OR_RETURN(TrajectoryNode node, session_node(row, kBailianBlock));
    node.id = std::to_string(id);
    const auto parent = places_.find(row["parent_chat_id"].as_int(-1));
    Place place{.session = sessions_.size()};
    if (parent != places_.end()) {
      place.session = parent->second.session;
      node.after = {parent->second.node};
    } else {
      if (row["parent_chat_id"].as_int(-1) >= 0) book.drop("chats whose parent the file lacks");
      sessions_.push_back({.id = node.id, .block_tokens = kBailianBlock});
    }
    std::vector<TrajectoryNode>& nodes = sessions_[place.session].nodes;
    if (nodes.size() == kNodesMax) return invalid(format("chat {}: too many rows", id));
    place.node = static_cast<std::uint32_t>(nodes.size());
    if (!places_.try_emplace(id, place).second) return invalid(format("chat {}: a second one", id));
    nodes.push_back(std::move(node));
    return {};
  }

 private:
  struct Place {
    std::size_t session = 0;
    std::uint32_t node = 0;
  };
  std::unordered_map<std::int64_t, Place> places_{};
};

}  // namespace

std::unique_ptr<TraceReader> make_bailian_reader() { return std::make_unique<BailianReader>(); }

std::unique_ptr<TraceReader> make_mooncake_reader() { return std::make_unique<MooncakeReader>(); }

}  // namespace assay::dataset
