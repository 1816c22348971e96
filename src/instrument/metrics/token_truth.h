// TokenTruth: how many tokens one reply held, by all evidence. Only this file reconciles the
// evidence (docs/decisions/0050-token-truth.md).
//
// Evidence: the server's usage at the end; its usage as it grew in the stream; the tokenizer's
// count, where the run was counted; the fragments and their choices; the bytes of text, reasoning
// and tool calls; what the request asked for. The server's count is contradicted where it
//   unreadable   is no count: negative, a fraction, 2^31 or more, a text
//   above_limit  is above the limit that the request asked for, times the choices
//   above_bytes  is above one token a byte by more than kTokensWithoutText a choice: end, channel
//                and tool-call markers, cut stop strings have no bytes
//   below_bytes  is below one token in kTokenBytesMax bytes, of which no vocabulary has longer
//                ones; 0 beside text is the plainest case
//   fell         is below what an earlier event of the same stream said
// A contradicted count is not used. Its replacement is, in this order, the tokenizer's count, the
// number of fragments of a stream (each at least one token), no count. A tokenizer's count that is
// above the limit by more than an eighth and kTokenizerSlack tokens is not of this model; the
// server's count replaces it.
//
// Tokens that the server reports as reasoning but does not stream are hidden: they count for the
// limit, but not for the output or any TPOT. If a stream has more fragments than the rest has
// tokens, the reasoning came as text.
//
// A reply without a byte count (another tool's recording) is checked only against its limit.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "domain/event.h"
#include "metrics/token_counts.h"

namespace assay::metrics {

inline constexpr std::int64_t kTokensWithoutText = 16;
inline constexpr std::int64_t kTokenBytesMax = 256;
inline constexpr std::int64_t kTokenizerSlack = 4;

// The basis of a number of output tokens.
enum class TokenBasis : std::uint8_t { none, usage, tokenizer, fragments };
inline constexpr std::size_t kTokenBases = 4;
std::string_view to_string(TokenBasis basis);

// Why the server's count is impossible.
enum class Contradiction : std::uint8_t {
  none,
  unreadable,
  above_limit,
  above_bytes,
  below_bytes,
  fell,
};
inline constexpr std::size_t kContradictions = 6;
std::string_view to_string(Contradiction contradiction);

// When a fragment came, and when our reader had it.
struct Came {
  Instant arrival = Instant::none();
  Instant read = Instant::none();
};

// One choice of a reply, from its events.
struct ChoiceEvidence {
  std::uint16_t choice = 0;
  std::uint32_t fragments = 0;
  std::uint32_t first_bytes = 0;
  Came first{};
  Came last_fragment{};
  Came last{};  // its last fragment or its finish reason
  // Usage in its own events, if it is this choice's alone; -1: none.
  std::int64_t own_first = -1;  // with its first fragment
  std::int64_t own_last = -1;
  bool own_fell = false;
  // Usage in all events, if it is the whole reply's: its growth in this choice's events.
  std::int64_t grown_first = -1;
  std::int64_t grown = 0;
};

// The evidence in a reply's events. clear() keeps its memory. Beyond kChoicesMax choices the last
// one collects all further ones.
class ReplyEvidence {
 public:
  static constexpr std::size_t kChoicesMax = 128;

  void clear();
  // Returns when the previous fragment of the same choice came; none() if there is none, or if the
  // event is no fragment.
  Came add(const StreamEvent& event);

  const std::vector<ChoiceEvidence>& choices() const { return choices_; }  // with a fragment each
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t reasoning_bytes() const { return reasoning_bytes_; }
  std::int64_t most_said() const { return most_said_; }  // completion tokens in any event; -1
  // What usage reported by the first fragment of a reply with one choice; -1: nothing.
  std::int64_t said_first() const { return said_first_; }
  bool grew() const { return said_first_ >= 0 && !dropped_; }
  std::int64_t last_said() const { return last_said_; }

 private:
  ChoiceEvidence* choice_of(std::uint16_t choice);
  void note_usage(const StreamEvent& event, ChoiceEvidence* choice);

  std::vector<ChoiceEvidence> choices_{};
  std::uint32_t fragments_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t reasoning_bytes_ = 0;
  std::int64_t most_said_ = -1;
  std::int64_t last_said_ = -1;
  std::int64_t said_first_ = -1;
  bool dropped_ = false;
};

// One choice of several: TPOT is (last − first) / after_first.
struct ChoiceTruth {
  Came first{};
  Came last{};
  double after_first = 0;  // tokens; below 1: the choice has no TPOT
};

struct TokenTruth {
  TokenBasis basis = TokenBasis::none;
  TokenCount count{};         // -1 where unknown; without the hidden ones
  std::int32_t hidden = 0;    // reported as reasoning, not streamed
  std::int64_t claimed = -1;  // the server's count, unchanged; -1: none
  Contradiction contradiction = Contradiction::none;
  bool tokenizer_above_limit = false;
  bool first_taken_for_one = false;    // the tokens of the first fragment are unknown
  std::vector<ChoiceTruth> choices{};  // of a stream of several choices; else empty
};

// For a successful reply. `counted`: the tokenizer's counts; null where the run was not counted.
// `out` keeps its memory.
void reconcile(const Event& event, const ReplyEvidence& evidence, const TokenCount* counted,
               TokenTruth& out);

// The mean over a reply's choices of their TPOT, ns; 0: there is none.
double mean_tpot(const TokenTruth& truth);

// The same rules for callers that have only the Event (live figures), as far as they apply.
TokenCount plausible_count(const Event& event);
// Its output alone: −1 where it is unknown.
std::int32_t plausible_output(const Event& event);

}  // namespace assay::metrics
