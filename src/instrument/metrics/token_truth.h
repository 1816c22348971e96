// TokenTruth: how many tokens one reply held, by all the evidence there is of it. This is the one
// place that reconciles the evidence (docs/decisions/0050-token-truth.md).
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
// A contradicted count is used for nothing. What counts then is, in this order, the tokenizer, the
// fragments of a stream (each at least one token), nothing. A tokenizer's count that is above the
// limit by more than an eighth and kTokenizerSlack tokens is not of this model, and the server's
// stands in for it.
//
// Tokens that the server declares as reasoning and does not stream are hidden: they are within the
// limit, apart from the output, and in no TPOT. A stream with more fragments than the rest has
// tokens shows that the reasoning came as text.
//
// A reply whose bytes nobody counted (another tool's recording) is held against its limit only.
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

// What a number of output tokens rests on.
enum class TokenBasis : std::uint8_t { none, usage, tokenizer, fragments };
inline constexpr std::size_t kTokenBases = 4;
std::string_view to_string(TokenBasis basis);

// Why the server's count cannot be.
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

// When something came, and when our reader held it.
struct Came {
  Instant arrival = Instant::none();
  Instant read = Instant::none();
};

// One choice of a reply, as its events came.
struct ChoiceEvidence {
  std::uint16_t choice = 0;
  std::uint32_t fragments = 0;
  std::uint32_t first_bytes = 0;
  Came first{};
  Came last_fragment{};
  Came last{};  // its last fragment or its finish reason
  // Usage in its own events, taken as this choice's alone; -1: none.
  std::int64_t own_first = -1;  // with its first fragment
  std::int64_t own_last = -1;
  bool own_fell = false;
  // Usage in all events, taken as the whole reply's: what grew in this choice's events.
  std::int64_t grown_first = -1;
  std::int64_t grown = 0;
};

// What a reply's events say of its tokens. clear() keeps its memory. Beyond kChoicesMax choices the
// last one stands for all further ones.
class ReplyEvidence {
 public:
  static constexpr std::size_t kChoicesMax = 128;

  void clear();
  // Returns when the fragment before this one in the same choice came; none() where there is none,
  // or the event is no fragment.
  Came add(const StreamEvent& event);

  const std::vector<ChoiceEvidence>& choices() const { return choices_; }  // with a fragment each
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t reasoning_bytes() const { return reasoning_bytes_; }
  std::int64_t most_said() const { return most_said_; }  // completion tokens in any event; -1
  // What usage had said by the first fragment of a reply of one choice; -1 where it did not say.
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
  TokenCount count{};         // -1 where nothing is known; without the hidden ones
  std::int32_t hidden = 0;    // declared as reasoning, not streamed
  std::int64_t claimed = -1;  // the server's count, as it stood; -1: it gave none
  Contradiction contradiction = Contradiction::none;
  bool tokenizer_above_limit = false;
  bool first_taken_for_one = false;    // nothing says how many tokens the first fragment held
  std::vector<ChoiceTruth> choices{};  // of a stream of several choices; else empty
};

// Of a reply that succeeded. `counted`: by the tokenizer; null where the run was not counted.
// `out` keeps its memory.
void reconcile(const Event& event, const ReplyEvidence& evidence, const TokenCount* counted,
               TokenTruth& out);

// The mean over a reply's choices of their TPOT, ns; 0: there is none.
double mean_tpot(const TokenTruth& truth);

// The same rules as far as the Event alone bears them, for who sees no single events: live figures.
TokenCount plausible_count(const Event& event);

}  // namespace assay::metrics
