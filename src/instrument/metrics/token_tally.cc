#include "metrics/token_tally.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::metrics {
namespace {

std::int64_t known_tokens(std::int32_t tokens) { return std::max<std::int64_t>(tokens, 0); }

std::string number(std::uint64_t n) { return with_thousands(static_cast<std::int64_t>(n)); }

// The fault of the server's count, in words for a person.
std::string_view words_of(Contradiction contradiction) {
  switch (contradiction) {
    case Contradiction::none:
      return "";
    case Contradiction::unreadable:
      return "is not a count";
    case Contradiction::above_limit:
      return "is above the limit that was asked for";
    case Contradiction::above_bytes:
      return "is above the bytes of the reply";
    case Contradiction::below_bytes:
      return "is too small for the bytes of the reply";
    case Contradiction::fell:
      return "fell in the course of the stream";
  }
  return "";
}

std::string contradicted_text(const Tokens& tokens) {
  std::string kinds;
  for (std::size_t i = 1; i < kContradictions; ++i) {
    if (tokens.contradicted_by[i] == 0) continue;
    kinds += format("{}it {} in {}", kinds.empty() ? "" : ", ",
                    words_of(static_cast<Contradiction>(i)), number(tokens.contradicted_by[i]));
  }
  return format(
      "the server's token count contradicts the reply in {} of {} replies ({}): it said {} tokens, "
      "{} are counted instead",
      number(tokens.contradicted), number(tokens.replies_counted + tokens.replies_uncounted), kinds,
      with_thousands(tokens.contradicted_said), with_thousands(tokens.contradicted_counted));
}

std::string missing_text(const Tokens& tokens) {
  const std::uint64_t replies = tokens.replies_counted + tokens.replies_uncounted;
  if (tokens.source == TokenSource::tokenizer) {
    return format(
        "{} of {} replies could not be tokenized ({}): token metrics are of the "
        "others",
        tokens.replies_uncounted, replies,
        tokens.tokenizer["trouble"].as_string("no counts for them"));
  }
  return format(
      "{} of {} replies did not say how many tokens they held: token metrics "
      "are of the others",
      tokens.replies_uncounted, replies);
}

void add_tokenizer_warnings(const Tokens& tokens, std::vector<std::string>& out) {
  if (tokens.tokenizer_above_limit > 0) {
    out.push_back(
        format("the tokenizer counts more than the limit that was asked for in {} replies: it is "
               "not this model's, or the text does not give its tokens back; the server's count "
               "stands in for it where there is one",
               number(tokens.tokenizer_above_limit)));
  }
  if (tokens.tokenizer["refused_by_template"].as_uint() > 0) {
    out.push_back(
        format("the chat template refused {} replies, whose texts were tokenized as they "
               "are ({})",
               tokens.tokenizer["refused_by_template"].as_uint(),
               tokens.tokenizer["trouble"].as_string()));
  }
  if (const Json& note = tokens.tokenizer["note"]; note.is_string()) {
    out.emplace_back(note.as_string());
  }
}

}  // namespace

void TokenTally::add_doubts(const Event& event, const TokenTruth& truth) {
  if (truth.contradiction != Contradiction::none) {
    ++sum_.contradicted;
    ++sum_.contradicted_by[static_cast<std::size_t>(truth.contradiction)];
    sum_.contradicted_said += std::max<std::int64_t>(truth.claimed, 0);
    sum_.contradicted_counted += known_tokens(truth.count.output);
  }
  if (truth.tokenizer_above_limit) ++sum_.tokenizer_above_limit;
  // A reply without a byte count may well have no text.
  if (event.fragments == 0 && event.sound.bytes == 0 && event.received_bytes > 0)
    ++sum_.empty_replies;
  if (event.stream_asked && !event.streamed) ++sum_.not_streamed;
  if (event.fragments_after_done > 0) ++sum_.went_on_after_done;
}

