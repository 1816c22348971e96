// ClockShift: an EventSink that passes one rank's records on in the reference's time. All instants
// of a query get the same offset, that of its sending: its latencies stay as its host measured
// them, whatever the clocks do meanwhile.
//
// It also knows the queries in flight, so that those of a rank that died can be given an end. One
// thread.
#pragma once

#include <string_view>

#include "base/flat_map.h"
#include "domain/event_sink.h"
#include "record/clock_map.h"

namespace assay::record {

class ClockShift final : public EventSink {
 public:
  // `map` and `sink` must outlive this.
  ClockShift(const ClockMap& map, EventSink& sink) : map_(map), sink_(sink) {}

  void on_phase(const PhaseMark& mark) override;
  void on_sent(const Query& query, Instant due, Instant sent) override;
  void on_stream_event(const Query& query, const StreamEvent& event,
                       std::string_view text) override;
  void on_done(const Event& event, std::string_view detail) override;
  void on_tick(Instant now) override;

  // Ends every query in flight as cancelled at `last` (own time), in the order of their indices.
  // Returns how many there were.
  std::uint64_t end_all(Instant last, std::string_view why);

 private:
  struct Asked {
    Query query{};
    Instant due{};   // in the reference's time
    Instant sent{};  // the same
    Duration offset{};
  };
  Duration offset_of(const Query& query, Instant own);

  const ClockMap& map_;
  EventSink& sink_;
  FlatMap<Asked> in_flight_{};
};

}  // namespace assay::record
