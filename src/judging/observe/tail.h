// Why the slowest queries were slow: each one's time beyond what was to be expected of it, split
// into parts that the recording shows, and a cause where one part holds at least half of it.
//
// What was to be expected: the median of the lateness and of the connecting; the TTFT of a prompt
// of its uncached length, by the line through all replies; the median TPOT times its own tokens. A
// query is slow where it is among the slowest hundredth and took half as long again as expected; so
// a healthy run has none. The parts are measured; which cause a part is named after follows from
// what else happened at that time:
//
//   client_late      it was sent late: the client, or its limit of queries in flight
//   connect          it had to open its connection
//   long_prompt      as many more uncached tokens of prompt as that takes
//   queue            before the first token, while the server had requests waiting
//   before_first     before the first token; no word of the server on why
//   stall            its longest gap, in which no other stream had a fragment either
//   preemption       its longest gap, alone, while the server counted preemptions
//   gap              its longest gap, alone
//   batch            every token slower, while more queries were in flight than usual
//   slow_tokens      every token slower, and not more in flight
//
// "not explained" is a result. Pure, and one pass over a recording; one thread. 80 bytes a query.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "metrics/reply_fold.h"
#include "observe/load_fold.h"
#include "observe/signal.h"

namespace assay::observe {

enum class TailCause : std::uint8_t {
  client_late,
  connect,
  long_prompt,
  queue,
  before_first,
  stall,
  preemption,
  gap,
  batch,
  slow_tokens,
  not_explained,
};
inline constexpr std::size_t kTailCauses = 11;
std::string_view to_string(TailCause cause);
// For a person, with what to turn next.
std::string_view tail_words(TailCause cause);

struct SlowQuery {
  std::uint32_t index = 0;
  std::uint32_t sample = 0;
  Instant due{};
  Duration took{};  // done − due
  Duration expected{};
  TailCause cause = TailCause::not_explained;
  double share = 0;  // of the excess, that the cause's part holds
};

struct Tail {
  std::uint64_t queries = 0;      // that succeeded
  std::vector<SlowQuery> slow{};  // slowest excess first
  std::array<std::uint64_t, kTailCauses> by_cause{};
};

class TailFold final : public metrics::ReplyFold {
 public:
  explicit TailFold(const RunInfo& info) : ReplyFold(info) {}
  // `load` of the same run; `signals` may be empty. The fold is empty afterwards.
  Tail finish(const Load& load, const std::vector<Signal>& signals);

  struct Row {  // one reply
    std::uint32_t index = 0;
    std::uint32_t sample = 0;
    Instant due{};
    Duration late{};  // sent − due, without connecting
    Duration connect{};
    Duration ttft{};
    Duration decode{};          // done − first token
    std::int64_t uncached = 0;  // tokens of the prompt
    double after = 0;           // tokens after the first fragment
    Instant gap_from{};
    Duration gap{};  // the longest
  };

 private:
  void on_reply(const metrics::Reply& reply) override;
  bool silent(Instant from, Duration gap) const;

  std::vector<Row> rows_{};
  std::vector<std::uint32_t> fragments_{};  // of all streams, a cell each 10 ms from origin_
  Instant origin_ = Instant::none();
};

Json to_json(const Tail& tail);
std::vector<std::pair<std::string, std::string>> tail_lines(const Tail& tail);

}  // namespace assay::observe
