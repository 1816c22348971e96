#include "metrics/token_truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

using testing::Contains;
using testing::HasSubstr;

// One event of a made reply: its bytes and its time in ms.
struct Piece {
  std::int64_t ms = 0;
  std::size_t bytes = 4;
  std::int32_t so_far = -1;
  std::uint16_t choice = 0;
  Category category = Category::text;
};

HandMadeQuery query_of(const std::vector<Piece>& pieces, std::int32_t said) {
  HandMadeQuery q{};
  q.due = q.sent = at_ms(0);
  for (const Piece& piece : pieces) {
    HandMadeFragment e{.arrival = at_ms(piece.ms),
                       .text = std::string(is_fragment(piece.category) ? piece.bytes : 0, 'x'),
                       .category = piece.category};
    e.choice = piece.choice;
    e.tokens_so_far = piece.so_far;
    q.events.push_back(e);
    q.done = at_ms(piece.ms);
  }
  q.usage.completion_tokens = said;
  q.received_bytes = 5000;
  return q;
}

// `fragments` of `bytes` each, 10 ms apart from 100 ms on.
std::vector<Piece> stream(int fragments, std::size_t bytes = 4) {
  std::vector<Piece> out;
  for (int i = 0; i < fragments; ++i) out.push_back({.ms = 100 + 10 * i, .bytes = bytes});
  return out;
}

TokenTruth truth_of(const HandMadeQuery& q, const TokenCount* counted = nullptr) {
  ReplyEvidence evidence;
  for (const HandMadeFragment& e : q.events) {
    StreamEvent one{};
    one.category = e.category;
    one.bytes = static_cast<std::uint32_t>(e.text.size());
    one.choice = e.choice;
    one.tokens_so_far = e.tokens_so_far;
    one.arrival = one.read = e.arrival;
    evidence.add(one);
  }
  TokenTruth out;
  reconcile(event_of(q), evidence, counted, out);
  return out;
}

Point point_of_queries(const std::vector<HandMadeQuery>& queries,
                       const TokenCounts* counts = nullptr) {
  RunInfo info{};
  info.phases = {{PhaseKind::performance, "performance", false}};
  PointFold fold(info, {.counts = counts});
  std::uint32_t index = 0;
  for (HandMadeQuery q : queries) {
    q.query.index = index++;
    tell(q, fold);
  }
  return fold.finish({RunState::complete, ""});
}

