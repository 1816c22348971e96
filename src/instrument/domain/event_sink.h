// EventSink: receives the events of a run, in the order in which they happened.
//
// The event log (record/), the live figures and the folds that make a Point (metrics/) are all
// sinks, so a live run, a simulated run and a replay from disk feed the same code. Calls come from
// the one thread that owns the run's loop; `text` and `detail` are valid only during the call. On
// the measuring path an implementation must not allocate, lock or wait.
#pragma once

#include <string_view>

#include "domain/event.h"

namespace assay {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_phase(const PhaseMark& mark) = 0;
  // The last byte of the request was handed to the kernel at `sent`.
  virtual void on_sent(const Query& query, Instant due, Instant sent) = 0;
  // `text`: the fragment, unescaped UTF-8 (a character may be split between two). The whole text of
  // a reply that is not streamed comes as fragments just before on_done.
  virtual void on_stream_event(const Query& query, const StreamEvent& event,
                               std::string_view text) = 0;
  // Called exactly once for each submitted query. `detail`: why it failed, for a person; may be "".
  virtual void on_done(const Event& event, std::string_view detail) = 0;
  // Called at least every 100 ms, even without events: hand over what is buffered. It has no
  // default, so that a sink that passes calls on does not forget this one.
  virtual void on_tick(Instant now) = 0;
};

}  // namespace assay
