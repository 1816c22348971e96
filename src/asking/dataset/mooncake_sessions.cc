// Mooncake's rows with a session_id, as AIPerf writes them: each row of a session is asked `delay`
// milliseconds after the reply to the one before it.
#include <unordered_map>

#include "base/format.h"
#include "dataset/length.h"
#include "dataset/trace.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

class MooncakeReader final : public TraceReader {
 public:
  Result<void> add(const Json& row, TrajectoryBook& book) override {
    if (!is_mooncake(row)) return invalid("expected a row with input_length and output_length");
    const std::string session(row["session_id"].as_string());
    if (session.empty()) {
      return invalid(
          "session_id: a row without a session follows no reply: replay such a file "
          "with load_pattern.type: trace, without agentic_inference");
    }
    TrajectoryNode node{.scope = "file"};
    node.input_tokens = row["input_length"].as_int(-1);
    node.output_tokens = row["output_length"].as_int(-1);
    if (node.input_tokens < 1 || node.input_tokens > kLengthMax || node.output_tokens < 1 ||
        node.output_tokens > kLengthMax) {
      return invalid(format("input_length, output_length: expected 1 to {}, found {} and {}",
                            kLengthMax, row["input_length"].dump(), row["output_length"].dump()));
    }
    TRY(read_delay(row["delay"], node, book));
    const Json& ids = row["hash_ids"];
    if (!ids.is_null() && !ids.is_array()) return invalid("hash_ids: expected a list");
    const std::int64_t blocks = (node.input_tokens + kTraceBlock - 1) / kTraceBlock;
    if (static_cast<std::int64_t>(ids.size()) > blocks) {
      return invalid(format("hash_ids: {} blocks of {} tokens are more than {} tokens", ids.size(),
                            kTraceBlock, node.input_tokens));
    }
    for (const Json& id : ids.items()) {
      if (!id.is_integer()) return invalid("hash_ids: expected whole numbers");
      node.blocks.push_back(id.as_uint());
    }
    const auto [found, is_new] = places_.try_emplace(session, sessions_.size());
    if (is_new) sessions_.push_back({.id = session, .block_tokens = kTraceBlock});
    std::vector<TrajectoryNode>& nodes = sessions_[found->second].nodes;
    node.id = std::to_string(nodes.size() + 1);
    if (!nodes.empty()) node.after = {static_cast<std::uint32_t>(nodes.size() - 1)};
    if (nodes.size() == kNodesMax) return invalid(format("'{}': too many rows", session));
    nodes.push_back(std::move(node));
    return {};
  }

  Result<void> finish(TrajectoryBook& book) override {
    for (Trajectory& one : sessions_) {
      if (book.full()) break;
      TRY(book.add(std::move(one)));
    }
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

  std::vector<Trajectory> sessions_{};
  std::unordered_map<std::string, std::size_t> places_{};
};

}  // namespace

std::unique_ptr<TraceReader> make_mooncake_reader() { return std::make_unique<MooncakeReader>(); }

}  // namespace assay::dataset
