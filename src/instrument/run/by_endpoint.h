// ByEndpoint: passes events to the sink of their endpoint, for a run whose phases ask one endpoint
// each. Query.phase stays the run's, so that all its logs name queries alike.
//
// The sinks must outlive it. One thread.
#pragma once

#include <vector>

#include "base/check.h"
#include "domain/event_sink.h"

namespace assay::run {

class ByEndpoint final : public EventSink {
 public:
  // `endpoint_of_phase[p]` is an index into `sinks`.
  ByEndpoint(std::vector<std::uint16_t> endpoint_of_phase, std::vector<EventSink*> sinks)
      : endpoint_of_phase_(std::move(endpoint_of_phase)), sinks_(std::move(sinks)) {
    for (const std::uint16_t endpoint : endpoint_of_phase_) CHECK(endpoint < sinks_.size());
  }

  void on_phase(const PhaseMark& mark) override { of(mark.phase).on_phase(mark); }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    of(query.phase).on_sent(query, due, sent);
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    of(query.phase).on_stream_event(query, event, text);
  }
  void on_done(const Event& event, std::string_view detail) override {
    of(event.query.phase).on_done(event, detail);
  }
  void on_tick(Instant now) override {
    for (EventSink* const sink : sinks_) sink->on_tick(now);
  }

 private:
  EventSink& of(std::uint16_t phase) { return *sinks_[endpoint_of_phase_[phase]]; }

  std::vector<std::uint16_t> endpoint_of_phase_;
  std::vector<EventSink*> sinks_;
};

}  // namespace assay::run
