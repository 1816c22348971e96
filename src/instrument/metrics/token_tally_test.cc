// How a run's token counts add up, and what a reader is warned of.
#include "metrics/token_tally.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::metrics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

Event tallied_event(std::uint32_t fragments = 4) {
  Event event;
  event.streamed = event.stream_asked = true;
  event.fragments = fragments;
  event.received_bytes = 100;
  event.usage = {
      .prompt_tokens = 10, .completion_tokens = 8, .reasoning_tokens = 3, .cached_tokens = 2};
  return event;
}

TokenTruth counted_by(TokenBasis basis, std::int32_t output = 8) {
  TokenTruth truth;
  truth.basis = basis;
  truth.count = {.input = 10, .output = output, .after_first = output - 1};
  truth.claimed = 8;
  return truth;
}

TEST(TokenTally, each_reply_adds_its_tokens_and_its_basis) {
  TokenTally tally;
  for (int i = 0; i < 3; ++i) tally.add(tallied_event(), counted_by(TokenBasis::usage), 1);
  const Tokens sum = tally.finish(nullptr);
  EXPECT_EQ(sum.source, TokenSource::usage);
  EXPECT_EQ(sum.replies_counted, 3U);
  EXPECT_EQ(sum.replies_uncounted, 0U);
  EXPECT_EQ(sum.prompt, 30);
  EXPECT_EQ(sum.output, 24);
  EXPECT_EQ(sum.reasoning, 9);
  EXPECT_EQ(sum.cached, 6);
  EXPECT_EQ(sum.replies_by[static_cast<std::size_t>(TokenBasis::usage)], 3U);
  EXPECT_EQ(sum.per_fragment, 2.0);
  EXPECT_FALSE(sum.first_fragment_taken_for_one);
  EXPECT_EQ(sum.replies_of_several_choices, 0U);
  EXPECT_THAT(token_warnings(sum), IsEmpty());
}

TEST(TokenTally, a_reader_is_warned_of_replies_with_fewer_choices_than_were_asked_for) {
  TokenTally tally;
  Event event = tallied_event();
  event.choices_asked = 3;
  for (const std::size_t held : {0U, 1U, 2U, 3U, 4U}) {
    tally.add(event, counted_by(TokenBasis::usage), held);
  }
  event.choices_asked = 9999;
  tally.add(event, counted_by(TokenBasis::usage), ReplyEvidence::kChoicesMax);
  const Tokens sum = tally.finish(nullptr);
  EXPECT_EQ(sum.short_of_choices, 2U) << "an empty reply is counted as such";
  EXPECT_THAT(
      token_warnings(sum),
      testing::Contains("2 of 6 replies held something in fewer choices than were asked for "
                        "(n): the others are missing or empty"));
}

TEST(TokenTally, a_reader_is_warned_of_words_under_an_unknown_name) {
  TokenTally tally;
  for (const std::uint64_t events : {0U, 2U, 3U}) {
    tally.add(tallied_event(), counted_by(TokenBasis::usage), 1);
    tally.add_unread(events);
  }
  const Tokens sum = tally.finish(nullptr);
  EXPECT_EQ(sum.unread_events, 5U);
  EXPECT_EQ(sum.replies_with_unread, 2U);
  EXPECT_THAT(token_warnings(sum),
              testing::ElementsAre("5 events in 2 of 3 replies held words under a name that Assay "
                                   "does not know: they count for nothing, and TTFT may be too "
                                   "long; assay probe shows the name"));
}

TEST(TokenTally, what_is_not_known_adds_nothing) {
  TokenTally tally;
  Event event = tallied_event();
  event.usage = Usage{};
  TokenTruth truth;
  truth.count = {.input = -1, .output = -1, .after_first = -1};
  tally.add(event, truth, 2);
  const Tokens sum = tally.finish(nullptr);
  EXPECT_EQ(sum.source, TokenSource::unknown);
  EXPECT_EQ(sum.replies_uncounted, 1U);
  EXPECT_EQ(sum.prompt + sum.output + sum.reasoning + sum.cached, 0);
  EXPECT_FALSE(sum.per_fragment);
  EXPECT_EQ(sum.replies_of_several_choices, 1U);
  EXPECT_THAT(
      token_warnings(sum),
      ElementsAre("no reply said how many tokens it held (usage): token metrics are absent"));
}

TEST(TokenTally, the_source_is_one_word_only_where_all_replies_have_one) {
  const auto source = [](std::vector<TokenTruth> truths, const TokenCounts* counts = nullptr) {
    TokenTally tally;
    for (const TokenTruth& truth : truths) tally.add(tallied_event(), truth, 1);
    return tally.finish(counts).source;
  };
  const TokenTruth usage = counted_by(TokenBasis::usage);
  const TokenTruth fragments = counted_by(TokenBasis::fragments);
  TokenTruth none;
  none.count.output = -1;
  EXPECT_EQ(source({usage, usage}), TokenSource::usage);
  EXPECT_EQ(source({fragments, fragments}), TokenSource::fragments);
  EXPECT_EQ(source({usage, fragments}), TokenSource::mixed);
  EXPECT_EQ(source({usage, none}), TokenSource::mixed);
  EXPECT_EQ(source({fragments, none}), TokenSource::mixed);
  EXPECT_EQ(source({none}), TokenSource::unknown);
  EXPECT_EQ(source({}), TokenSource::unknown);
  const TokenCounts counts;
  const TokenTruth tokenizer = counted_by(TokenBasis::tokenizer);
  EXPECT_EQ(source({tokenizer, tokenizer}, &counts), TokenSource::tokenizer);
  EXPECT_EQ(source({tokenizer, usage}, &counts), TokenSource::mixed);
}