void TokenTally::add(const Event& event, const TokenTruth& truth, std::size_t choices) {
  add_doubts(event, truth);
  const TokenCount& count = truth.count;
  sum_.prompt += known_tokens(count.input);
  sum_.reasoning += known_tokens(event.usage.reasoning_tokens);
  sum_.cached += known_tokens(event.usage.cached_tokens);
  sum_.hidden += truth.hidden;
  if (truth.hidden > 0) ++sum_.replies_with_hidden;
  if (choices > 1) ++sum_.replies_of_several_choices;
  // More choices than kChoicesMax are seen as that many.
  const std::size_t asked = std::min<std::size_t>(event.choices_asked, ReplyEvidence::kChoicesMax);
  if (choices > 0 && choices < asked) ++sum_.short_of_choices;
  ++sum_.replies_by[static_cast<std::size_t>(truth.basis)];
  if (count.output < 0) {
    ++sum_.replies_uncounted;
    return;
  }
  ++sum_.replies_counted;
  sum_.output += count.output;
  if (truth.basis == TokenBasis::tokenizer && truth.claimed >= 0) {
    sum_.said_beside_tokenizer += truth.claimed;
    sum_.tokenizer_beside_said += count.output;
  }
  if (!event.streamed || event.fragments == 0) return;
  streamed_tokens_ += static_cast<std::uint64_t>(count.output);
  streamed_fragments_ += event.fragments;
  if (truth.first_taken_for_one && count.after_first >= 1) {
    sum_.first_fragment_taken_for_one = true;
  }
}

void TokenTally::add_unread(std::uint64_t events) {
  sum_.unread_events += events;
  if (events > 0) ++sum_.replies_with_unread;
}

Tokens TokenTally::finish(const TokenCounts* counts) const {
  Tokens out = sum_;
  const auto by = [&out](TokenBasis basis) {
    return out.replies_by[static_cast<std::size_t>(basis)];
  };
  if (counts != nullptr) {
    out.source = by(TokenBasis::usage) > 0 ? TokenSource::mixed : TokenSource::tokenizer;
    out.tokenizer = counts->source;
  } else if (out.replies_counted > 0) {
    const bool all = out.replies_uncounted == 0;
    out.source = all && by(TokenBasis::fragments) == 0 ? TokenSource::usage
                 : all && by(TokenBasis::usage) == 0   ? TokenSource::fragments
                                                       : TokenSource::mixed;
  }
  if (streamed_fragments_ > 0) {
    out.per_fragment =
        static_cast<double>(streamed_tokens_) / static_cast<double>(streamed_fragments_);
  }
  return out;
}

std::vector<std::string> token_warnings(const Tokens& tokens) {
  std::vector<std::string> out;
  const std::uint64_t replies = tokens.replies_counted + tokens.replies_uncounted;
  if (tokens.contradicted > 0) out.push_back(contradicted_text(tokens));
  if (const std::uint64_t n = tokens.replies_by[static_cast<std::size_t>(TokenBasis::fragments)];
      n > 0) {
    out.push_back(
        format("the tokens of {} of {} replies are counted by their fragments, each taken for one "
               "token: where fragments hold more, throughput is higher and TPOT shorter than it "
               "says; --tokenizer counts the text",
               number(n), number(replies)));
  }
  if (tokens.empty_replies > 0) {
    out.push_back(
        format("{} of {} replies held nothing at all: no text, no reasoning, no tool call, yet the "
               "server called them complete",
               number(tokens.empty_replies), number(replies)));
  }
  if (tokens.unread_events > 0) {
    out.push_back(
        format("{} events in {} of {} replies held words under a name that Assay does not know: "
               "they count for nothing, and TTFT may be too long; assay probe shows the name",
               number(tokens.unread_events), number(tokens.replies_with_unread), number(replies)));
  }
  if (tokens.short_of_choices > 0) {
    out.push_back(
        format("{} of {} replies held something in fewer choices than were asked for (n): the "
               "others are missing or empty",
               number(tokens.short_of_choices), number(replies)));
  }
  if (tokens.not_streamed > 0) {
    out.push_back(
        format("{} of {} replies came as one JSON object though a stream was asked for: they have "
               "neither TTFT nor TPOT",
               number(tokens.not_streamed), number(replies)));
  }
  if (tokens.went_on_after_done > 0) {
    out.push_back(format("{} replies went on after [DONE]: what came then is not counted",
                         number(tokens.went_on_after_done)));
  }
  if (tokens.source == TokenSource::unknown && replies > 0) {
    out.push_back(tokens.contradicted > 0
                      ? "no reply has a token count that can be believed: token metrics are absent"
                      : "no reply said how many tokens it held (usage): token metrics are absent");
  } else if (tokens.replies_uncounted > 0) {
    out.push_back(missing_text(tokens));
  }
  add_tokenizer_warnings(tokens, out);
  if (tokens.hidden > 0) {
    out.push_back(
        format("the server declares {} tokens of reasoning in {} replies that it does not stream: "
               "they are in no rate and in no TPOT",
               with_thousands(tokens.hidden), number(tokens.replies_with_hidden)));
  }
  return out;
}

}  // namespace assay::metrics
