// Trajectory: what agents of one task asked a model, as a graph: a node is a query, and it is due
// when all that it waits for have ended, plus its tools' delay. The common form that the readers of
// traces fill (docs/formats/trajectories.md) and that becomes samples and conversations. Pure.
//
//   our own format    trajectory_file.cc   one trajectory a line
//   Weka              weka.cc              an object a conversation, with sub-agents' markers
//   OpenTelemetry     otel_spans.cc        spans of generative AI, ordered by their times
//   Mooncake          mooncake_sessions.cc rows with a session_id, turn after turn
//   Bailian           mooncake_sessions.cc rows that name the one before them
//   AIPerf's DAG      dag.cc               a conversation a line, which begins others
//
// A node's prompt is its messages, or is made of its length: blocks that the trace names by hash,
// then text of its own. The same hash in one scope is the same block, so prefixes are shared as
// they were: exactly as token ids, as text by the estimate of synthetic.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "dataset/chunks.h"
#include "dataset/dataset.h"
#include "domain/sample.h"

namespace assay::dataset {

inline constexpr std::size_t kNodesMax = 20'000;   // in one trajectory
inline constexpr std::size_t kEdgesMax = 200'000;  // in one trajectory
inline constexpr double kDelayMostS = 86'400;

struct TrajectoryNode {
  std::string id{};  // for messages and for `waits`; unique in its trajectory
  std::string agent = "main";
  std::vector<std::uint32_t> after{};  // indices of nodes
  Duration delay{};
  Messages messages{};  // the whole prompt; or null, and then:
  std::int64_t input_tokens = 0;
  std::vector<std::uint64_t> blocks{};  // hashes of the prompt's first blocks
  std::string scope{};                  // in which equal hashes are equal blocks
  std::int64_t output_tokens = 0;       // 0: the run's own limit
  Json model{};                         // a text; null: the run's
  Json tools{};
};

struct Trajectory {
  std::string id{};
  std::int64_t block_tokens = 0;
  std::vector<TrajectoryNode> nodes{};
};

// The nodes of a cycle by their names ("a after c after a"); "" if there is none.
std::string cycle_of(const Trajectory& trajectory);

// Collects trajectories as a dataset: a sample a node, in the order of the nodes.
class TrajectoryBook {
 public:
  // `spec` must outlive the book.
  explicit TrajectoryBook(const Spec& spec);

  // Fails on a cycle, on two trajectories of one name and on a prompt that cannot be made.
  Result<void> add(Trajectory trajectory);
  // Counts what a file has and a replay leaves out or changes.
  void drop(std::string_view reason, std::uint64_t count = 1) {
    dropped_[std::string(reason)] += count;
  }
  bool full() const { return spec_.rows_max > 0 && out_.conversations.size() >= spec_.rows_max; }
  Result<Dataset> finish(std::string sha256);

 private:
  Result<Sample> sample_of(const Trajectory& of, TrajectoryNode& node);
  std::uint32_t agent_of(const std::string& name);

  const Spec& spec_;
  Dataset out_{};
  std::map<std::string, std::uint64_t> dropped_{};
  std::map<std::string, std::uint32_t, std::less<>> agents_{};
  std::set<std::string, std::less<>> ids_{};  // of trajectories
  std::uint64_t messages_ = 0;                // of all nodes
  std::int64_t made_tokens_ = 0;
};

enum class TraceKind : std::uint8_t {
  conversations,
  trajectories,
  weka,
  otel,
  mooncake,
  dag,
  bailian,
};
// What a file to be replayed is: by `format`, or by its first row.
Result<TraceKind> replay_kind(const Spec& spec, const Json& first);

// A reader of one kind of trace. add() takes a document, a line or an element of the file; a kind
// whose trajectories stand in several documents gives them in finish().
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  virtual Result<void> add(const Json& document, TrajectoryBook& book) = 0;
  virtual Result<void> finish(TrajectoryBook& book) = 0;
};
std::unique_ptr<TraceReader> make_own_reader();       // trajectory_file.cc
std::unique_ptr<TraceReader> make_mooncake_reader();  // mooncake_sessions.cc
std::unique_ptr<TraceReader> make_weka_reader();      // weka.cc
std::unique_ptr<TraceReader> make_otel_reader();      // otel_spans.cc
std::unique_ptr<TraceReader> make_dag_reader();       // dag.cc
std::unique_ptr<TraceReader> make_bailian_reader();   // mooncake_sessions.cc

// An unknown key is an error, with the nearest known one.
Result<void> check_trace_keys(const Json& object, std::span<const std::string_view> keys);
// A document of our own format (trajectory_file.cc).
Result<Trajectory> read_own_trajectory(const Json& document);

// Fills `prompt` or `input_tokens` from `made`.
void make_prompt(Sample& sample, bool token_ids);

// Reads a file of any of the kinds.
Result<Dataset> load_replay(const Spec& spec);
Result<Dataset> read_trajectories(const Spec& spec, Chunks chunks, TraceKind kind);

}  // namespace assay::dataset