TEST(TokenTally, tokenizer_and_server_are_compared_where_both_counted) {
  TokenTally tally;
  TokenTruth both = counted_by(TokenBasis::tokenizer, 9);
  tally.add(tallied_event(), both, 1);
  both.claimed = 0;  // a count, too
  tally.add(tallied_event(), both, 1);
  both.claimed = -1;
  tally.add(tallied_event(), both, 1);
  tally.add(tallied_event(), counted_by(TokenBasis::usage), 1);
  const Tokens sum = tally.finish(nullptr);
  EXPECT_EQ(sum.said_beside_tokenizer, 8);
  EXPECT_EQ(sum.tokenizer_beside_said, 18);
}

TEST(TokenTally, fragments_are_compared_with_tokens_only_in_streams) {
  TokenTally tally;
  Event whole = tallied_event();
  whole.streamed = false;
  tally.add(whole, counted_by(TokenBasis::usage), 1);
  tally.add(tallied_event(0), counted_by(TokenBasis::usage), 1);
  EXPECT_FALSE(tally.finish(nullptr).per_fragment);
  TokenTruth first = counted_by(TokenBasis::usage, 1);
  first.first_taken_for_one = true;
  first.count.after_first = 0;
  tally.add(tallied_event(1), first, 1);
  EXPECT_FALSE(tally.finish(nullptr).first_fragment_taken_for_one) << "it has no TPOT";
  first.count.after_first = 1;
  tally.add(tallied_event(1), first, 1);
  EXPECT_TRUE(tally.finish(nullptr).first_fragment_taken_for_one);
  EXPECT_EQ(tally.finish(nullptr).per_fragment, 1.0);
}

TEST(TokenTally, every_doubt_is_counted_and_told) {
  TokenTally tally;
  TokenTruth wrong = counted_by(TokenBasis::fragments, 4);
  wrong.contradiction = Contradiction::above_limit;
  wrong.claimed = 1'000'000;
  tally.add(tallied_event(), wrong, 1);
  wrong.contradiction = Contradiction::fell;
  wrong.claimed = -2;
  tally.add(tallied_event(), wrong, 1);
  Event odd = tallied_event();
  odd.fragments_after_done = 1;
  tally.add(odd, counted_by(TokenBasis::usage), 1);
  Event whole = tallied_event();
  whole.streamed = false;
  tally.add(whole, counted_by(TokenBasis::usage), 1);
  tally.add(tallied_event(0), counted_by(TokenBasis::usage), 1);
  whole.stream_asked = false;
  TokenTally of_a_whole;
  of_a_whole.add(whole, counted_by(TokenBasis::usage), 1);
  EXPECT_EQ(of_a_whole.finish(nullptr).not_streamed, 0U) << "no stream was asked for";
  Event unheard = tallied_event(0);
  unheard.received_bytes = 1;
  TokenTally of_a_byte;
  of_a_byte.add(unheard, counted_by(TokenBasis::usage), 1);
  EXPECT_EQ(of_a_byte.finish(nullptr).empty_replies, 1U);
  unheard.received_bytes = 0;
  tally.add(unheard, counted_by(TokenBasis::usage), 1);
  TokenTruth hidden = counted_by(TokenBasis::usage);
  hidden.hidden = 1'500;
  tally.add(tallied_event(), hidden, 1);
  TokenTruth above = counted_by(TokenBasis::usage);
  above.tokenizer_above_limit = true;
  tally.add(tallied_event(), above, 1);
  hidden.hidden = 1;
  TokenTally of_one;
  of_one.add(tallied_event(), hidden, 1);
  EXPECT_EQ(of_one.finish(nullptr).replies_with_hidden, 1U);
  const Tokens sum = tally.finish(nullptr);
  EXPECT_EQ(sum.empty_replies, 1U) << "one without a count of bytes may have had no text";
  EXPECT_THAT(
      token_warnings(sum),
      ElementsAre(
          "the server's token count contradicts the reply in 2 of 8 replies (it is above the limit "
          "that was asked for in 1, it fell in the course of the stream in 1): it said 1,000,000 "
          "tokens, 8 are counted instead",
          "the tokens of 2 of 8 replies are counted by their fragments, each taken for one token: "
          "where fragments hold more, throughput is higher and TPOT shorter than it says; "
          "--tokenizer counts the text",
          "1 of 8 replies held nothing at all: no text, no reasoning, no tool call, yet the server "
          "called them complete",
          "1 of 8 replies came as one JSON object though a stream was asked for: they have neither "
          "TTFT nor TPOT",
          "1 replies went on after [DONE]: what came then is not counted",
          "the tokenizer counts more than the limit that was asked for in 1 replies: it is not "
          "this "
          "model's, or the text does not give its tokens back; the server's count stands in for it "
          "where there is one",
          "the server declares 1,500 tokens of reasoning in 1 replies that it does not stream: "
          "they "
          "are in no rate and in no TPOT"));
}

