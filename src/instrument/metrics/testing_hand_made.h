// For the room's own tests and benchmarks: hand-made queries, passed to a sink as in a run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/event_sink.h"

namespace assay::metrics {

struct HandMadeFragment {
  Instant arrival{};
  std::string text{};
  Category category = Category::text;
  Duration read_delay{};
  bool shares_read = false;
  Duration uncertainty{};
  std::uint16_t choice = 0;
  std::int32_t tokens_so_far = -1;
};

struct HandMadeQuery {
  Query query{};
  Instant due{};
  Instant sent{};
  std::vector<HandMadeFragment> events{};
  Instant done{};
  Usage usage{};
  Outcome outcome = Outcome::ok;
  FinishReason finish = FinishReason::stop;
  std::string detail{};
  std::uint16_t http_status = 200;
  bool streamed = true;
  std::int32_t tokens_max = -1;
  std::uint64_t received_bytes = 0;  // 0: not counted on a wire
  bool kernel_stamped = true;
};

// The Event that a target would make from it.
inline Event event_of(const HandMadeQuery& q) {
  Event event{};
  event.query = q.query;
  event.outcome = q.outcome;
  event.finish = q.finish;
  event.streamed = q.streamed;
  event.kernel_stamped = q.kernel_stamped;
  event.http_status = q.http_status;
  event.due = q.due;
  event.sent = q.sent;
  event.done = q.done;
  event.usage = q.usage;
  event.tokens_max = q.tokens_max;
  event.received_bytes = q.received_bytes;
  for (const HandMadeFragment& e : q.events) {
    if (event.stream_events++ == 0) event.first_byte = event.first_event = e.arrival;
    if (!is_fragment(e.category)) continue;
    event.last_token = e.arrival;
    event.output_bytes += e.text.size();
    if (event.fragments++ == 0) {
      event.first_token = e.arrival;
      event.read_delay_first_token = e.read_delay;
      event.first_token_uncertainty = e.uncertainty;
      event.first_fragment_bytes = static_cast<std::uint32_t>(e.text.size());
    }
    if (e.category == Category::text && !event.first_visible.known()) {
      event.first_visible = e.arrival;
      event.first_visible_uncertainty = e.uncertainty;
    }
  }
  return event;
}

inline void tell_sent(const HandMadeQuery& q, EventSink& sink) {
  if (q.sent.known()) sink.on_sent(q.query, q.due, q.sent);
}

inline void tell_stream(const HandMadeQuery& q, EventSink& sink) {
  for (const HandMadeFragment& e : q.events) {
    StreamEvent event{};
    event.category = e.category;
    event.kernel_stamped = q.kernel_stamped;
    event.shares_read = e.shares_read;
    event.bytes = static_cast<std::uint32_t>(e.text.size());
    event.choice = e.choice;
    event.tokens_so_far = e.tokens_so_far;
    event.arrival = e.arrival;
    event.read = e.arrival + e.read_delay;
    event.uncertainty = e.uncertainty;
    sink.on_stream_event(q.query, event, e.text);
  }
}

inline void tell(const HandMadeQuery& q, EventSink& sink) {
  tell_sent(q, sink);
  tell_stream(q, sink);
  sink.on_done(event_of(q), q.detail);
}

constexpr Instant at_ms(std::int64_t ms) { return Instant{ms * 1'000'000}; }

// Query `index` of phase `phase`: sent at `sent_ms`, first token after `ttft_ms`, then one fragment
// each `itl_ms`, `tokens` in all, one token each.
inline HandMadeQuery steady_query(std::uint16_t phase, std::uint32_t index, std::int64_t sent_ms,
                                  std::int64_t ttft_ms, std::int64_t itl_ms, int tokens) {
  HandMadeQuery q{};
  q.query.phase = phase;
  q.query.index = index;
  q.query.sample = index;
  q.due = q.sent = at_ms(sent_ms);
  for (int i = 0; i < tokens; ++i) {
    q.events.push_back({at_ms(sent_ms + ttft_ms + i * itl_ms), "tok "});
  }
  q.done = at_ms(sent_ms + ttft_ms + (tokens - 1) * itl_ms);
  q.usage.prompt_tokens = 100;
  q.usage.completion_tokens = tokens;
  return q;
}

}  // namespace assay::metrics
