// Why the slowest queries were slow: each one's time beyond what was to be expected of it, split
// into parts that the recording shows, and a cause where one part holds at least half of it.
//
// What was to be expected: the median of the lateness, of the connecting and of the TTFT, and the
// median TPOT times its own tokens. A query is slow where it is among the slowest hundredth and
// took half as long again as expected; so a healthy run has none. The parts are measured; which
// cause a part is named after follows from what else happened at that time:
//
//   client_late      this client sent it late, or read its reply late
//   connect          it had to open its connection
//   long_prompt      a longer prompt than usual, as much as that takes; also where another query's
//                    long prompt held up all streams
//   cache_miss       less of its prompt from the cache than usual, as much as that takes; or
//                    another query's held up all streams
//   queue            before the first token, while the server had requests waiting
//   before_first     before the first token; no word of the server on why
//   stall            all streams stood still at once, and the server with them
//   network          the server went on meanwhile: what it had made came at once behind the gap
//   preemption       it waited, or its stream stood still, while the server counted preemptions, or
//                    it waited and they had been counted as long before
//   gap              its stream alone stood still
//   batch            every token slower, while more queries were under way than usual
//   slow_tokens      every token slower, and not more under way
//
// The time of a token of prompt is the slope of a line through TTFT and uncached tokens. Where the
// server's own count of running requests is known it decides on `batch`, for a client sees its own
// load alone. "not explained" is a result.
// Pure, and one pass over a recording; one thread. About 150 bytes a query.
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
  cache_miss,
  queue,
  before_first,
  stall,
  network,
  preemption,
  gap,
  batch,
  slow_tokens,
  not_explained,
};
inline constexpr std::size_t kTailCauses = 13;
inline constexpr std::size_t kTailRepliesMin = 20;  // fewer have no usual time
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
  std::vector<TailCause> ranked{};  // those that slow queries have, the most time first
};

class TailFold final : public metrics::ReplyFold {
 public:
  explicit TailFold(const RunInfo& info) : ReplyFold(info) {}
  // `load` of the same run; `signals` may be empty. The fold is empty afterwards.
  Tail finish(const Load& load, const std::vector<Signal>& signals);

  // A stretch in which a stream brought nothing, and what came right behind it.
  struct Wait {
    Instant from{};
    Duration length{};
    Duration unread{};           // of its end, that may be this client's reading
    std::uint32_t behind = 0;    // fragments that came within 20 ms after its end
    std::uint32_t followed = 0;  // all fragments after it
  };
  struct Row {  // one reply
    std::uint32_t index = 0;
    std::uint32_t sample = 0;
    Instant due{};
    Duration late{};  // sent − due, without connecting
    Duration connect{};
    Wait first{};       // from sent to the first token
    Wait gap{};         // the longest between fragments
    Duration decode{};  // done − first token
    std::int64_t prompt = 0;
    std::int64_t cached = 0;
    double after = 0;      // tokens after the first fragment
    double fragments = 0;  // after the first
  };

 private:
  struct Finder;

  void on_reply(const metrics::Reply& reply) override;
  void count_cell(std::vector<std::int32_t>& cells, Instant at, std::int32_t by);

  std::vector<Row> rows_{};
  // Cells of 10 ms from origin_: fragments of all streams; streams that began, less those that
  // ended.
  std::vector<std::int32_t> fragments_{};
  std::vector<std::int32_t> streams_{};
  Instant origin_ = Instant::none();
};

Json to_json(const Tail& tail);
std::vector<std::pair<std::string, std::string>> tail_lines(const Tail& tail);

}  // namespace assay::observe