TEST(TokenWarnings, each_has_its_own_number) {
  Tokens tokens{.source = TokenSource::usage, .replies_counted = 2000};
  tokens.contradicted = 1001;
  tokens.contradicted_by[static_cast<std::size_t>(Contradiction::fell)] = 1002;
  tokens.contradicted_said = 1003;
  tokens.contradicted_counted = 1004;
  tokens.replies_by[static_cast<std::size_t>(TokenBasis::fragments)] = 1005;
  tokens.empty_replies = 1006;
  tokens.short_of_choices = 1007;
  tokens.not_streamed = 1008;
  tokens.went_on_after_done = 1009;
  tokens.replies_uncounted = 1010;
  tokens.tokenizer_above_limit = 1011;
  tokens.hidden = 1012;
  tokens.replies_with_hidden = 1013;
  // Each number has four digits and a comma, and no other word begins with "1,".
  std::string numbers;
  for (const std::string& one : token_warnings(tokens)) {
    for (std::size_t at = one.find("1,"); at != std::string::npos; at = one.find("1,", at + 5)) {
      numbers += one.substr(at + 3, 2) + " ";
    }
    numbers += "/ ";
  }
  EXPECT_EQ(numbers, "01 02 03 04 / 05 / 06 / 07 / 08 / 09 / / 11 / 12 13 / ");
}

TEST(TokenWarnings, each_contradiction_has_its_words) {
  const auto words = [](Contradiction contradiction) {
    Tokens tokens{.source = TokenSource::usage, .replies_counted = 1};
    tokens.contradicted = 1;
    tokens.contradicted_by[static_cast<std::size_t>(contradiction)] = 1;
    const std::string text = token_warnings(tokens).at(0);
    const std::size_t at = text.find("(it ") + 4;
    return text.substr(at, text.find(" in 1)") - at);
  };
  EXPECT_EQ(words(Contradiction::unreadable), "is not a count");
  EXPECT_EQ(words(Contradiction::above_limit), "is above the limit that was asked for");
  EXPECT_EQ(words(Contradiction::above_bytes), "is above the bytes of the reply");
  EXPECT_EQ(words(Contradiction::below_bytes), "is too small for the bytes of the reply");
  EXPECT_EQ(words(Contradiction::fell), "fell in the course of the stream");
}

TEST(TokenWarnings, what_was_not_counted_is_told_by_who_should_have_counted) {
  Tokens tokens{.source = TokenSource::mixed, .replies_counted = 3, .replies_uncounted = 1};
  EXPECT_THAT(token_warnings(tokens),
              ElementsAre("1 of 4 replies did not say how many tokens they held: token metrics are "
                          "of the others"));
  tokens.source = TokenSource::tokenizer;
  EXPECT_THAT(token_warnings(tokens),
              ElementsAre("1 of 4 replies could not be tokenized (no counts for them): token "
                          "metrics are of the others"));
  tokens.tokenizer = Json()
                         .set("trouble", "bad bytes")
                         .set("refused_by_template", 2)
                         .set("note", "half of it is cached");
  EXPECT_THAT(token_warnings(tokens),
              ElementsAre("1 of 4 replies could not be tokenized (bad bytes): token metrics are of "
                          "the others",
                          "the chat template refused 2 replies, whose texts were tokenized as they "
                          "are (bad bytes)",
                          "half of it is cached"));
  Tokens one{.source = TokenSource::usage, .replies_counted = 1, .hidden = 1};
  one.replies_with_hidden = 1;
  one.replies_by[static_cast<std::size_t>(TokenBasis::fragments)] = 1;
  one.tokenizer = Json().set("refused_by_template", 1).set("trouble", "no roles");
  EXPECT_THAT(token_warnings(one),
              ElementsAre(StartsWith("the tokens of 1 of 1 replies are counted by their fragments"),
                          "the chat template refused 1 replies, whose texts were tokenized as they "
                          "are (no roles)",
                          "the server declares 1 tokens of reasoning in 1 replies that it does not "
                          "stream: they are in no rate and in no TPOT"));
  Tokens lied{.source = TokenSource::unknown, .replies_uncounted = 1, .contradicted = 1};
  EXPECT_EQ(token_warnings(lied).back(),
            "no reply has a token count that can be believed: token metrics are absent");
  EXPECT_THAT(token_warnings(Tokens{}), IsEmpty()) << "no reply, no warning";
}

}  // namespace
}  // namespace assay::metrics
