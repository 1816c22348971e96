#include "dataset/trajectory.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>

#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"
#include "dataset/conversations.h"
#include "dataset/json_rows.h"
#include "dataset/made_block.h"
#include "dataset/trace.h"

namespace assay::dataset {
namespace {

constexpr std::uint64_t kMessagesMost = 20'000'000;       // shared ones, of all nodes together
constexpr std::int64_t kMadeTokensMost = 20'000'000'000;  // of all prompts together
constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 30;
constexpr std::size_t kCycleShown = 8;

// Puts the nodes of each agent together, in the order of their first: bodies of neighbours share
// their beginnings.
void group_by_agent(Trajectory& of) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t i = 0; i < of.nodes.size(); ++i) first.try_emplace(of.nodes[i].agent, i);
  std::vector<std::uint32_t> order(of.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return first.at(of.nodes[i].agent); });
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<TrajectoryNode> nodes;
  nodes.reserve(order.size());
  for (const std::uint32_t i : order) {
    nodes.push_back(std::move(of.nodes[i]));
    for (std::uint32_t& before : nodes.back().after) before = place[before];
  }
  of.nodes = std::move(nodes);
}

}  // namespace

std::string cycle_of(const Trajectory& of) {
  // Takes away nodes that wait for nothing; what remains waits for a cycle.
  std::vector<std::size_t> missing(of.nodes.size());
  std::vector<std::vector<std::uint32_t>> next(of.nodes.size());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < of.nodes.size(); ++i) {
    missing[i] = of.nodes[i].after.size();
    for (const std::uint32_t before : of.nodes[i].after) next[before].push_back(i);
    if (missing[i] == 0) ready.push_back(i);
  }
  std::size_t taken = 0;
  for (; taken < ready.size(); ++taken) {
    for (const std::uint32_t i : next[ready[taken]]) {
      if (--missing[i] == 0) ready.push_back(i);
    }
  }
  if (taken == of.nodes.size()) return {};
  std::vector<std::uint32_t> path;
  std::vector<bool> seen(of.nodes.size());
  std::uint32_t at = 0;
  while (missing[at] == 0) ++at;
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    for (const std::uint32_t before : of.nodes[at].after) {
      if (missing[before] == 0) continue;
      at = before;
      break;
    }
  }
  const auto from = std::ranges::find(path, at);
  std::string out;
  std::size_t shown = 0;
  for (auto i = from; i != path.end() && shown < kCycleShown; ++i, ++shown) {
    out += format("{} after ", of.nodes[*i].id);
  }
  return out + (shown == kCycleShown ? "…" : of.nodes[at].id);
}

TrajectoryBook::TrajectoryBook(const Spec& spec) : spec_(spec) {
  out_.name = spec.name.empty() ? std::filesystem::path(spec.path).stem().string() : spec.name;
  out_.path = spec.path;
  out_.agents.clear();
}

std::uint32_t TrajectoryBook::agent_of(const std::string& name) {
  const auto [found, is_new] =
      agents_.try_emplace(name, static_cast<std::uint32_t>(out_.agents.size()));
  if (is_new) out_.agents.push_back(name);
  return found->second;
}

Result<Sample> TrajectoryBook::sample_of(const Trajectory& of, TrajectoryNode& node) {
  Sample out;
  out.messages = std::move(node.messages);
  out.tools = std::move(node.tools);
  out.output_tokens_max = node.output_tokens;
  out.session = of.id;
  if (!node.model.is_null()) out.overrides.set("model", std::move(node.model));
  messages_ += out.messages.size();
  if (messages_ > kMessagesMost) {
    return invalid(
        format("the histories of all nodes come to more than {} messages: use the first "
               "trajectories (rows_max)",
               with_thousands(static_cast<std::int64_t>(kMessagesMost))));
  }
  if (!out.messages.is_null()) return out;
  if (node.input_tokens < 1 || node.input_tokens > kLengthMax) {
    return invalid(format("node '{}': a prompt of {} tokens; 1 to {} can be made", node.id,
                          node.input_tokens, kLengthMax));
  }
  made_tokens_ += node.input_tokens;
  if (made_tokens_ > kMadeTokensMost) {
    return invalid(format("more than {} tokens of prompts: use the first trajectories (rows_max)",
                          with_thousands(kMadeTokensMost)));
  }
  out.made = {.tokens = node.input_tokens,
              .block = of.block_tokens,
              .scope = xxh3(node.scope),
              .rest = xxh3(format("{}\n{}", of.id, node.id)),
              .ids = std::make_shared<std::vector<std::uint64_t>>(std::move(node.blocks))};
  if (spec_.prefer_token_ids) out.input_length = node.input_tokens;
  return out;
}

