#include "metrics/reply_fold.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

// Keeps the parts of each reply that a test checks.
class Kept final : public ReplyFold {
 public:
  using ReplyFold::ReplyFold;
  struct One {
    std::uint32_t index = 0;
    std::size_t events = 0;
    std::string text{};
    std::string detail{};
    std::optional<TokenCount> counted{};
    std::int32_t output = 0;  // by TokenTruth
  };
  std::vector<One> replies{};
  Instant start() const { return run_start(); }
  Instant end() const { return run_end(); }

 private:
  void on_reply(const Reply& reply) override {
    One one{.index = reply.event.query.index, .events = reply.events.size()};
    one.text = reply.text;
    one.detail = reply.detail;
    if (reply.counted != nullptr) one.counted = *reply.counted;
    one.output = reply.truth->count.output;
    replies.push_back(one);
  }
};

RunInfo folded_run() {
  RunInfo info{};
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false},
                 {PhaseKind::accuracy, "gsm8k", false}};
  return info;
}

TEST(ReplyFold, hands_over_whole_replies_of_measured_phases_as_they_end) {
  Kept fold(folded_run(), true);
  const HandMadeQuery first = steady_query(1, 0, 10, 5, 1, 3);
  HandMadeQuery second = steady_query(1, 1, 10, 5, 1, 2);
  second.detail = "why";
  tell_stream(first, fold);
  tell_stream(second, fold);
  fold.on_done(event_of(second), second.detail);
  tell(steady_query(0, 2, 1, 5, 1, 4), fold);
  tell(steady_query(2, 3, 1, 5, 1, 4), fold);
  fold.on_done(event_of(first), "");
  tell(steady_query(7, 4, 10, 5, 1, 4), fold);
  tell_stream(steady_query(1, 5, 10, 5, 1, 4), fold);  // its end is not in the log
  ASSERT_EQ(fold.replies.size(), 3U) << "a phase that the header does not name is measured";
  EXPECT_EQ(fold.replies[0].index, 1U);
  EXPECT_EQ(fold.replies[0].events, 2U);
  EXPECT_EQ(fold.replies[0].text, "tok tok ");
  EXPECT_EQ(fold.replies[0].detail, "why");
  EXPECT_EQ(fold.replies[0].output, 2);
  EXPECT_EQ(fold.replies[1].index, 0U);
  EXPECT_EQ(fold.replies[1].events, 3U);
  EXPECT_EQ(fold.replies[1].output, 3);
  EXPECT_EQ(fold.replies[2].index, 4U);
}

TEST(ReplyFold, keeps_texts_only_where_it_is_asked_to) {
  for (const bool keep : {false, true}) {
    Kept fold(folded_run(), keep);
    tell(steady_query(1, 0, 10, 5, 1, 2), fold);
    EXPECT_EQ(fold.replies.at(0).text, keep ? "tok tok " : "");
    EXPECT_EQ(fold.replies.at(0).events, 2U);
  }
}

TEST(ReplyFold, a_reply_without_events_is_one_and_what_was_told_is_forgotten_with_it) {
  Kept fold(folded_run());
  HandMadeQuery q = steady_query(1, 0, 10, 5, 1, 3);
  tell(q, fold);
  q.events.clear();
  tell(q, fold);
  ASSERT_EQ(fold.replies.size(), 2U);
  EXPECT_EQ(fold.replies[1].events, 0U);
  EXPECT_EQ(fold.replies[1].output, 3) << "usage says so without a stream";
}

TEST(ReplyFold, its_truth_is_of_its_own_events) {
  Kept fold(folded_run());
  HandMadeQuery q = steady_query(1, 0, 10, 5, 1, 8);
  q.usage = Usage{};
  q.events.back().tokens_so_far = 8;
  tell(q, fold);
  HandMadeQuery other = steady_query(1, 1, 10, 5, 1, 2);
  other.usage = Usage{};
  tell(other, fold);
  ASSERT_EQ(fold.replies.size(), 2U);
  EXPECT_EQ(fold.replies[1].output, -1) << "nobody said how many tokens it held";
}

TEST(ReplyFold, counts_are_those_it_was_given) {
  TokenCounts counts;
  counts.set({.index = 0, .phase = 1}, {.input = 9, .output = 4, .after_first = 3});
  Kept fold(folded_run());
  tell(steady_query(1, 0, 10, 5, 1, 2), fold);
  fold.use_counts(&counts);
  tell(steady_query(1, 0, 10, 5, 1, 2), fold);
  tell(steady_query(1, 1, 10, 5, 1, 2), fold);
  ASSERT_EQ(fold.replies.size(), 3U);
  EXPECT_FALSE(fold.replies[0].counted);
  EXPECT_EQ(fold.replies[1].counted, (TokenCount{9, 4, 3}));
  EXPECT_EQ(fold.replies[2].counted, TokenCount{}) << "of a reply without one, nothing";
}

TEST(ReplyFold, the_run_is_from_its_first_start_or_send_to_its_last_end) {
  Kept fold(folded_run());
  EXPECT_EQ(fold.start(), Instant::max());
  EXPECT_EQ(fold.end(), Instant::none());
  fold.on_phase({0, PhaseStep::started, at_ms(1)});
  fold.on_phase({1, PhaseStep::issue_ended, at_ms(2)});
  fold.on_phase({1, PhaseStep::started, at_ms(100)});
  fold.on_phase({1, PhaseStep::started, at_ms(150)});
  EXPECT_EQ(fold.start(), at_ms(100));
  tell(steady_query(1, 0, 200, 5, 1, 2), fold);
  EXPECT_EQ(fold.start(), at_ms(100));
  EXPECT_EQ(fold.end(), at_ms(206));
  tell(steady_query(1, 1, 90, 5, 1, 2), fold);
  tell(steady_query(0, 1, 5, 500, 1, 2), fold);
  EXPECT_EQ(fold.start(), at_ms(90));
  EXPECT_EQ(fold.end(), at_ms(206));
  HandMadeQuery lost = steady_query(1, 2, 20, 5, 1, 0);
  lost.sent = Instant::none();
  lost.done = Instant::none();
  tell(lost, fold);
  EXPECT_EQ(fold.start(), at_ms(90));
  EXPECT_EQ(fold.end(), at_ms(206));
}

TEST(ReplyFold, a_tail_is_measured_only_where_it_is_asked_for) {
  RunInfo info = folded_run();
  info.phases.push_back({PhaseKind::tail, "tail", false});
  for (const bool tail : {false, true}) {
    Kept fold(info, false, tail);
    for (std::uint16_t phase = 0; phase < 4; ++phase) {
      tell(steady_query(phase, phase, 10, 5, 1, 2), fold);
    }
    ASSERT_EQ(fold.replies.size(), tail ? 2U : 1U);
    EXPECT_EQ(fold.replies[0].index, 1U);
    EXPECT_EQ(fold.replies.back().index, tail ? 3U : 1U);
  }
}

}  // namespace
}  // namespace assay::metrics
