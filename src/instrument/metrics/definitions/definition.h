// Definition: how one tool defines TTFT, TPOT, ITL, latency, a failure, the throughput window and a
// percentile. Tools use the same names for different figures; from one recording each tool's
// figures can be computed (`assay report RUN --definitions`).
//
// One definition is one small file of this folder and names its source. It computes the tool's rule
// without the tool's faults: every definition sees the same arrivals, on the result's clock, so
// that a difference between two rows of the table comes only from the definitions.
//
// Tools start their clock before the request is written, so their time includes opening a
// connection for the query (`request_start`); our clock starts at the last request byte. Output
// tokens are counted as the tool counts them, as far as the recording has that count: by the
// server's `usage`, or by the model's tokenizer where the run's tokens were counted
// (metrics/token_counts.h). A count that the reply contradicts (metrics/token_truth.h) is used for
// no tool. The basis of the count is shown beside the figures.
//
// Durations are ns. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "domain/event.h"
#include "metrics/reply_fold.h"

namespace assay::metrics {

// Which count a tool uses first.
enum class TokenRule : std::uint8_t {
  usage,      // the server's, else a tokenizer's
  tokenizer,  // the client's own, else the server's
};
std::string_view to_string(TokenRule rule);

// One tool's figures for one reply. Absent: the tool has no such value for it.
struct Figures {
  bool success = false;  // counted as completed
  bool measured = true;  // its latencies are kept; false in tools that drop failures
  Instant start = Instant::none();
  Instant end = Instant::none();
  std::optional<double> ttft{};
  std::optional<double> tpot{};
  std::optional<double> latency{};
  std::optional<std::int64_t> tokens{};
  TokenBasis basis = TokenBasis::none;
  std::vector<double> more_tpot{};  // of a reply's further choices, in tools that separate them
  std::vector<double> itl{};        // one a gap, or one a request, as in the tool
  // Weights of the request's TPOT and ITL in their distributions.
  double tpot_weight = 1;
  double itl_weight = 1;
  void clear();
};

enum class PercentileRule : std::uint8_t {
  lower,    // sorted[floor(p (n − 1))]: a value that occurred
  linear,   // numpy's default: between the two neighbours
  inverse,  // the least value with at least p of the values at or below it
  buckets,  // from the convention's histogram buckets, as Prometheus' histogram_quantile
};

enum class WindowRule : std::uint8_t {
  run,        // start of the measured phase to the end of its last query
  requests,   // first request's start to the last one's end
  successes,  // the same over those that succeeded
  none,       // the tool defines no rate
};

struct Definition {
  std::string_view name{};    // of the flag: "vllm"
  std::string_view title{};   // "vLLM bench serve"
  std::string_view source{};  // the document or code with the rules
  // The rules in words, for the table.
  std::string_view ttft{};
  std::string_view tpot{};
  std::string_view itl{};
  std::string_view latency{};
  std::string_view failures{};
  PercentileRule percentiles = PercentileRule::linear;
  WindowRule window = WindowRule::run;
  // Poisson runs use LoadGen's window instead of `window`, unless they say otherwise: first send to
  // the end of the query that was sent last; its queries/s leave one query out.
  bool loadgen_of_poisson = false;
  TokenRule tokens = TokenRule::usage;
  // `out` is cleared before the call.
  void (*measure)(const Reply& reply, Figures& out) = nullptr;
};

extern const Definition kAssayDefinition;
extern const Definition kEndpointsDefinition;
extern const Definition kVllmDefinition;
extern const Definition kSglangDefinition;
extern const Definition kAiperfDefinition;
extern const Definition kGuidellmDefinition;
extern const Definition kInferencePerfDefinition;
extern const Definition kGenaiPerfDefinition;
extern const Definition kOtelDefinition;

// All of them, ours first.
std::span<const Definition* const> definitions();
// Null if the name is unknown.
const Definition* find_definition(std::string_view name);

std::string_view to_string(PercentileRule rule);
std::string_view to_string(WindowRule rule);

// ---- what definitions share -----------------------------------------------------------------

// The event's JSON has a non-empty `choices`: fragments, role and finish events.
constexpr bool has_choices(Category c) {
  return is_fragment(c) || c == Category::role || c == Category::finish || c == Category::unread;
}
constexpr bool is_text(Category c) { return c == Category::text; }
constexpr bool is_chunk(Category c) { return c != Category::marker; }
constexpr bool is_line(Category) { return true; }

using Wanted = bool (*)(Category);
Instant first_of(const Reply& reply, Wanted wanted);
Instant last_of(const Reply& reply, Wanted wanted);
std::uint64_t count_of(const Reply& reply, Wanted wanted);
// Gaps between neighbours among the wanted events.
void gaps_of(const Reply& reply, Wanted wanted, std::vector<double>& out);

// Start of the connection attempt if the query opened a connection, else when it was sent.
Instant request_start(const Event& event);
// Sets `tokens` and `basis`.
void take_tokens(const Reply& reply, TokenRule rule, Figures& out);
// Tokens after the first fragment: counted, or from the growth of usage, or one less than all.
std::optional<std::int64_t> tokens_after_first(const Reply& reply, const Figures& out);
// For tools that time whole responses of one kind (AIPerf, genai-perf): the first and the last
// wanted event; ITL is one value a request, (last − first) / (tokens − 1).
void measure_responses(const Reply& reply, Wanted wanted, Figures& out);
// (end − begin) / (tokens − 1); nullopt below two tokens.
std::optional<double> per_later_token(Instant begin, Instant end,
                                      std::optional<std::int64_t> tokens);
std::optional<double> per_token(Instant begin, Instant end, std::optional<std::int64_t> tokens);
std::optional<double> span(Instant begin, Instant end);

}  // namespace assay::metrics
