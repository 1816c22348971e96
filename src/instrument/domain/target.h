// Target: answers queries. HttpTarget (protocol/) sends them over sockets; SimTarget (sim/)
// computes the answers of a modelled serving cluster. A run cannot tell which one it has.
//
// Belongs to the thread that runs the loop.
#pragma once

#include <cstddef>

#include "domain/event_sink.h"

namespace assay {

class Target {
 public:
  virtual ~Target() = default;

  // Starts the query, or queues it until a connection is free. Never waits. It calls the
  // sink's on_sent at most; later poll() calls report the rest to their sink, also the on_sent of a
  // query that was queued.
  virtual void submit(const Query& query, Instant due, EventSink& sink) = 0;

  // Works until `until`, or until it has handled something; moves the Clock there. `until` in the
  // past: handles what is ready and returns.
  virtual void poll(Instant until, EventSink& sink) = 0;

  // Queries submitted and not yet done.
  virtual std::size_t in_flight() const = 0;

  // Ends every query in flight as `cancelled`; each still gets its on_done.
  virtual void cancel_all(EventSink& sink) = 0;
};

}  // namespace assay
