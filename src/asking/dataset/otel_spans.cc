#include "dataset/otel_spans.h"

#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

constexpr std::size_t kSpansMax = 20'000;  // of one trace
constexpr std::size_t kPairsMax = 200'000'000;
constexpr std::int64_t kBlock = 16;
constexpr int kSpanDepthMax = 1000;

// Makes a trajectory of the spans of one trace. Each query belongs to the nearest agent's span
// above it. A query waits for those that ended before it began and whose agent is its own, or
// stands above or below its own: agents side by side do not wait for each other. What another
// predecessor waits for already is left out.
class TraceOfSpans {
 public:
  TraceOfSpans(std::string id, std::vector<OtelSpan> spans, TrajectoryBook& book)
      : spans_(std::move(spans)), book_(book) {
    out_.id = std::move(id);
    out_.block_tokens = kBlock;
  }

  Result<Trajectory> read() {
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      if (!place_.try_emplace(spans_[i].id, i).second) {
        return invalid(format("trace '{}': two spans are called '{}'", out_.id, spans_[i].id));
      }
    }
    take_queries();
    if (queries_.size() > kNodesMax || queries_.size() * queries_.size() > kPairsMax) {
      return invalid(format("trace '{}': {} queries are too many", out_.id, queries_.size()));
    }
    std::ranges::stable_sort(queries_, [this](std::size_t a, std::size_t b) {
      const OtelSpan& left = spans_[a];
      const OtelSpan& right = spans_[b];
      if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
      return left.end_ns < right.end_ns;
    });
    for (const std::size_t query : queries_) agents_.push_back(agents_above(query));
    for (std::size_t i = 0; i < queries_.size(); ++i) add_node(i);
    return std::move(out_);
  }

 private:
  const OtelSpan& span(std::size_t query) const { return spans_[queries_[query]]; }

  void take_queries() {
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      const OtelSpan& one = spans_[i];
      if (one.kind != SpanKind::query) continue;
      const bool prompt = one.messages.is_array() || one.input_tokens > 0;
      if (one.failed && one.output_tokens < 1) {
        book_.drop("queries that had failed without a reply");
      } else if (!prompt) {
        book_.drop("queries without messages and without a number of tokens");
      } else {
        queries_.push_back(i);
      }
    }
  }

  // The agents' spans above, nearest first; the trace itself stands last.
  std::vector<std::size_t> agents_above(std::size_t at) const {
    std::vector<std::size_t> out;
    int depth = 0;
    for (auto found = place_.find(spans_[at].parent);
         found != place_.end() && depth < kSpanDepthMax;
         found = place_.find(spans_[found->second].parent), ++depth) {
      if (spans_[found->second].kind == SpanKind::agent) out.push_back(found->second);
    }
    out.push_back(spans_.size());
    return out;
  }

  // Whether one's agent is the other's or stands above it.
  bool related(std::size_t a, std::size_t b) const {
    const auto has = [](const std::vector<std::size_t>& all, std::size_t one) {
      return std::ranges::find(all, one) != all.end();
    };
    return has(agents_[a], agents_[b].front()) || has(agents_[b], agents_[a].front());
  }

  void add_node(std::size_t i) {
    const OtelSpan& from = span(i);
    TrajectoryNode node{.id = from.id};
    if (agents_[i].front() < spans_.size()) node.agent = spans_[agents_[i].front()].agent;
    if (agents_[i].front() == spans_.size() || node.agent.empty()) node.agent = from.agent;
    if (node.agent.empty()) node.agent = agents_[i].size() == 1 ? "main" : "agent";
    // From the latest back: one is left out if a later one began after its end.
    std::vector<std::uint32_t> before;
    std::int64_t last_end = first_start();
    for (std::size_t k = i; k-- > 0;) {
      if (span(k).end_ns > from.start_ns || !related(k, i)) continue;
      const bool covered = std::ranges::any_of(before, [&](std::uint32_t later) {
        return span(k).end_ns <= span(later).start_ns && related(k, later);
      });
      if (covered) continue;
      before.push_back(static_cast<std::uint32_t>(k));
      last_end = before.size() == 1 ? span(k).end_ns : std::max(last_end, span(k).end_ns);
    }
    std::ranges::reverse(before);
    node.after = std::move(before);
    node.delay = Duration{std::max<std::int64_t>(0, from.start_ns - last_end)};
    const Duration most = Duration::from_seconds(kDelayMostS);
    if (most < node.delay) book_.drop("delays above a day, cut to one");
    node.delay = std::min(node.delay, most);
    node.output_tokens = std::max<std::int64_t>(0, from.output_tokens);
    node.tools = from.tools;
    node.messages = from.messages;
    if (!node.messages.is_array()) set_lengths(i, node);
    out_.nodes.push_back(std::move(node));
  }

  std::int64_t first_start() const { return span(0).start_ns; }

  // Without content only lengths are known; what came from a cache is the beginning that the
  // queries of one agent share.
  void set_lengths(std::size_t i, TrajectoryNode& node) {
    const OtelSpan& from = span(i);
    node.input_tokens = from.input_tokens;
    node.scope = format("cached of {} of {}", agents_[i].front(), out_.id);
    if (from.cached_tokens < 0) {
      book_.drop("queries whose reuse of a cache is unknown, sent with none");
    }
    const std::int64_t cached =
        std::min(std::max<std::int64_t>(from.cached_tokens, 0), from.input_tokens);
    for (std::int64_t k = 0; k < cached / kBlock; ++k) {
      node.blocks.push_back(static_cast<std::uint64_t>(k));
    }
  }

  std::vector<OtelSpan> spans_;
  TrajectoryBook& book_;
  Trajectory out_{};
  std::unordered_map<std::string, std::size_t> place_{};
  std::vector<std::size_t> queries_{};              // spans, in order of their start
  std::vector<std::vector<std::size_t>> agents_{};  // above each of them
};

class OtelReader final : public TraceReader {
 public:
  Result<void> add(const Json& document, TrajectoryBook&) override {
    ASSIGN_OR_RETURN(const std::vector<const Json*> found, spans_of(document));
    for (const Json* const json : found) {
      ASSIGN_OR_RETURN(OtelSpan span, read_span(*json));
      const auto [place, is_new] = places_.try_emplace(span.trace, traces_.size());
      if (is_new) traces_.emplace_back(span.trace, std::vector<OtelSpan>());
      std::vector<OtelSpan>& spans = traces_[place->second].second;
      if (spans.size() == kSpansMax) {
        return invalid(format("trace '{}': more than {} spans", span.trace, kSpansMax));
      }
      spans.push_back(std::move(span));
    }
    return {};
  }

  Result<void> finish(TrajectoryBook& book) override {
    for (auto& [id, spans] : traces_) {
      if (book.full()) break;
      ASSIGN_OR_RETURN(Trajectory read, TraceOfSpans(id, std::move(spans), book).read());
      if (read.nodes.empty()) {
        book.drop("traces without a query that can be asked");
        continue;
      }
      TRY(book.add(std::move(read)));
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, std::vector<OtelSpan>>> traces_{};
  std::unordered_map<std::string, std::size_t> places_{};
};

}  // namespace

std::unique_ptr<TraceReader> make_otel_reader() { return std::make_unique<OtelReader>(); }

}  // namespace assay::dataset
