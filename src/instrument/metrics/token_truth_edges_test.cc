// The edges of TokenTruth's rules: the last value on each side, and what each choice gets.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "metrics/testing_hand_made.h"
#include "metrics/token_truth.h"

namespace assay::metrics {
namespace {

// One event of a reply's stream.
struct Heard {
  std::uint16_t choice = 0;
  std::int32_t so_far = -1;
  std::uint32_t bytes = 4;
  Category category = Category::text;
};

// The events come 10 ms apart, the first at 10 ms; each is read 1 ms later.
ReplyEvidence heard(const std::vector<Heard>& events) {
  ReplyEvidence out;
  std::int64_t ms = 0;
  for (const Heard& one : events) {
    StreamEvent event{};
    event.category = one.category;
    event.choice = one.choice;
    event.bytes = is_fragment(one.category) ? one.bytes : 0;
    event.tokens_so_far = one.so_far;
    event.arrival = at_ms(ms += 10);
    event.read = event.arrival + 1_ms;
    out.add(event);
  }
  return out;
}

Event said_event(std::int32_t said, std::uint32_t fragments = 1) {
  Event event{};
  event.streamed = true;
  event.received_bytes = 500;
  event.fragments = fragments;
  event.usage.completion_tokens = said;
  return event;
}

TokenTruth judged(const Event& event, const std::vector<Heard>& events,
                  const TokenCount* counted = nullptr) {
  TokenTruth out;
  reconcile(event, heard(events), counted, out);
  return out;
}

std::vector<double> later_tokens(const TokenTruth& truth) {
  std::vector<double> out;
  for (const ChoiceTruth& choice : truth.choices) out.push_back(choice.after_first);
  return out;
}

using Later = std::vector<double>;

TEST(ReplyEvidence, has_each_choices_own_fragments_bytes_and_instants) {
  ReplyEvidence evidence;
  const auto add = [&evidence](Category category, std::uint16_t choice, std::uint32_t bytes,
                               std::int64_t ms) {
    StreamEvent event{};
    event.category = category;
    event.choice = choice;
    event.bytes = bytes;
    event.arrival = at_ms(ms);
    event.read = at_ms(ms + 1);
    return evidence.add(event);
  };
  EXPECT_FALSE(add(Category::role, 0, 0, 5).arrival.known());
  EXPECT_TRUE(evidence.choices().empty()) << "a choice begins with a fragment";
  EXPECT_FALSE(add(Category::text, 0, 4, 10).arrival.known());
  EXPECT_FALSE(add(Category::reasoning, 1, 3, 20).arrival.known());
  const Came before = add(Category::tool_call, 0, 5, 30);
  EXPECT_EQ(before.arrival, at_ms(10));
  EXPECT_EQ(before.read, at_ms(11));
  EXPECT_FALSE(add(Category::finish, 0, 0, 40).arrival.known());
  add(Category::usage, 0, 0, 50);
  add(Category::finish, 7, 0, 60);
  ASSERT_EQ(evidence.choices().size(), 2U);
  const ChoiceEvidence& one = evidence.choices()[0];
  EXPECT_EQ(one.choice, 0);
  EXPECT_EQ(one.fragments, 2U);
  EXPECT_EQ(one.first_bytes, 4U);
  EXPECT_EQ(one.first.arrival, at_ms(10));
  EXPECT_EQ(one.last_fragment.arrival, at_ms(30));
  EXPECT_EQ(one.last.arrival, at_ms(40)) << "its finish reason, and no usage after it";
  const ChoiceEvidence& other = evidence.choices()[1];
  EXPECT_EQ(other.choice, 1);
  EXPECT_EQ(other.fragments, 1U);
  EXPECT_EQ(other.first_bytes, 3U);
  EXPECT_EQ(other.last.arrival, at_ms(20));
  EXPECT_EQ(other.own_first, -1);
  EXPECT_EQ(other.own_last, -1);
  EXPECT_EQ(other.grown_first, -1);
  EXPECT_EQ(other.grown, 0);
  EXPECT_FALSE(other.own_fell);
  EXPECT_EQ(evidence.bytes(), 12U);
  EXPECT_EQ(evidence.reasoning_bytes(), 3U);
  EXPECT_EQ(evidence.most_said(), -1);
  EXPECT_EQ(evidence.last_said(), -1);
  EXPECT_EQ(evidence.said_first(), -1);
  EXPECT_FALSE(evidence.grew());
}

TEST(ReplyEvidence, forgets_all_of_a_reply_before_the_next) {
  ReplyEvidence evidence = heard({{.so_far = 5, .category = Category::reasoning}, {.so_far = 3}});
  EXPECT_FALSE(evidence.grew()) << "it fell";
  evidence.clear();
  EXPECT_TRUE(evidence.choices().empty());
  EXPECT_EQ(evidence.bytes(), 0U);
  EXPECT_EQ(evidence.reasoning_bytes(), 0U);
  EXPECT_EQ(evidence.most_said(), -1);
  EXPECT_EQ(evidence.last_said(), -1);
  EXPECT_EQ(evidence.said_first(), -1);
  StreamEvent event{};
  event.category = Category::text;
  event.tokens_so_far = 0;
  evidence.add(event);
  EXPECT_TRUE(evidence.grew());
  EXPECT_EQ(evidence.said_first(), 0) << "a count, and of the first fragment";
  EXPECT_EQ(evidence.most_said(), 0);
}

TEST(ReplyEvidence, usage_is_shared_among_the_choices_whose_events_carry_it) {
  const ReplyEvidence evidence = heard({{.choice = 0, .so_far = 2},
                                        {.choice = 1, .so_far = 5},
                                        {.choice = 0, .so_far = 6, .category = Category::usage},
                                        {.choice = 0, .so_far = 9},
                                        {.choice = 1, .so_far = 9},
                                        {.choice = 2, .so_far = 9, .category = Category::finish},
                                        {.choice = 0, .so_far = 8}});
  ASSERT_EQ(evidence.choices().size(), 2U);
  const ChoiceEvidence& one = evidence.choices()[0];
  EXPECT_EQ(one.own_first, 2);
  EXPECT_EQ(one.own_last, 8);
  EXPECT_TRUE(one.own_fell);
  EXPECT_EQ(one.grown_first, 2);
  EXPECT_EQ(one.grown, 2 + 3 - 1);
  const ChoiceEvidence& other = evidence.choices()[1];
  EXPECT_EQ(other.own_first, 5);
  EXPECT_EQ(other.own_last, 9);
  EXPECT_FALSE(other.own_fell);
  EXPECT_EQ(other.grown_first, 3);
  EXPECT_EQ(other.grown, 3);
  EXPECT_EQ(evidence.said_first(), 2);
  EXPECT_EQ(evidence.most_said(), 9);
  EXPECT_EQ(evidence.last_said(), 8);
  EXPECT_FALSE(evidence.grew());
  EXPECT_TRUE(heard({{.so_far = 2}, {.so_far = 2}}).grew()) << "the same again is not a fall";
}

TEST(ReplyEvidence, what_is_said_before_or_long_after_the_first_fragment_is_not_of_it) {
  const Heard usage{.so_far = 3, .category = Category::usage};
  EXPECT_EQ(heard({usage, {}, {}}).said_first(), -1);
  EXPECT_EQ(heard({{}, usage, {}}).said_first(), 3);
  EXPECT_EQ(heard({{}, {}, usage}).said_first(), -1);
  EXPECT_EQ(heard({{.so_far = 1}, usage}).said_first(), 1) << "the first of them";
  EXPECT_EQ(heard({{.so_far = 0}, usage}).said_first(), 0) << "nothing is said, too";
}

TEST(ReplyEvidence, what_a_choice_says_first_and_what_it_says_again_is_no_fall) {
  const ChoiceEvidence again = heard({{.so_far = 2}, {.so_far = 2}}).choices()[0];
  EXPECT_FALSE(again.own_fell);
  EXPECT_EQ(again.own_first, 2);
  EXPECT_EQ(again.own_last, 2);
  EXPECT_TRUE(heard({{.so_far = 2}, {.so_far = 1}}).choices()[0].own_fell);
  const ChoiceEvidence nothing =
      heard({{.so_far = 0}, {.so_far = 4, .category = Category::finish}}).choices()[0];
  EXPECT_EQ(nothing.own_first, 0) << "with its first fragment";
  EXPECT_EQ(nothing.grown_first, 0);
  EXPECT_EQ(nothing.own_last, 4);
  EXPECT_EQ(nothing.grown, 4);
}

TEST(ReplyEvidence, choices_beyond_its_room_are_taken_for_the_last_one) {
  std::vector<Heard> events;
  for (std::uint16_t i = 0; i < ReplyEvidence::kChoicesMax + 2; ++i)
    events.push_back({.choice = i});
  const ReplyEvidence evidence = heard(events);
  ASSERT_EQ(evidence.choices().size(), ReplyEvidence::kChoicesMax);
  EXPECT_EQ(evidence.choices().back().choice, ReplyEvidence::kChoicesMax - 1);
  EXPECT_EQ(evidence.choices().back().fragments, 3U);
  EXPECT_EQ(evidence.choices().front().fragments, 1U);
}

TEST(TokenTruthEdges, hidden_tokens_are_those_that_cannot_have_been_streamed) {
  struct Case {
    const char* name;
    std::int32_t declared;
    std::int32_t said;
    std::uint32_t fragments;
    std::uint32_t reasoning_bytes;  // in one fragment; 0: none
    std::uint64_t received;
    std::int32_t hidden;
  };
  for (const Case& c : std::vector<Case>{
           {"none", 0, 1, 1, 0, 500, 0},
           {"one", 1, 1, 1, 0, 500, 1},
           {"all", 9, 9, 1, 0, 500, 9},
           {"more than all", 10, 9, 1, 0, 500, 0},
           {"as many fragments as markers", 9, 9, 16, 0, 500, 9},
           {"one more", 9, 9, 17, 0, 500, 0},
           {"fragments of the rest", 9, 12, 19, 0, 500, 9},
           {"and one more", 9, 12, 20, 0, 500, 0},
           {"as many as the bytes streamed and markers", 26, 27, 1, 10, 500, 0},
           {"one more than those", 27, 28, 1, 10, 500, 27},
           {"no bytes were counted", 9, 12, 1, 0, 0, 0},
           {"one was", 9, 12, 1, 0, 1, 9},
       }) {
    Event event = said_event(c.said, c.fragments);
    event.usage.reasoning_tokens = c.declared;
    event.received_bytes = c.received;
    std::vector<Heard> events;
    if (c.reasoning_bytes > 0) {
      events.push_back({.bytes = c.reasoning_bytes, .category = Category::reasoning});
    }
    const TokenTruth truth = judged(event, events);
    EXPECT_EQ(truth.hidden, c.hidden) << c.name;
    if (truth.basis == TokenBasis::usage) {
      EXPECT_EQ(truth.count.output, c.said - c.hidden) << c.name;
    }
  }
}

TEST(TokenTruthEdges, a_limit_is_of_each_choice_that_was_asked_for_or_came) {
  const auto above = [](std::int32_t limit, std::uint16_t asked, std::size_t came,
                        std::int32_t said) {
    Event event = said_event(said);
    event.tokens_max = limit;
    event.choices_asked = asked;
    std::vector<Heard> events;
    for (std::size_t i = 0; i < came; ++i) {
      events.push_back({.choice = static_cast<std::uint16_t>(i), .bytes = 100});
    }
    return judged(event, events).contradiction == Contradiction::above_limit;
  };
  EXPECT_FALSE(above(10, 3, 1, 30));
  EXPECT_TRUE(above(10, 3, 1, 31));
  EXPECT_FALSE(above(10, 0, 2, 20));
  EXPECT_TRUE(above(10, 0, 2, 21));
  EXPECT_FALSE(above(10, 0, 1, 10));
  EXPECT_TRUE(above(10, 0, 1, 11));
  EXPECT_TRUE(above(1, 1, 1, 2));
  EXPECT_FALSE(above(0, 1, 1, 2)) << "no limit";
}

TEST(TokenTruthEdges, each_choice_may_have_its_markers) {
  const auto contradiction = [](std::int32_t said, const std::vector<Heard>& events) {
    return judged(said_event(said), events).contradiction;
  };
  const std::vector<Heard> two{{.choice = 0, .bytes = 1}, {.choice = 1, .bytes = 1}};
  EXPECT_EQ(contradiction(34, two), Contradiction::none);
  EXPECT_EQ(contradiction(35, two), Contradiction::above_bytes);
  EXPECT_EQ(contradiction(16, {}), Contradiction::none);
  EXPECT_EQ(contradiction(17, {}), Contradiction::above_bytes);
  EXPECT_EQ(contradiction(5, {{.so_far = 5}}), Contradiction::none) << "it said no more before";
  EXPECT_EQ(contradiction(4, {{.so_far = 5}}), Contradiction::fell);
}

TEST(TokenTruthEdges, a_tokenizer_may_count_an_eighth_and_four_tokens_above_the_limit) {
  Event event = said_event(10);
  event.tokens_max = 16;
  const auto above = [&](std::int32_t output) {
    const TokenCount counted{.input = 3, .output = output, .after_first = output - 1};
    const TokenTruth truth = judged(event, {{.bytes = 100}}, &counted);
    EXPECT_EQ(truth.basis, truth.tokenizer_above_limit ? TokenBasis::usage : TokenBasis::tokenizer);
    EXPECT_EQ(truth.count.input, 3);
    return truth.tokenizer_above_limit;
  };
  EXPECT_FALSE(above(22));
  EXPECT_TRUE(above(23));
  event.tokens_max = -1;
  EXPECT_FALSE(above(std::numeric_limits<std::int32_t>::max()));
}

TEST(TokenTruthEdges, what_stands_in_for_a_count_follows_from_what_there_is) {
  const TokenCount high{.input = 3, .output = 99, .after_first = 98};
  Event event = said_event(17);
  event.usage.prompt_tokens = 7;
  event.tokens_max = 16;
  const std::vector<Heard> text{{.bytes = 100}};
  // Both counts are wrong: the tokenizer's is of the text at least.
  TokenTruth truth = judged(event, text, &high);
  EXPECT_EQ(truth.basis, TokenBasis::tokenizer);
  EXPECT_EQ(truth.count, high);
  EXPECT_TRUE(truth.tokenizer_above_limit);
  EXPECT_EQ(truth.claimed, 17);
  truth = judged(event, text);
  EXPECT_EQ(truth.basis, TokenBasis::fragments);
  EXPECT_EQ(truth.count, (TokenCount{7, 1, 0}));
  event.fragments = 0;
  EXPECT_EQ(judged(event, text).basis, TokenBasis::none);
  event.fragments = 2;
  event.streamed = false;
  EXPECT_EQ(judged(event, text).basis, TokenBasis::none);
  EXPECT_EQ(judged(event, text).count, (TokenCount{7, -1, -1}));
  event.streamed = true;
  const TokenCount none{};
  EXPECT_EQ(judged(event, text, &none).basis, TokenBasis::none) << "the run was counted";
  event.usage = {.prompt_tokens = kNoCount};
  truth = judged(event, text);
  EXPECT_EQ(truth.basis, TokenBasis::none);
  EXPECT_EQ(truth.count, TokenCount{});
  EXPECT_EQ(truth.claimed, -1);
  EXPECT_EQ(truth.hidden, 0);
  event.usage.completion_tokens = 0;
  EXPECT_EQ(judged(event, text).claimed, 0) << "a count of none is a count";
}

TEST(TokenTruthEdges, the_first_fragment_is_as_large_as_growing_usage_says_where_it_can_be) {
  const auto truth = [](std::int32_t first, std::int32_t said, std::int32_t reasoning = -1) {
    Event event = said_event(said, 3);
    event.usage.reasoning_tokens = reasoning;
    return judged(event, {{.so_far = first, .bytes = 4}, {.bytes = 4}, {.bytes = 4}});
  };
  struct Case {
    std::int32_t first;
    std::int32_t said;
    bool taken_for_one;
  };
  for (const Case& c : std::vector<Case>{{0, 20, true},
                                         {1, 20, false},
                                         {19, 20, false},
                                         {20, 20, true},
                                         {20, 28, false},
                                         {21, 28, true}}) {
    const TokenTruth got = truth(c.first, c.said);
    EXPECT_EQ(got.first_taken_for_one, c.taken_for_one) << c.first;
    EXPECT_EQ(got.count.after_first, c.said - (c.taken_for_one ? 1 : c.first)) << c.first;
  }
  // Hidden tokens came before it.
  const TokenTruth hidden = truth(105, 120, 100);
  EXPECT_EQ(hidden.hidden, 100);
  EXPECT_EQ(hidden.count.output, 20);
  EXPECT_EQ(hidden.count.after_first, 15);
  EXPECT_FALSE(hidden.first_taken_for_one);
  // One fragment, or none, has none after it that would have to be told apart.
  EXPECT_FALSE(judged(said_event(5), {{}}).first_taken_for_one);
  EXPECT_EQ(judged(said_event(5), {{}}).count.after_first, 4);
  EXPECT_FALSE(judged(said_event(5, 0), {}).first_taken_for_one);
}

TEST(TokenTruthEdges, choices_with_usage_of_their_own_have_its_growth) {
  const auto truth = [](std::int32_t said, const std::vector<Heard>& events) {
    return judged(said_event(said, static_cast<std::uint32_t>(events.size())), events);
  };
  TokenTruth got = truth(9, {{0, 2}, {1, 1}, {0, 5}, {1, 4}});
  EXPECT_EQ(later_tokens(got), (Later{3, 3}));
  EXPECT_EQ(got.count.after_first, 6);
  EXPECT_FALSE(got.first_taken_for_one);
  ASSERT_EQ(got.choices.size(), 2U);
  EXPECT_EQ(got.choices[1].first.arrival, at_ms(20));
  EXPECT_EQ(got.choices[1].last.arrival, at_ms(40));
  // A choice of one fragment has nothing after it.
  got = truth(7, {{0, 3}, {1, 1}, {1, 4}});
  EXPECT_EQ(later_tokens(got), (Later{0, 3}));
  EXPECT_EQ(got.count.after_first, 3);
  EXPECT_FALSE(got.first_taken_for_one);
  got = truth(8, {{0, 3}, {1, 1}, {0, 4}, {1, 4}});
  EXPECT_EQ(later_tokens(got), (Later{1, 3}));
  // The parts do not add up, or one began with nothing, fell, or ended with its first fragment.
  for (const auto& [said, events] : std::vector<std::pair<std::int32_t, std::vector<Heard>>>{
           {10, {{0, 2}, {1, 1}, {0, 5}, {1, 4}}},
           {9, {{0, 0}, {1, 1}, {0, 5}, {1, 4}}},
           {6, {{0, 5}, {1, 1}, {0, 2}, {1, 4}}},
           {7, {{0, 3}, {1, 1}, {0, 3}, {1, 4}}}}) {
    got = truth(said, events);
    EXPECT_TRUE(got.first_taken_for_one) << said;
    EXPECT_EQ(later_tokens(got), (Later{said / 2.0 - 1, said / 2.0 - 1})) << said;
    EXPECT_EQ(got.count.after_first, said - 2);
  }
}

TEST(TokenTruthEdges, a_choice_that_said_nothing_or_fell_has_no_usage_of_its_own) {
  TokenTruth got = judged(said_event(4, 3), {{1, 1}, {1, 4}, {0, 0}});
  EXPECT_TRUE(got.first_taken_for_one);
  ASSERT_EQ(got.choices.size(), 2U);
  EXPECT_DOUBLE_EQ(got.choices[0].after_first, 4 * (2.0 / 3) - 1);
  EXPECT_EQ(got.choices[1].after_first, 0);
  got = judged(said_event(9, 5), {{0, 2}, {0, 1}, {0, 5}, {1, 1}, {1, 4}});
  EXPECT_TRUE(got.first_taken_for_one);
  ASSERT_EQ(got.choices.size(), 2U);
  EXPECT_DOUBLE_EQ(got.choices[0].after_first, 9 * (3.0 / 5) - 1);
  EXPECT_DOUBLE_EQ(got.choices[1].after_first, 9 * (2.0 / 5) - 1);
}

// Only a stream tells choices apart; of another reply the growth is that of the first.
TEST(TokenTruthEdges, of_several_choices_without_a_stream_the_first_one_grows) {
  Event whole = said_event(9, 3);
  whole.streamed = false;
  TokenTruth got = judged(whole, {{0, 2}, {0, 5}, {1, 9}});
  EXPECT_EQ(got.count.after_first, 7);
  EXPECT_FALSE(got.first_taken_for_one);
  got = judged(whole, {{0, 2}, {1, 5}, {1, 9}});
  EXPECT_EQ(got.count.after_first, 8);
  EXPECT_FALSE(got.first_taken_for_one);
}

TEST(TokenTruthEdges, a_truth_has_nothing_of_the_reply_before) {
  TokenTruth out;
  reconcile(said_event(8, 4), heard({{0}, {1}, {0}, {0}}), nullptr, out);
  EXPECT_TRUE(out.first_taken_for_one);
  EXPECT_EQ(out.choices.size(), 2U);
  const TokenCount counted{.input = 1, .output = 8, .after_first = 7};
  reconcile(said_event(8, 4), heard({{}, {}}), &counted, out);
  EXPECT_FALSE(out.first_taken_for_one);
  EXPECT_TRUE(out.choices.empty());
  Event hidden = said_event(120, 3);
  hidden.usage.reasoning_tokens = 100;
  reconcile(hidden, heard({{}}), nullptr, out);
  EXPECT_EQ(out.hidden, 100);
  reconcile(said_event(kNoCount, 0), heard({{}}), nullptr, out);
  EXPECT_EQ(out.hidden, 0);
  EXPECT_EQ(out.basis, TokenBasis::none);
  EXPECT_EQ(out.count, (TokenCount{}));
}

TEST(TokenTruthEdges, usage_of_the_whole_is_each_choices_growth) {
  const std::vector<Heard> events{{0, 2}, {1, 5}, {0, 9}, {1, 10}};
  TokenTruth got = judged(said_event(10, 4), events);
  EXPECT_EQ(later_tokens(got), (Later{4, 1}));
  EXPECT_EQ(got.count.after_first, 5);
  EXPECT_FALSE(got.first_taken_for_one);
  got = judged(said_event(12, 4), events);
  EXPECT_TRUE(got.first_taken_for_one) << "two tokens are of no choice";
  EXPECT_EQ(later_tokens(got), (Later{5, 5}));
  // By their fragments where nothing grows: three of one and one of the other.
  got = judged(said_event(8, 4), {{0}, {1}, {0}, {0}});
  EXPECT_TRUE(got.first_taken_for_one);
  EXPECT_EQ(later_tokens(got), (Later{5, 0}));
  EXPECT_EQ(got.count.after_first, 6);
  got = judged(said_event(1, 2), {{0}, {1}});
  EXPECT_EQ(got.count.after_first, 0) << "half a token each: nothing is after the first";
  got = judged(said_event(2, 5), {{0}, {1}, {1}, {1}, {1}});
  ASSERT_EQ(got.choices.size(), 2U);
  EXPECT_NEAR(got.choices[1].after_first, 0.6, 1e-9);
  EXPECT_EQ(got.count.after_first, 1) << "the nearest whole number";
  got = judged(said_event(1, 4), {{0, -1, 1}, {1, -1, 1}, {2, -1, 1}, {3, -1, 1}});
  ASSERT_EQ(got.basis, TokenBasis::usage);
  EXPECT_EQ(got.count.after_first, 0) << "a quarter of a token each has none after its first";
}

TEST(TokenTruthEdges, other_counts_are_shared_by_fragments) {
  const TokenCount counted{.input = 1, .output = 10, .after_first = 8};
  TokenTruth got = judged(said_event(10, 4), {{0}, {1}, {0}, {0}}, &counted);
  EXPECT_EQ(later_tokens(got), (Later{8, 0}));
  EXPECT_EQ(got.count.after_first, 8);
  got = judged(said_event(10, 3), {{0}, {1}, {1}}, &counted);
  EXPECT_EQ(later_tokens(got), (Later{0, 8})) << "one later fragment has all of them";
  EXPECT_EQ(got.count.after_first, 8);
  got = judged(said_event(10, 2), {{0}, {1}}, &counted);
  EXPECT_EQ(later_tokens(got), (Later{0, 0}));
  EXPECT_EQ(got.count.after_first, 0);
  got = judged(said_event(kNoCount, 5), {{0}, {1}, {0}, {0}, {1}});
  EXPECT_EQ(got.basis, TokenBasis::fragments);
  EXPECT_EQ(later_tokens(got), (Later{2, 1}));
  EXPECT_EQ(got.count.after_first, 3);
  // Without a stream, or with one choice, there is nothing to tell apart.
  Event whole = said_event(10, 2);
  whole.streamed = false;
  EXPECT_TRUE(judged(whole, {{0}, {1}}).choices.empty());
  EXPECT_TRUE(judged(said_event(10, 2), {{0}, {0}}).choices.empty());
}

TEST(TokenTruthEdges, the_mean_is_over_choices_that_have_a_token_after_their_first) {
  const auto choice = [](std::int64_t ms, double after) {
    return ChoiceTruth{.first = {at_ms(5), at_ms(6)},
                       .last = {at_ms(5 + ms), at_ms(9 + ms)},
                       .after_first = after};
  };
  TokenTruth truth;
  EXPECT_EQ(mean_tpot(truth), 0);
  truth.choices = {choice(90, 0.99)};
  EXPECT_EQ(mean_tpot(truth), 0);
  truth.choices = {choice(30, 3)};
  EXPECT_EQ(mean_tpot(truth), 10e6);
  truth.choices = {choice(30, 3), choice(20, 1), choice(90, 0.5)};
  EXPECT_DOUBLE_EQ(mean_tpot(truth), 15e6);
}

TEST(PlausibleCount, follows_the_same_rules_from_the_event_alone) {
  const auto output = [](std::int32_t said, std::uint64_t bytes, std::uint32_t fragments,
                         std::uint16_t choices = 1, std::int32_t limit = -1) {
    Event event = said_event(said, fragments);
    event.output_bytes = bytes;
    event.choices_asked = choices;
    event.tokens_max = limit;
    return plausible_count(event).output;
  };
  EXPECT_EQ(output(26, 10, 3), 26);
  EXPECT_EQ(output(27, 10, 3), 3);
  EXPECT_EQ(output(42, 10, 3, 2), 42);
  EXPECT_EQ(output(43, 10, 3, 2), 3);
  EXPECT_EQ(output(27, 10, 1), 1);
  EXPECT_EQ(output(27, 10, 0), -1);
  EXPECT_EQ(output(0, 0, 1), 0);
  EXPECT_EQ(output(5, 10, 3, 1, 5), 5);
  EXPECT_EQ(output(6, 10, 3, 1, 5), 3);
  EXPECT_EQ(output(-1, 10, 3), -1) << "not said is not wrong";
  EXPECT_EQ(output(kNoCount, 10, 3), 3);
  // Reported reasoning is hidden, be it ever so little.
  for (const std::int32_t reasoning : {1, 10}) {
    Event event = said_event(26 + reasoning, 3);
    event.output_bytes = 10;
    event.usage.reasoning_tokens = reasoning;
    EXPECT_EQ(plausible_count(event).output, 26);
    EXPECT_EQ(plausible_count(event).after_first, 25);
  }
  EXPECT_EQ(plausible_count(said_event(0)).after_first, -1);
  EXPECT_EQ(plausible_count(said_event(1)).after_first, 0);
  EXPECT_EQ(plausible_count(said_event(-1)).after_first, -1);
}

}  // namespace
}  // namespace assay::metrics
