// The figures of a run's sound, from events made by hand.
#include "metrics/audio_fold.h"

#include <gtest/gtest.h>

#include "metrics/point_fold.h"
#include "metrics/steady_state.h"

namespace assay::metrics {
namespace {

// Sent 10 ms after it was due; the first sound 40 ms after that, the end 200 ms after that.
Event spoken(Duration length) {
  Event event{};
  event.due = Instant{1'000'000'000};
  event.sent = event.due + 10_ms;
  event.sent_uncertainty = 1_ms;
  event.done = event.sent + 200_ms;
  event.sound = {.first = event.sent + 40_ms,
                 .first_read_delay = 3_ms,
                 .first_uncertainty = 2_ms,
                 .bytes = 4800,
                 .length = length,
                 .pieces = 4};
  return event;
}

TEST(AudioFold, figures_are_of_the_replies_that_have_them) {
  AudioFold fold;
  fold.add(spoken(100_ms));
  Event late = spoken(400_ms);
  late.sound.underruns = 3;
  late.sound.waited = 70_ms;
  fold.add(late);
  fold.add(spoken(Duration{-1}));  // mp3
  Event whole = spoken(300_ms);    // not streamed
  whole.sound.first = Instant::none();
  fold.add(whole);
  fold.add(Event{});  // no sound at all
  const Audio audio = fold.finish(2_s, false, true);
  EXPECT_EQ(audio.replies, 4U);
  EXPECT_EQ(audio.of_unknown_length, 1U);
  EXPECT_EQ(audio.bytes, 4U * 4800);
  EXPECT_DOUBLE_EQ(audio.seconds, 0.8);
  EXPECT_DOUBLE_EQ(audio.per_second.value(), 0.4);
  EXPECT_EQ(audio.played, 2U);
  EXPECT_EQ(audio.waited, 1U);
  EXPECT_EQ(audio.underruns, 3U);
  EXPECT_EQ(audio.first.count, 3U);
  EXPECT_EQ(audio.first.max, 40e6);
  ASSERT_TRUE(audio.first.limits);
  EXPECT_EQ(audio.first.limits->max.low, 37e6);
  EXPECT_EQ(audio.first.limits->max.high, 40e6);
  EXPECT_EQ(audio.first_due.max, 50e6);
  EXPECT_EQ(audio.first_read.max, 43e6);
  EXPECT_EQ(audio.speed.count, 3U);
  EXPECT_DOUBLE_EQ(audio.speed.min, 0.5);
  EXPECT_DOUBLE_EQ(audio.speed.max, 2.0);
  EXPECT_EQ(audio.waits.count, 1U);
  EXPECT_EQ(audio.waits.max, 70e6);
}

TEST(AudioFold, only_the_first_sound_has_estimates) {
  AudioFold fold;
  for (int i = 0; i < 1000; ++i) {
    Event one = spoken(100_ms);
    one.sound.underruns = 1;
    one.sound.waited = 1_ms;
    fold.add(one);
  }
  const Audio audio = fold.finish(2_s, true, false);
  for (const Distribution* series : {&audio.first, &audio.first_due, &audio.first_read}) {
    EXPECT_TRUE(series->estimated);
    EXPECT_FALSE(series->limits);
  }
  EXPECT_FALSE(audio.speed.estimated || audio.waits.estimated);
}

TEST(AudioFold, a_steady_window_has_the_seconds_of_known_length) {
  EXPECT_DOUBLE_EQ(issued_of(spoken(400_ms), TokenCount{}).sound_s, 0.4);
  EXPECT_DOUBLE_EQ(issued_of(spoken(Duration{-1}), TokenCount{}).sound_s, 0);
  EXPECT_DOUBLE_EQ(issued_of(Event{}, TokenCount{}).sound_s, 0);
}

TEST(AudioFold, any_time_gives_a_rate_and_none_gives_none) {
  for (const Duration time : {0_ns, 1_ns}) {
    AudioFold fold;
    fold.add(spoken(1_s));
    EXPECT_DOUBLE_EQ(fold.finish(time, false, false).per_second.value_or(0), time > 0_ns ? 1e9 : 0);
  }
}

TEST(AudioFold, without_a_known_length_there_is_no_rate) {
  AudioFold fold;
  fold.add(spoken(Duration{-1}));
  const Audio audio = fold.finish(2_s, false, false);
  EXPECT_FALSE(audio.per_second);
  EXPECT_EQ(audio.played, 0U);
  EXPECT_TRUE(audio.speed.empty());
}

TEST(AudioFold, the_unit_of_a_run_of_speech_is_its_seconds_of_sound) {
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", false}};
  info.facts.set("api", "openai_speech");
  info.uncertainty = true;
  PointFold fold(info);
  fold.on_phase({0, PhaseStep::started, spoken(0_ms).sent});
  fold.on_done(spoken(100_ms), "");
  fold.on_done(spoken(400_ms), "");
  const Point point = fold.finish({RunState::complete, ""});
  EXPECT_EQ(point.audio.replies, 2U);
  EXPECT_TRUE(point.audio.first.estimated && point.audio.first.limits);
  EXPECT_TRUE(point.units.of_sound);
  EXPECT_DOUBLE_EQ(point.units.completed, 0.5);
  EXPECT_DOUBLE_EQ(point.units.per_second.value(), 2.5) << "in 200 ms";
  EXPECT_EQ(point.units.per_second, point.audio.per_second);
}

TEST(PointUnits, a_query_that_asked_for_no_number_asked_for_one) {
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", false}};
  info.facts.set("api", "openai_images");
  PointFold fold(info);
  Event event = spoken(Duration{-1});
  event.choices_asked = 0;
  fold.on_done(event, "");
  event.choices_asked = 3;
  fold.on_done(event, "");
  EXPECT_EQ(fold.finish({RunState::complete, ""}).units.completed, 4);
}

TEST(AudioFold, a_reply_without_its_instants_has_what_they_are_not_needed_for) {
  AudioFold fold;
  Event unsent = spoken(100_ms);
  unsent.sent = Instant::none();
  fold.add(unsent);
  Event at_once = spoken(100_ms);
  at_once.done = at_once.sent;
  at_once.sound.bytes = 1;
  fold.add(at_once);
  Event none = spoken(Duration{0});
  fold.add(none);
  const Audio audio = fold.finish(2_s, false, false);
  EXPECT_EQ(audio.replies, 3U);
  EXPECT_EQ(audio.of_unknown_length, 0U) << "no length is a length of 0";
  EXPECT_EQ(audio.bytes, 9601U);
  EXPECT_EQ(audio.first.count, 2U);
  EXPECT_EQ(audio.first_due.count, 2U);
  EXPECT_EQ(audio.first_read.count, 2U);
  EXPECT_EQ(audio.speed.count, 1U);
  EXPECT_EQ(audio.played, 3U);
  EXPECT_EQ(audio.waited, 0U);
  EXPECT_TRUE(audio.waits.empty());
  EXPECT_DOUBLE_EQ(audio.per_second.value(), 0.1);
}

TEST(AudioFold, the_first_sound_came_no_earlier_than_the_query_left) {
  AudioFold fold;
  Event vague = spoken(100_ms);
  vague.sound.first_uncertainty = 1_s;
  fold.add(vague);
  const Audio audio = fold.finish({}, false, true);
  EXPECT_FALSE(audio.per_second) << "no duration, no rate";
  EXPECT_EQ(audio.first.limits->min.low, 0);
  EXPECT_EQ(audio.first_due.limits->min.low, 0);
  EXPECT_EQ(audio.first_due.limits->max.high, 50e6);
  EXPECT_DOUBLE_EQ(audio.seconds, 0.1);
}

TEST(AudioFold, an_underrun_is_a_wait_of_its_reply) {
  AudioFold fold;
  for (const std::uint32_t underruns : {1U, 2U}) {
    Event event = spoken(100_ms);
    event.sound.underruns = underruns;
    event.sound.waited = 10_ms * underruns;
    fold.add(event);
  }
  const Audio audio = fold.finish(1_s, false, false);
  EXPECT_EQ(audio.played, 2U);
  EXPECT_EQ(audio.waited, 2U);
  EXPECT_EQ(audio.underruns, 3U);
  EXPECT_EQ(audio.waits.min, 10e6);
  EXPECT_EQ(audio.waits.max, 20e6);
}

}  // namespace
}  // namespace assay::metrics