Result<void> TrajectoryBook::add(Trajectory trajectory) {
  const auto named = [&trajectory](std::string_view what) {
    return invalid(format("trajectory '{}': {}", trajectory.id, what));
  };
  std::vector<TrajectoryNode>& nodes = trajectory.nodes;
  if (nodes.empty()) return named("it has no node");
  if (nodes.size() > kNodesMax) {
    return named(format("{} nodes; {} is the most", nodes.size(), kNodesMax));
  }
  std::size_t edges = 0;
  for (const TrajectoryNode& node : nodes) edges += node.after.size();
  if (edges > kEdgesMax) return named(format("{} edges; {} is the most", edges, kEdgesMax));
  if (!ids_.insert(trajectory.id).second) return named("a second one of this name");
  if (const std::string cycle = cycle_of(trajectory); !cycle.empty()) {
    return named(
        format("its nodes wait for each other ({}); take one of them out of an 'after'", cycle));
  }
  group_by_agent(trajectory);
  assay::Conversation conversation;
  for (TrajectoryNode& node : nodes) {
    const auto row = static_cast<std::uint32_t>(out_.samples.size());
    conversation.turns.push_back({row, node.delay, agent_of(node.agent)});
    conversation.after.push_back(std::move(node.after));
    auto sample = sample_of(trajectory, node);
    if (!sample) return named(sample.error().message);
    sample->turn = static_cast<std::int32_t>(conversation.turns.size());
    out_.samples.push_back(*std::move(sample));
  }
  out_.conversations.push_back(std::move(conversation));
  return {};
}

Result<Dataset> TrajectoryBook::finish(std::string sha256) {
  std::string lost;
  for (const auto& [reason, count] : dropped_) {
    out_.dropped.emplace_back(reason, count);
    lost += format("{}{} {}", lost.empty() ? "" : "; ",
                   with_thousands(static_cast<std::int64_t>(count)), reason);
  }
  if (out_.conversations.empty()) {
    return invalid(format("'{}' has no trajectory in it{}", spec_.path,
                          lost.empty() ? "" : format(" ({})", lost)));
  }
  if (!lost.empty()) out_.notes.push_back(format("'{}': {}", spec_.path, lost));
  if (made_tokens_ > 0) {
    out_.notes.push_back(format("'{}': prompts without text are made, {}", spec_.path,
                                spec_.prefer_token_ids ? "of token ids exactly as many as it says"
                                                       : "sized by an estimate of tokens a word"));
  }
  out_.sha256 = std::move(sha256);
  out_.make_prompt = [ids = spec_.prefer_token_ids](Sample& sample) { make_prompt(sample, ids); };
  return std::move(out_);
}

void make_prompt(Sample& sample, bool token_ids) {
  const MadePrompt& made = sample.made;
  std::int64_t left = made.tokens;
  for (const std::uint64_t id : *made.ids) {
    if (left <= 0) break;
    const std::int64_t size = std::min(left, made.block);
    Rng rng(Rng(made.scope).next() ^ Rng(id).next());
    append_made(sample, size, made.block, rng, token_ids);
    left -= size;
  }
  if (left <= 0) return;
  Rng rng(Rng(made.rest).next());
  append_made(sample, left, left, rng, token_ids);
}

Result<TraceKind> replay_kind(const Spec& spec, const Json& first) {
  constexpr std::array<std::string_view, 6> kNames{"trajectories", "weka", "otel",
                                                   "mooncake",     "dag",  "bailian"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (spec.format == kNames[i]) return static_cast<TraceKind>(i + 1);
  }
  const std::string_view near = nearest(spec.format, kNames);
  if (!near.empty()) {
    return invalid(format("format: unknown value '{}', did you mean '{}'?", spec.format, near));
  }
  if (first["nodes"].is_array()) return TraceKind::trajectories;
  if (first["requests"].is_array()) return TraceKind::weka;
  if (first["resourceSpans"].is_array() || first["spans"].is_array() ||
      first["span_id"].is_string() || first["spanId"].is_string()) {
    return TraceKind::otel;
  }
  if (is_bailian(first)) return TraceKind::bailian;
  if (is_mooncake(first)) return TraceKind::mooncake;
  if (first["session_id"].is_string() &&
      (first["turns"].is_array() || !first["orchestrator"].is_null())) {
    return TraceKind::dag;
  }
  return TraceKind::conversations;
}

