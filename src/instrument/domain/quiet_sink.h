// QuietSink: a sink that takes some of a run's calls, and knowingly leaves out those that it does
// not override. A sink that passes calls on is an EventSink itself, so that it forgets none.
#pragma once

#include <string_view>

#include "domain/event_sink.h"

namespace assay {

class QuietSink : public EventSink {
 public:
  void on_phase(const PhaseMark&) override {}
  void on_sent(const Query&, Instant, Instant) override {}
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override {}
  void on_done(const Event&, std::string_view) override {}
  void on_tick(Instant) override {}
};

}  // namespace assay
