// Point: one run at one operating level, as numbers. metrics/point_fold.h makes it from events,
// report/ prints it, rules/ judges it, and neither changes it.
//
// Content: only queries of performance phases are measured; warm-up is logged and shown in the
// timeline, accuracy phases are counted separately (phases). A failed query is counted and
// classified and is in no latency series. issued = completed + failed, plus the queries in flight
// where a log was cut off.
//
// Definitions (the public rules' and the reference client's, with its known faults corrected):
//   ttft      first_token − sent                      latency  done − sent
//   ttft_due  first_token − due                       latency_due  done − due
//   tpot      (done − first_token) / output tokens after the first fragment; of a reply of several
//             choices one value a choice, to the end of that choice
//   itl       gap between two fragments of one choice of a reply
// each on two clocks: `arrival`, the kernel's stamp where there is one, which is the result's
// clock; and `read`, when our reader had the bytes. The client causes the difference. Replies that
// were not streamed have a latency but no ttft, tpot or itl.
//
// Units: nanoseconds in every Distribution of time; seconds only where the name says so. An unknown
// value is absent (count 0, nullopt), never guessed. Plain data; any thread may read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "domain/event.h"
#include "domain/run_info.h"
#include "metrics/distribution.h"
#include "metrics/steady_state.h"
#include "metrics/token_truth.h"

namespace assay::metrics {

// The series that depend on the clock.
struct Latencies {
  Distribution ttft{};
  Distribution ttft_due{};
  Distribution ttft_visible{};  // first_visible − sent: the first fragment a person can read
  Distribution tpot{};
  Distribution itl{};
  Distribution latency{};
  Distribution latency_due{};
};

enum class TokenSource : std::uint8_t {
  unknown,    // no reply reported tokens: token metrics are absent
  usage,      // the server's `usage`
  mixed,      // different sources for different replies; see replies_by
  tokenizer,  // the model's own, counted by us; see campaign/token_counter.h
  fragments,  // the server's counts are impossible; each fragment counts as one token
};
std::string_view to_string(TokenSource source);

// The basis of the token counts, by token_truth.h, over successful replies of performance phases.
struct Tokens {
  TokenSource source = TokenSource::unknown;
  std::uint64_t replies_counted = 0;  // with an output count
  std::uint64_t replies_uncounted = 0;
  std::int64_t prompt = 0;
  std::int64_t output = 0;  // without the hidden ones
  std::int64_t reasoning = 0;
  std::int64_t cached = 0;
  std::int64_t hidden = 0;  // declared as reasoning and not streamed
  std::uint64_t replies_with_hidden = 0;
  std::array<std::uint64_t, kTokenBases> replies_by{};  // by the basis of their count (TokenBasis)
  // Replies whose count other evidence contradicts, in total and by Contradiction: the tokens that
  // the server reported, and those that are counted instead.
  std::uint64_t contradicted = 0;
  std::array<std::uint64_t, kContradictions> contradicted_by{};
  std::int64_t contradicted_said = 0;
  std::int64_t contradicted_counted = 0;
  std::uint64_t tokenizer_above_limit = 0;
  // Over the replies that both the tokenizer and the server counted.
  std::int64_t said_beside_tokenizer = 0;
  std::int64_t tokenizer_beside_said = 0;
  std::uint64_t empty_replies = 0;  // no fragment at all
  std::uint64_t not_streamed = 0;   // although a stream was asked for
  std::uint64_t went_on_after_done = 0;
  std::uint64_t replies_of_several_choices = 0;
  std::uint64_t short_of_choices = 0;  // fewer choices held something than were asked for
  // Events with words under a name that no reader knows (Category::unread), and their replies.
  std::uint64_t unread_events = 0;
  std::uint64_t replies_with_unread = 0;
  // Source of the tokenizer's counts: TokenCounts::source; else null.
  Json tokenizer{};
  // `usage` does not give the tokens of the first fragment: TPOT assumes one.
  bool first_fragment_taken_for_one = false;
  // Over streamed replies with a count. Above 1 the fragments carry several tokens: ITL is then the
  // gap between bursts, and TPOT is wrong by the first fragment's tokens beyond one.
  std::optional<double> per_fragment{};
};

// In words, for files and tables: "usage", "tokenizer models/m".
std::string token_source_text(const Tokens& tokens);

struct FailureExample {
  std::uint32_t query = 0;   // Query.index in its phase
  std::uint32_t sample = 0;  // row of the dataset
  std::uint16_t endpoint = 0;
  std::uint16_t http_status = 0;
  Instant at{};
  std::string detail{};
};

// Failures of one kind; `examples` are the first few.
struct Failures {
  Outcome outcome = Outcome::reset;
  std::uint64_t count = 0;
  std::vector<FailureExample> examples{};
};

struct Counts {
  std::uint64_t issued = 0;      // = completed + failed + unfinished
  std::uint64_t completed = 0;   // succeeded
  std::uint64_t failed = 0;      // ended without success
  std::uint64_t unfinished = 0;  // in flight where the log ends: a run cut off, or out of space
  std::array<std::uint64_t, kFinishReasons> finish{};  // of the completed, by FinishReason
};

// One phase of the run. Instants are none() where the log ends before them.
struct PhaseSpan {
  PhaseKind kind = PhaseKind::performance;
  std::string name{};
  Instant started = Instant::none();
  Instant issue_ended = Instant::none();
  Instant drained = Instant::none();
  Counts counts{};
};

struct Rates {
  Duration duration{};  // performance start to the end of its last query; 0 when nothing ran
  // completed / duration; sum of output tokens / duration.
  double qps = 0;
  std::optional<double> tps{};  // system_tps; absent without token counts
  // 1000 / TPOT P90 in ms: what one user sees, in tokens a second.
  std::optional<double> tps_per_user{};
  // The legacy LoadGen window of open-loop runs: from the first due send to the end of the
  // last-sent query that succeeded. Absent where it does not apply.
  std::optional<Duration> legacy_window{};
  std::optional<double> legacy_qps{};  // (completed − 1) / window
  std::optional<double> legacy_tps{};
  // Rates at which queries were due and were sent, (n − 1) / (last − first).
  std::optional<double> offered_qps{};
  std::optional<double> achieved_qps{};
};

// What replies without tokens hold instead, for the kinds of API that have a unit (domain/api.h),
// over the performance phases.
struct Units {
  std::string name{};    // in the singular; "" for a kind of tokens
  double completed = 0;  // asked for by the queries that succeeded; or seconds of sound
  std::optional<double> per_second{};
  bool of_sound = false;  // see Audio
};

// What replies brought as sound, over the queries of the performance phases that succeeded. All
// replies with sound are counted; those of unknown length (mp3 and the like) are in no figure of
// time but `first`.
struct Audio {
  std::uint64_t replies = 0;
  std::uint64_t of_unknown_length = 0;
  std::uint64_t bytes = 0;             // without the containers' heads
  double seconds = 0;                  // of sound
  std::optional<double> per_second{};  // seconds of sound a second of the run
  // One player for each streamed reply of known length; it begins with the first piece.
  std::uint64_t played = 0;
  std::uint64_t waited = 0;     // players that had to wait
  std::uint64_t underruns = 0;  // waits, together
  Distribution first{};         // first sound − sent
  Distribution first_due{};     // first sound − due
  Distribution first_read{};    // the first of them, on our reader's clock
  Distribution speed{};         // seconds of sound a second of latency, of each reply
  Distribution waits{};         // what each player that had to wait waited, together
};

// How arrivals were stamped.
struct Stamps {
  std::uint64_t events = 0;          // stream events of performance phases
  std::uint64_t kernel_stamped = 0;  // by the kernel
  std::uint64_t shares_read = 0;     // not the last of its read: its arrival is an upper bound
};

// The run over time, all phases included, from the first event on. All buckets have one width.
struct TimeBucket {
  double output_tokens = 0;  // where counts are known; else 0
  std::uint64_t fragments = 0;
  std::uint32_t sent = 0;
  std::uint32_t completed = 0;
  std::uint32_t failed = 0;
  double in_flight = 0;  // mean over the bucket
};

struct Timeline {
  // TTFT's density: kTtftBins a bucket; bin i begins at ttft_bin_low(i) and the last is open. Eight
  // bins an octave: a percentile from them is known to within 9 %.
  static constexpr int kTtftBinsAnOctave = 8;
  static constexpr std::size_t kTtftBins = 192;
  static double ttft_bin_low(std::size_t bin);  // ns: 100 µs × 2^(bin / 8), and 0 for the first