namespace {

std::unique_ptr<TraceReader> reader_of(TraceKind kind) {
  switch (kind) {
    case TraceKind::weka:
      return make_weka_reader();
    case TraceKind::otel:
      return make_otel_reader();
    case TraceKind::mooncake:
      return make_mooncake_reader();
    case TraceKind::dag:
      return make_dag_reader();
    case TraceKind::bailian:
      return make_bailian_reader();
    case TraceKind::trajectories:
    case TraceKind::conversations:
      break;
  }
  return make_own_reader();
}

// The documents of a file: its lines; or, where its first line is none, the one value that it is,
// or that value's elements.
class Documents {
 public:
  explicit Documents(Chunks chunks) : lines_(std::move(chunks)) {}

  // The next document; nullopt at the end. An error names no place.
  Result<std::optional<Json>> next() {
    if (at_ < whole_.size()) return std::optional(std::move(whole_.make_array()[at_++]));
    if (is_whole_) return std::optional<Json>();
    ASSIGN_OR_RETURN(const auto line, lines_.next());
    if (!line) return std::optional<Json>();
    ++documents_;
    auto parsed = Json::parse(*line);
    if (!parsed && documents_ == 1) parsed = rest_of(std::string(*line), parsed.error());
    if (!parsed) return parsed.error();
    if (documents_ > 1 || !parsed->is_array()) return std::optional(*std::move(parsed));
    is_whole_ = true;
    whole_ = *std::move(parsed);
    ASSIGN_OR_RETURN(const auto more, lines_.next());
    if (more) return invalid("a list of trajectories is a whole file; more lines stand behind it");
    return next();
  }
  std::string place() const {
    return is_whole_ ? format("element {}", at_) : std::to_string(lines_.line());
  }
  Result<std::string> sha256() { return lines_.sha256(); }

 private:
  Result<Json> rest_of(std::string text, const Error& of_line) {
    if (!text.starts_with('{') && !text.starts_with('[')) return of_line;
    const std::size_t first = text.size();
    for (;;) {
      ASSIGN_OR_RETURN(const auto line, lines_.next());
      if (!line) break;
      if (text.size() + line->size() > kDocumentBytesMax) {
        return invalid("one JSON value of more than 1 GiB: write a document a line");
      }
      text += '\n';
      text += *line;
    }
    if (text.size() == first) return of_line;
    return Json::parse(text);
  }

  LineReader lines_;
  std::uint64_t documents_ = 0;
  bool is_whole_ = false;
  Json whole_ = Json::array();
  std::size_t at_ = 0;
};

}  // namespace

Result<Dataset> read_trajectories(const Spec& spec, Chunks chunks, TraceKind kind) {
  Documents documents(std::move(chunks));
  TrajectoryBook book(spec);
  const std::unique_ptr<TraceReader> reader = reader_of(kind);
  while (!book.full()) {
    const auto at = [&](const Error& error) {
      return invalid(format("{}:{}: {}", spec.path, documents.place(), error.message));
    };
    auto document = documents.next();
    if (!document) return at(document.error());
    if (!*document) break;
    if (!(*document)->is_object()) {
      return at(invalid(format("expected an object, found {}", (*document)->type_name())));
    }
    if (const auto added = reader->add(**document, book); !added) return at(added.error());
  }
  if (const auto done = reader->finish(book); !done) {
    return invalid(format("{}: {}", spec.path, done.error().message));
  }
  ASSIGN_OR_RETURN(std::string sha256, documents.sha256());
  return book.finish(std::move(sha256));
}

Result<Dataset> load_replay(const Spec& spec) {
  ASSIGN_OR_RETURN(Chunks first, Chunks::open(spec.path));
  Documents peek(std::move(first));
  auto document = peek.next();
  const bool known = document && *document;
  ASSIGN_OR_RETURN(const TraceKind kind, replay_kind(spec, known ? **document : Json()));
  if (kind == TraceKind::conversations) return load_conversations(spec);
  ASSIGN_OR_RETURN(Chunks chunks, Chunks::open(spec.path));
  return read_trajectories(spec, std::move(chunks), kind);
}

}  // namespace assay::dataset
