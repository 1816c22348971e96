#include "run/by_endpoint.h"

#include <gtest/gtest.h>

#include <vector>

namespace assay::run {
namespace {

struct Heard final : EventSink {
  void on_phase(const PhaseMark& mark) override { phases.push_back(mark.phase); }
  void on_sent(const Query& query, Instant, Instant) override { sent.push_back(query.phase); }
  void on_stream_event(const Query& query, const StreamEvent&, std::string_view) override {
    events.push_back(query.phase);
  }
  void on_done(const Event& event, std::string_view) override { done.push_back(event.query.phase); }
  void on_tick(Instant) override { ++ticks; }

  std::vector<std::uint16_t> phases{};
  std::vector<std::uint16_t> sent{};
  std::vector<std::uint16_t> events{};
  std::vector<std::uint16_t> done{};
  int ticks = 0;
};

TEST(ByEndpoint, each_hears_of_its_own_phases_and_of_the_time) {
  Heard a;
  Heard b;
  ByEndpoint sink({0, 1, 1, 0}, {&a, &b});
  for (const std::uint16_t phase : std::vector<std::uint16_t>{0, 1, 2, 3}) {
    const Query query{.phase = phase};
    sink.on_phase({phase, PhaseStep::started, Instant{}});
    sink.on_sent(query, Instant{}, Instant{});
    sink.on_stream_event(query, {}, "");
    sink.on_done(Event{.query = query}, "");
    sink.on_tick(Instant{});
  }
  for (const Heard* heard : {&a, &b}) {
    const std::vector<std::uint16_t> own =
        heard == &a ? std::vector<std::uint16_t>{0, 3} : std::vector<std::uint16_t>{1, 2};
    EXPECT_EQ(heard->phases, own);
    EXPECT_EQ(heard->sent, own);
    EXPECT_EQ(heard->events, own);
    EXPECT_EQ(heard->done, own);
    EXPECT_EQ(heard->ticks, 4);
  }
}

TEST(ByEndpoint, a_phase_whose_endpoint_has_no_sink_is_our_own_fault) {
  Heard a;
  EXPECT_DEATH(ByEndpoint({0, 1}, {&a}), "endpoint < sinks_.size");
}

}  // namespace
}  // namespace assay::run
