// Tee: passes a run's events to several sinks, in their order; skips null ones.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "domain/event_sink.h"

namespace assay {

class Tee final : public EventSink {
 public:
  explicit Tee(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {
    std::erase(sinks_, nullptr);
  }
  void on_phase(const PhaseMark& mark) override {
    for (EventSink* sink : sinks_) sink->on_phase(mark);
  }
  void on_sent(const Query& query, Instant due, Instant sent) override {
    for (EventSink* sink : sinks_) sink->on_sent(query, due, sent);
  }
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override {
    for (EventSink* sink : sinks_) sink->on_stream_event(query, event, text);
  }
  void on_done(const Event& event, std::string_view detail) override {
    for (EventSink* sink : sinks_) sink->on_done(event, detail);
  }
  void on_tick(Instant now) override {
    for (EventSink* sink : sinks_) sink->on_tick(now);
  }

 private:
  std::vector<EventSink*> sinks_;
};

}  // namespace assay
