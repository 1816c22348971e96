#include "metrics/token_truth.h"

#include <algorithm>
#include <limits>

#include "base/enum_name.h"

namespace assay::metrics {

std::string_view to_string(TokenBasis basis) { return enum_name(basis); }

std::string_view to_string(Contradiction contradiction) { return enum_name(contradiction); }

void ReplyEvidence::clear() {
  choices_.clear();
  fragments_ = 0;
  bytes_ = reasoning_bytes_ = 0;
  most_said_ = last_said_ = said_first_ = -1;
  dropped_ = false;
}

// nullptr: the choice has no fragment yet.
ChoiceEvidence* ReplyEvidence::choice_of(std::uint16_t choice) {
  const auto found = std::ranges::find(choices_, choice, &ChoiceEvidence::choice);
  if (found != choices_.end()) return &*found;
  return choices_.size() < kChoicesMax ? nullptr : &choices_.back();
}

Came ReplyEvidence::add(const StreamEvent& event) {
  const Came now{event.arrival, event.read};
  Came before{};
  const bool fragment = is_fragment(event.category);
  ChoiceEvidence* choice = choice_of(event.choice);
  if (choice == nullptr && fragment) {
    choice = &choices_.emplace_back();
    choice->choice = event.choice;
  }
  if (fragment) {
    ++fragments_;
    bytes_ += event.bytes;
    if (event.category == Category::reasoning) reasoning_bytes_ += event.bytes;
    if (choice->fragments++ == 0) {
      choice->first = now;
      choice->first_bytes = event.bytes;
    }
    before = choice->last_fragment;
    choice->last_fragment = now;
  }
  if (choice != nullptr && (fragment || event.category == Category::finish)) choice->last = now;
  if (event.tokens_so_far >= 0) note_usage(event, choice);
  return before;
}

void ReplyEvidence::note_usage(const StreamEvent& event, ChoiceEvidence* choice) {
  const std::int64_t said = event.tokens_so_far;
  if (last_said_ > said) dropped_ = true;
  const std::int64_t grown = said - std::max<std::int64_t>(last_said_, 0);
  most_said_ = std::max(most_said_, said);
  last_said_ = said;
  // From the first fragment, or from the usage event that follows it.
  if (fragments_ == 1 && said_first_ < 0) said_first_ = said;
  // A usage event of its own belongs to no choice.
  if (choice == nullptr || event.category == Category::usage) return;
  if (choice->own_last > said) choice->own_fell = true;
  choice->own_last = said;
  choice->grown += grown;
  if (choice->fragments == 1 && choice->own_first < 0) {
    choice->own_first = said;
    choice->grown_first = choice->grown;
  }
}

namespace {

std::int64_t limit_of(const Event& event, std::size_t choices_seen) {
  if (event.tokens_max <= 0) return std::numeric_limits<std::int64_t>::max();
  const std::size_t choices = std::max<std::size_t>({choices_seen, event.choices_asked, 1});
  return std::int64_t{event.tokens_max} * static_cast<std::int64_t>(choices);
}

std::int64_t without_text(std::size_t choices) {
  return kTokensWithoutText * static_cast<std::int64_t>(std::max<std::size_t>(choices, 1));
}

// Reasoning tokens that the server reports and cannot have streamed.
std::int64_t hidden_of(const Event& event, std::int64_t reasoning_bytes, std::size_t choices) {
  const std::int64_t declared = event.usage.reasoning_tokens;
  const std::int64_t said = event.usage.completion_tokens;
  if (declared <= 0 || declared > said || event.received_bytes == 0) return 0;
  if (event.fragments > said - declared + without_text(choices)) return 0;
  if (reasoning_bytes == 0) return declared;
  return declared > reasoning_bytes + without_text(choices) ? declared : 0;
}

Contradiction contradiction_of(const Event& event, std::int64_t bytes, std::int64_t hidden,
                               std::int64_t most_said, std::size_t choices) {
  const std::int64_t said = event.usage.completion_tokens;
  if (said == kNoCount) return Contradiction::unreadable;
  if (said < 0) return Contradiction::none;
  if (said > limit_of(event, choices)) return Contradiction::above_limit;
  const std::int64_t shown = said - hidden;
  if (event.received_bytes == 0) return Contradiction::none;
  if (shown > bytes + without_text(choices)) return Contradiction::above_bytes;
  if (shown * kTokenBytesMax < bytes) return Contradiction::below_bytes;
  if (most_said > said) return Contradiction::fell;
  return Contradiction::none;
}

bool tokenizer_fits(const Event& event, const TokenCount& counted, std::size_t choices) {
  const std::int64_t limit = limit_of(event, choices);
  if (limit > std::numeric_limits<std::int32_t>::max()) return true;
  return counted.output <= limit + limit / 8 + kTokenizerSlack;
}

// Divides the tokenizer's count: each choice gets its share, by fragments.
void share_counted(const ReplyEvidence& evidence, const TokenCount& count,
                   std::vector<double>& after) {
  double later = 0;
  for (const ChoiceEvidence& choice : evidence.choices()) later += choice.fragments - 1.0;
  for (const ChoiceEvidence& choice : evidence.choices()) {
    const double part = later > 0 ? (choice.fragments - 1.0) / later : 0;
    after.push_back(count.after_first * part);
  }
}

// Usage of each choice, if the server reports it: either each choice has its own usage and they add
// up to the whole, or the usage of the whole never falls.
bool take_growth(const ReplyEvidence& evidence, std::int64_t said, std::vector<double>& after) {
  std::int64_t own = 0;
  bool owns = true;
  for (const ChoiceEvidence& choice : evidence.choices()) {
    owns = owns && choice.own_first >= 1 && !choice.own_fell;
    own += choice.own_last;
  }
  owns = owns && own == said;
  const bool whole = !owns && evidence.grew() && evidence.last_said() == said;
  if (!owns && !whole) return false;
  for (const ChoiceEvidence& choice : evidence.choices()) {
    const std::int64_t all = owns ? choice.own_last : choice.grown;
    const std::int64_t first = owns ? choice.own_first : choice.grown_first;
    if (choice.fragments > 1 && (first < 1 || first >= all)) {
      after.clear();
      return false;
    }
    after.push_back(static_cast<double>(all - first));
  }
  return true;
}

// Divides a usage that did not grow by fragments; each choice's first is taken for one token.
void share_usage(const ReplyEvidence& evidence, std::int32_t output, std::vector<double>& after) {
  double fragments = 0;
  for (const ChoiceEvidence& choice : evidence.choices()) fragments += choice.fragments;
  for (const ChoiceEvidence& choice : evidence.choices()) {
    after.push_back(output * (choice.fragments / fragments) - 1);
  }
}

void split_choices(const ReplyEvidence& evidence, const Event& event, TokenTruth& out) {
  std::vector<double> after;
  if (out.basis == TokenBasis::tokenizer) {
    share_counted(evidence, out.count, after);
  } else if (out.basis == TokenBasis::usage) {
    out.first_taken_for_one = !take_growth(evidence, event.usage.completion_tokens, after);
    if (out.first_taken_for_one) share_usage(evidence, out.count.output, after);
  } else if (out.basis == TokenBasis::fragments) {
    for (const ChoiceEvidence& choice : evidence.choices()) {
      after.push_back(choice.fragments - 1.0);
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const ChoiceEvidence& choice = evidence.choices()[i];
    sum += std::max(after[i], 0.0);
    out.choices.push_back({.first = choice.first,
                           .last = choice.last,
                           .after_first = choice.fragments > 1 ? after[i] : 0});
  }
  out.count.after_first = static_cast<std::int32_t>(sum + 0.5);
}

// Tokens after the first fragment, in a reply of one choice with the server's count.
void set_after_first(const ReplyEvidence& evidence, std::int64_t said, TokenTruth& out) {
  const std::int64_t first = evidence.said_first();
  const ChoiceEvidence* const choice =
      evidence.choices().empty() ? nullptr : &evidence.choices().front();
  const bool several = choice != nullptr && choice->fragments > 1;
  // Hidden tokens came before: the first fragment held the rest.
  const std::int64_t shown = first - out.hidden;
  if (several && evidence.grew() && shown >= 1 && first < said &&
      shown <= choice->first_bytes + kTokensWithoutText) {
    out.count.after_first = static_cast<std::int32_t>(said - first);
    return;
  }
  out.count.after_first = out.count.output - 1;
  out.first_taken_for_one = several;
}

}  // namespace

void reconcile(const Event& event, const ReplyEvidence& evidence, const TokenCount* counted,
               TokenTruth& out) {
  out.choices.clear();
  const std::size_t choices = evidence.choices().size();
  const auto bytes = static_cast<std::int64_t>(std::max(evidence.bytes(), event.output_bytes));
  const std::int64_t said = event.usage.completion_tokens;
  const std::int64_t hidden =
      hidden_of(event, static_cast<std::int64_t>(evidence.reasoning_bytes()), choices);
  out.claimed = said >= 0 ? said : -1;
  out.contradiction = contradiction_of(event, bytes, hidden, evidence.most_said(), choices);
  const bool good = said >= 0 && out.contradiction == Contradiction::none;
  const bool by_tokenizer = counted != nullptr && counted->output >= 0;
  out.tokenizer_above_limit = by_tokenizer && !tokenizer_fits(event, *counted, choices);
  out.hidden = good ? static_cast<std::int32_t>(hidden) : 0;
  out.first_taken_for_one = false;
  out.basis = TokenBasis::none;
  out.count = {counted != nullptr ? counted->input : std::max(event.usage.prompt_tokens, -1), -1,
               -1};
  const auto fragments = static_cast<std::int32_t>(event.fragments);
  if (by_tokenizer && !(out.tokenizer_above_limit && good)) {
    out.basis = TokenBasis::tokenizer;
    out.count = *counted;
  } else if (good && (counted == nullptr || by_tokenizer)) {
    out.basis = TokenBasis::usage;
    out.count.output = static_cast<std::int32_t>(said - hidden);
    set_after_first(evidence, said, out);
  } else if (counted == nullptr && out.contradiction != Contradiction::none && event.streamed &&
             fragments > 0) {
    out.basis = TokenBasis::fragments;
    out.count.output = fragments;
    out.count.after_first = fragments - 1;
  }
  if (event.streamed && choices > 1) split_choices(evidence, event, out);
}

double mean_tpot(const TokenTruth& truth) {
  double sum = 0;
  double n = 0;
  for (const ChoiceTruth& choice : truth.choices) {
    if (choice.after_first < 1) continue;
    sum +=
        static_cast<double>((choice.last.arrival - choice.first.arrival).ns) / choice.after_first;
    ++n;
  }
  return n > 0 ? sum / n : 0;
}

std::int32_t plausible_output(const Event& event) {
  // Whether reasoning was streamed is unknown here: the reported tokens may be hidden.
  const std::size_t choices = event.choices_asked;
  const auto bytes = static_cast<std::int64_t>(event.output_bytes);
  const std::int64_t said = event.usage.completion_tokens;
  Contradiction wrong = contradiction_of(event, bytes, 0, -1, choices);
  std::int64_t hidden = 0;
  if (wrong == Contradiction::above_bytes) {
    hidden = hidden_of(event, 0, choices);
    wrong = contradiction_of(event, bytes, hidden, -1, choices);
  }
  if (said >= 0 && wrong == Contradiction::none) return static_cast<std::int32_t>(said - hidden);
  const bool by_fragments = wrong != Contradiction::none && event.streamed && event.fragments > 0;
  return by_fragments ? static_cast<std::int32_t>(event.fragments) : -1;
}

TokenCount plausible_count(const Event& event) {
  const std::int32_t output = plausible_output(event);
  return {std::max(event.usage.prompt_tokens, -1), output, std::max(output - 1, -1)};
}

}  // namespace assay::metrics
