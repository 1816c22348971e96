// Target: whatever answers queries. HttpTarget (protocol/) sends them over sockets; SimTarget
// (sim/) computes what a modelled serving cluster would do. A run cannot tell which one it has.
//
// Belongs to the thread that runs the loop.
#pragma once

#include <cstddef>

#include "domain/event_sink.h"

namespace assay {

class Target {
 public:
  virtual ~Target() = default;

  // Starts the query, or queues it until a connection is free. Never waits. Calls nothing of the
  // sink but on_sent; all else is told to the sink of a later poll().
  virtual void submit(const Query& query, Instant due, EventSink& sink) = 0;

  // Works until `until`, or until something was handled, whichever is first; moves the Clock there.
  // `until` in the past: handles what is ready and returns.
  virtual void poll(Instant until, EventSink& sink) = 0;

  // Queries submitted and not yet done.
  virtual std::size_t in_flight() const = 0;

  // Ends every query in flight as `cancelled`; each still gets its on_done.
  virtual void cancel_all(EventSink& sink) = 0;
};

}  // namespace assay