  Instant origin{};
  Duration width{};  // 125 ms, doubled as often as the run's length needs
  std::vector<TimeBucket> buckets{};
  std::vector<std::uint32_t> ttft{};  // buckets.size() × kTtftBins, by when the first token came
};

struct Point {
  RunInfo run{};
  RunEnd end{};
  Instant began = Instant::none();  // the first and the last instant of the log
  Instant ended = Instant::none();
  Counts counts{};                   // performance phases
  Counts all_phases{};               // warm-up and accuracy too
  std::vector<Failures> failures{};  // commonest first; performance phases
  std::vector<PhaseSpan> phases{};

  Latencies arrival{};  // the result's clock
  Latencies read{};
  Distribution isl{};  // tokens, where the server reported them
  Distribution osl{};
  Distribution lateness{};         // sent − due, of every query that was sent
  Distribution read_delay{};       // read − arrival, of every stream event the kernel stamped
  Distribution connect{};          // of queries that opened their connection
  Distribution fragment_tokens{};  // completion_tokens / fragments of each streamed reply

  Rates rates{};
  Tokens tokens{};
  Units units{};
  Audio audio{};  // replies 0: there was no sound
  Stamps stamps{};
  Timeline timeline{};
  // For closed loops over a known dataset: which part of the run is its result.
  std::optional<SteadyState> steady{};

  // Warnings that a reader must know before using a number, in plain words, gravest first.
  std::vector<std::string> warnings{};

  // Every query that began also ended, and the run was not cut short.
  bool complete() const { return end.state == RunState::complete && counts.unfinished == 0; }
};

// Most tokens of the replies came in the same read as the one before: something between the model
// and the client gathers them. Replies of fewer than five fragments are not counted.
bool in_bursts(const Point& point);

}  // namespace assay::metrics