TEST(TokenTruth, each_contradiction_by_its_rule) {
  struct Case {
    const char* name;
    int fragments;
    std::size_t bytes;
    std::int32_t said;
    std::int32_t limit;
    Contradiction expected;
    std::int32_t counted;
  };
  const Contradiction none = Contradiction::none;
  for (const Case& c : std::vector<Case>{
           {"honest", 20, 4, 20, 1024, none, 20},
           {"several tokens a fragment", 5, 16, 20, 1024, none, 20},
           {"a token a byte and markers", 20, 1, 36, 1024, none, 36},
           {"one more than that", 20, 1, 37, 1024, Contradiction::above_bytes, 20},
           {"emoji in four tokens each", 10, 4, 40, 1024, none, 40},
           {"exactly the limit", 20, 4, 20, 20, none, 20},
           {"above the limit", 20, 4, 21, 20, Contradiction::above_limit, 20},
           {"above it, and no limit is known", 20, 4, 21, -1, none, 21},
           {"a hundred thousand", 2, 5, 100'000, 1024, Contradiction::above_limit, 2},
           {"the same without a limit", 2, 5, 100'000, -1, Contradiction::above_bytes, 2},
           {"0 beside text", 20, 4, 0, 1024, Contradiction::below_bytes, 20},
           {"a token of 256 bytes", 1, 256, 1, 1024, none, 1},
           {"a token of 257 bytes", 1, 257, 1, 1024, Contradiction::below_bytes, 1},
           {"fewer than fragments", 20, 4, 5, 1024, none, 5},
           {"no count", 20, 4, kNoCount, 1024, Contradiction::unreadable, 20},
           {"not said", 20, 4, -1, 1024, none, -1},
           {"empty, 0", 0, 0, 0, 1024, none, 0},
           {"empty, its end counted", 0, 0, 1, 1024, none, 1},
           {"empty, 500", 0, 0, 500, 1024, Contradiction::above_bytes, -1},
       }) {
    HandMadeQuery q = query_of(stream(c.fragments, c.bytes), c.said);
    q.tokens_max = c.limit;
    const TokenTruth truth = truth_of(q);
    EXPECT_EQ(truth.contradiction, c.expected) << c.name << to_string(truth.contradiction);
    EXPECT_EQ(truth.count.output, c.counted) << c.name;
    EXPECT_EQ(truth.count.after_first, c.counted < 0 ? -1 : c.counted - 1) << c.name;
    EXPECT_TRUE(c.expected == none || truth.basis != TokenBasis::usage) << c.name;
  }
}

TEST(TokenTruth, usage_that_falls_is_no_count) {
  std::vector<Piece> pieces = stream(20);
  pieces[18].so_far = 19;
  EXPECT_EQ(truth_of(query_of(pieces, 5)).contradiction, Contradiction::fell);
  EXPECT_EQ(truth_of(query_of(pieces, 20)).contradiction, Contradiction::none);
}

TEST(TokenTruth, a_recording_without_bytes_is_held_against_its_limit_only) {
  HandMadeQuery q = query_of(stream(2, 0), 500);
  q.received_bytes = 0;
  EXPECT_EQ(truth_of(q).contradiction, Contradiction::none);
  q.tokens_max = 100;
  EXPECT_EQ(truth_of(q).contradiction, Contradiction::above_limit);
}

TEST(TokenTruth, growing_usage_tells_the_size_of_the_first_burst) {
  std::vector<Piece> pieces;
  for (int i = 0; i < 5; ++i) pieces.push_back({.ms = 100 + 40 * i, .so_far = 4 * (i + 1)});
  TokenTruth truth = truth_of(query_of(pieces, 20));
  EXPECT_EQ(truth.count.after_first, 16);
  EXPECT_FALSE(truth.first_taken_for_one);
  const Point point = point_of_queries({query_of(pieces, 20)});
  EXPECT_NEAR(point.arrival.tpot.mean, 10e6, 1);
  // Usage in an event of its own behind the first fragment says the same.
  std::vector<Piece> apart = {
      {.ms = 100}, {.ms = 101, .so_far = 4, .category = Category::usage}, {.ms = 260}};
  EXPECT_EQ(truth_of(query_of(apart, 20)).count.after_first, 16);
  // Impossible sizes are not used: nothing, all, more than the bytes allow, or one that shrinks.
  for (const std::int32_t first : {0, 20, 21}) {
    pieces[0].so_far = first;
    truth = truth_of(query_of(pieces, 20));
    EXPECT_TRUE(truth.first_taken_for_one || truth.basis != TokenBasis::usage) << first;
    EXPECT_NE(truth.count.after_first, 20 - first) << first;
  }
  std::vector<Piece> large = stream(20, 2);
  large[0].so_far = 19;
  EXPECT_TRUE(truth_of(query_of(large, 40)).first_taken_for_one);
}

TEST(TokenTruth, hidden_reasoning_is_apart_within_the_limit_and_in_no_tpot) {
  HandMadeQuery q = query_of(stream(20), 1020);
  q.usage.reasoning_tokens = 1000;
  q.tokens_max = 2000;
  const Point point = point_of_queries({q});
  EXPECT_EQ(point.tokens.hidden, 1000);
  EXPECT_EQ(point.tokens.output, 20);
  EXPECT_NEAR(point.arrival.tpot.mean, 10e6, 1);
  EXPECT_THAT(point.warnings, Contains(HasSubstr("1,000 tokens of reasoning in 1 replies")));
  q.tokens_max = 1019;
  EXPECT_EQ(truth_of(q).contradiction, Contradiction::above_limit);
  // Reasoning that was streamed, as reasoning or as text, is not hidden.
  std::vector<Piece> shown = stream(20);
  for (std::size_t i = 0; i < 10; ++i) shown[i].category = Category::reasoning;
  HandMadeQuery open = query_of(shown, 20);
  open.usage.reasoning_tokens = 10;
  EXPECT_EQ(truth_of(open).count.output, 20);
  HandMadeQuery inline_text = query_of(stream(60), 60);
  inline_text.usage.reasoning_tokens = 40;
  EXPECT_EQ(truth_of(inline_text).hidden, 0);
}

TEST(TokenTruth, choices_are_added_in_throughput_and_apart_in_tpot_and_gaps) {
  struct Case {
    const char* name;
    bool own;
    bool whole;
  };
  for (const Case& c : {Case{"usage at the end", false, false}, Case{"each its own", true, false},
                        Case{"together", false, true}}) {
    std::vector<Piece> pieces;
    for (int i = 0; i < 20; ++i) {
      for (const int choice : {0, 1}) {
        Piece piece{.ms = 100 + 10 * i + 5 * choice};
        piece.choice = static_cast<std::uint16_t>(choice);
        if (c.own) piece.so_far = i + 1;
        if (c.whole) piece.so_far = 2 * i + choice + 1;
        pieces.push_back(piece);
      }
    }
    const Point point = point_of_queries({query_of(pieces, 40)});
    EXPECT_EQ(point.tokens.output, 40) << c.name;
    ASSERT_EQ(point.arrival.tpot.count, 2u) << c.name;
    EXPECT_NEAR(point.arrival.tpot.max, 10e6, 1e4) << c.name;
    EXPECT_NEAR(*point.rates.tps_per_user, 100, 0.1) << c.name;
    EXPECT_EQ(point.arrival.itl.count, 38u) << c.name;
    EXPECT_NEAR(point.arrival.itl.max, 10e6, 1) << c.name;
    EXPECT_EQ(point.tokens.replies_of_several_choices, 1u) << c.name;
    EXPECT_EQ(point.tokens.contradicted, 0u) << c.name;
  }
}

TEST(TokenTruth, the_tokenizer_counts_before_usage_unless_it_is_above_the_limit) {
  HandMadeQuery q = query_of(stream(16, 10), 16);
  q.tokens_max = 16;
  TokenCount counted{.input = 3, .output = 20, .after_first = 18};
  TokenTruth truth = truth_of(q, &counted);
  EXPECT_EQ(truth.basis, TokenBasis::tokenizer);
  EXPECT_EQ(truth.count.output, 20);
  counted.output = 27;
  truth = truth_of(q, &counted);
  EXPECT_TRUE(truth.tokenizer_above_limit);
  EXPECT_EQ(truth.basis, TokenBasis::usage);
  EXPECT_EQ(truth.count.output, 16);
  // What is no token to the tokenizer is none, and that is a count.
  counted = {.input = 3, .output = 0, .after_first = 0};
  truth = truth_of(q, &counted);
  EXPECT_EQ(truth.basis, TokenBasis::tokenizer);
  EXPECT_EQ(truth.count.output, 0);
  // A reply that the run's tokenizer could not count has no count.
  counted = {};
  EXPECT_EQ(truth_of(q, &counted).basis, TokenBasis::none);
}

TEST(TokenTruth, a_run_says_whose_word_it_used_and_how_many_were_contradicted_by_how_much) {
  HandMadeQuery honest = query_of(stream(20), 20);
  HandMadeQuery inflated = query_of(stream(20), 100'000);
  const Point point = point_of_queries({honest, honest, honest, inflated});
  EXPECT_EQ(point.tokens.source, TokenSource::mixed);
  EXPECT_EQ(point.tokens.output, 80);
  EXPECT_EQ(point.tokens.contradicted, 1u);
  EXPECT_EQ(point.tokens.contradicted_said, 100'000);
  EXPECT_EQ(point.tokens.contradicted_counted, 20);
  EXPECT_NEAR(point.arrival.tpot.max, 10e6, 1);
  EXPECT_THAT(point.warnings,
              Contains(HasSubstr("in 1 of 4 replies (it is above the bytes of the reply in 1): it "
                                 "said 100,000 tokens, 20 are counted instead")));
  EXPECT_EQ(point_of_queries({inflated}).tokens.source, TokenSource::fragments);
  EXPECT_EQ(point_of_queries({honest}).tokens.source, TokenSource::usage);
}

TEST(TokenTruth, an_empty_reply_is_warned_of) {
  HandMadeQuery q = query_of({}, 0);
  q.done = at_ms(100);
  EXPECT_THAT(point_of_queries({q}).warnings,
              Contains(HasSubstr("1 of 1 replies held nothing at all")));
}

// For any reply: no count of the server's enters that the rules exclude, all parts fit together,
// and an honest reply gets its own count.
TEST(TokenTruth, holds_for_any_reply) {
  Rng rng(7);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Piece> pieces;
    const auto choices = 1 + rng.below(3);
    std::int64_t bytes = 0;
    std::int32_t tokens = 0;
    const bool grows = rng.below(2) == 0;
    for (std::uint64_t i = rng.below(30); i > 0; --i) {
      Piece piece{.ms = 100 + static_cast<std::int64_t>(pieces.size())};
      const auto burst = static_cast<std::int32_t>(1 + rng.below(6));
      piece.bytes = static_cast<std::size_t>(burst) * (1 + rng.below(8));
      piece.choice = static_cast<std::uint16_t>(rng.below(choices));
      bytes += static_cast<std::int64_t>(piece.bytes);
      tokens += burst;
      if (grows) piece.so_far = tokens;
      pieces.push_back(piece);
    }
    const bool honest = rng.below(2) == 0;
    HandMadeQuery q = query_of(pieces, tokens);
    if (!honest) {
      q.usage.completion_tokens = static_cast<std::int32_t>(rng.below(1u << rng.below(31))) - 2;
      if (rng.below(3) == 0) q.usage.reasoning_tokens = static_cast<std::int32_t>(rng.below(900));
    }
    if (rng.below(2) == 0) q.tokens_max = honest ? tokens + 1 : 100;
    const TokenTruth truth = truth_of(q);
    const auto fragments = static_cast<std::int32_t>(pieces.size());
    const std::int64_t allowed = bytes + kTokensWithoutText * 3;
    if (honest) {
      ASSERT_EQ(truth.basis, TokenBasis::usage) << round;
      ASSERT_EQ(truth.count.output, tokens) << round;
    }
    if (truth.basis == TokenBasis::usage) {
      ASSERT_LE(truth.count.output, allowed) << round;
      ASSERT_GE(std::int64_t{truth.count.output} * kTokenBytesMax, bytes) << round;
      ASSERT_EQ(truth.count.output + truth.hidden, q.usage.completion_tokens) << round;
    } else if (truth.basis == TokenBasis::fragments) {
      ASSERT_EQ(truth.count.output, fragments) << round;
      ASSERT_EQ(truth.hidden, 0) << round;
    } else {
      ASSERT_EQ(truth.count.output, -1) << round;
    }
    ASSERT_LT(truth.count.after_first, std::max(truth.count.output, 1)) << round;
    double after = 0;
    for (const ChoiceTruth& choice : truth.choices) after += std::max(choice.after_first, 0.0);
    ASSERT_LE(after, std::max(truth.count.output, 0)) << round;
  }
}

// The count that a live view shows before the whole evidence is known.
TEST(PlausibleCount, is_the_server_s_own_where_the_bytes_allow_it_and_without_hidden_reasoning) {
  HandMadeQuery q = query_of(stream(20), 20);
  q.usage.prompt_tokens = 7;
  EXPECT_EQ(plausible_count(event_of(q)).input, 7);
  EXPECT_EQ(plausible_count(event_of(q)).output, 20);
  EXPECT_EQ(plausible_count(event_of(q)).after_first, 19);
  q.usage = {.completion_tokens = 1020, .reasoning_tokens = 1000};
  EXPECT_EQ(plausible_count(event_of(q)).output, 20) << "80 bytes are not of 1,020 tokens";
  EXPECT_EQ(plausible_count(event_of(q)).after_first, 19);
  EXPECT_EQ(plausible_count(event_of(q)).input, -1);
  q.usage.reasoning_tokens = 500;
  EXPECT_EQ(plausible_count(event_of(q)).output, 20) << "of fragments: 520 are too many, too";
  q.streamed = false;
  EXPECT_EQ(plausible_count(event_of(q)).output, -1);
  EXPECT_EQ(plausible_count(event_of(q)).after_first, -1);
  q.usage.completion_tokens = -1;
  EXPECT_EQ(plausible_count(event_of(q)).output, -1);
  // Reasoning that the bytes can hold may have been streamed: it counts.
  HandMadeQuery shown = query_of(stream(20), 60);
  shown.usage.reasoning_tokens = 40;
  EXPECT_EQ(plausible_count(event_of(shown)).output, 60);
}

TEST(TokenTruth, text_whose_fragments_are_lost_still_counts_for_the_bytes_of_a_reply) {
  Event event = event_of(steady_query(0, 0, 0, 10, 1, 6));
  event.output_bytes = 2000;
  event.usage = Usage{};
  event.usage.completion_tokens = 1000;
  event.received_bytes = 5000;
  TokenTruth truth;
  reconcile(event, ReplyEvidence{}, nullptr, truth);
  EXPECT_EQ(truth.contradiction, Contradiction::none);
  EXPECT_EQ(truth.count.output, 1000);
}

TEST(TokenTruth, a_tokenizers_count_is_shared_among_choices_by_their_later_fragments) {
  ReplyEvidence evidence;
  for (const int choice : {0, 1, 0, 1, 0, 0}) {
    StreamEvent event{.category = Category::text, .bytes = 4};
    event.choice = static_cast<std::uint16_t>(choice);
    event.arrival = event.read = at_ms(10);
    evidence.add(event);
  }
  Event event = event_of(steady_query(0, 0, 0, 10, 1, 6));
  event.choices_asked = 2;
  event.usage = Usage{};
  const TokenCount counted{.input = 10, .output = 10, .after_first = 8};
  TokenTruth truth;
  reconcile(event, evidence, &counted, truth);
  ASSERT_EQ(truth.choices.size(), 2U);
  EXPECT_DOUBLE_EQ(truth.choices[0].after_first, 6);
  EXPECT_DOUBLE_EQ(truth.choices[1].after_first, 2);
}

}  // namespace
}  // namespace assay::metrics
