#include "dataset/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/format.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

// Common words that common vocabularies know as one token or two, so that the estimate below holds.
constexpr std::array<std::string_view, 160> kWords{
    "the",    "of",      "and",      "to",    "in",        "is",     "that",   "for",     "it",
    "was",    "on",      "are",      "as",    "with",      "his",    "they",   "at",      "be",
    "this",   "from",    "have",     "or",    "by",        "one",    "had",    "not",     "but",
    "what",   "all",     "were",     "when",  "we",        "there",  "can",    "an",      "your",
    "which",  "their",   "said",     "if",    "do",        "will",   "each",   "about",   "how",
    "up",     "out",     "them",     "then",  "she",       "many",   "some",   "so",      "these",
    "would",  "other",   "into",     "has",   "more",      "her",    "two",    "like",    "him",
    "see",    "time",    "could",    "no",    "make",      "than",   "first",  "been",    "its",
    "who",    "now",     "people",   "my",    "made",      "over",   "did",    "down",    "only",
    "way",    "find",    "use",      "may",   "water",     "long",   "little", "very",    "after",
    "words",  "called",  "just",     "where", "most",      "know",   "get",    "through", "back",
    "much",   "before",  "go",       "good",  "new",       "write",  "our",    "used",    "me",
    "man",    "too",     "any",      "day",   "same",      "right",  "look",   "think",   "also",
    "around", "another", "came",     "come",  "work",      "three",  "word",   "must",    "because",
    "does",   "part",    "even",     "place", "well",      "such",   "here",   "take",    "why",
    "things", "help",    "put",      "years", "different", "away",   "again",  "off",     "went",
    "old",    "number",  "great",    "tell",  "men",       "say",    "small",  "every",   "found",
    "still",  "between", "mountain", "river", "garden",    "winter", "letter"};
// English text in byte-pair vocabularies of 32,000 to 200,000 entries comes to 1.2 to 1.4 tokens a
// word with its punctuation.
constexpr double kTokensPerWord = 1.3;
constexpr std::uint64_t kSentence = 12;  // words, on average

constexpr std::int64_t kTokensMax = 500'000'000;  // of a whole dataset: some 2.5 GB of text

}  // namespace

std::string synthetic_text(std::int64_t tokens, Rng& rng) {
  const std::int64_t words =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(tokens) / kTokensPerWord));
  std::string text;
  text.reserve(static_cast<std::size_t>(words) * 5);
  bool begin = true;
  for (std::int64_t i = 0; i < words; ++i) {
    const std::string_view word = kWords[static_cast<std::size_t>(rng.below(kWords.size()))];
    if (i > 0) text += ' ';
    text += begin ? static_cast<char>(word[0] - 'a' + 'A') : word[0];
    text += word.substr(1);
    begin = i + 1 == words || rng.below(kSentence) == 0;
    if (begin) text += '.';
  }
  return text;
}

Result<std::vector<PrefixLevel>> parse_prefixes(std::string_view text) {
  std::vector<PrefixLevel> out;
  std::int64_t total = 0;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view level = trim(part);
    const std::size_t times = level.find('x');
    const auto tokens = parse_int(level.substr(0, times));
    const auto branches = times == std::string_view::npos ? Result<std::int64_t>(std::int64_t{1})
                                                          : parse_int(level.substr(times + 1));
    constexpr std::int64_t kBranchesMax = 1'000'000;
    if (!tokens || !branches || *tokens < 1 || *tokens > kLengthMax || *branches < 1 ||
        *branches > kBranchesMax) {
      return invalid(
          format("\"{}\" is no level of prefixes; write TOKENSxBRANCHES, such as "
                 "1000x4 or 1000x4,200x8",
                 level));
    }
    total += *tokens;
    out.push_back({*tokens, static_cast<std::uint32_t>(*branches)});
  }
  if (total > kLengthMax) return invalid("the prefixes together are longer than any prompt may be");
  return out;
}

Result<std::string> exact_text(const text::Tokenizer& tokenizer, std::string prefix,
                               std::int64_t tokens, Rng& rng) {
  std::string text = std::move(prefix);
  std::vector<std::size_t> ends;  // where each word that was added begins
  const auto count = [&](std::string_view of) -> Result<std::int64_t> {
    ASSIGN_OR_RETURN(const std::size_t n, tokenizer.count(of));
    return static_cast<std::int64_t>(n);
  };
  ASSIGN_OR_RETURN(std::int64_t have, count(text));
  // Words are added by the estimate until there are enough, then taken away until there are not
  // too many. What then lacks is a token or two, which other words or marks may be.
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds && have != tokens; ++round) {
    if (have < tokens) {
      const std::int64_t add = std::max<std::int64_t>(1, (tokens - have) * 7 / 10);
      for (std::int64_t i = 0; i < add; ++i) {
        ends.push_back(text.size());
        if (!text.empty()) text += ' ';
        text += kWords[static_cast<std::size_t>(rng.below(kWords.size()))];
      }
    } else {
      if (ends.empty()) break;
      // As many words as the surplus is of all tokens, and at least one.
      const auto surplus = static_cast<double>(have - tokens) / static_cast<double>(have);
      const auto drop = std::clamp<std::size_t>(
          static_cast<std::size_t>(surplus * 0.9 * static_cast<double>(ends.size())), 1,
          ends.size());
      ends.resize(ends.size() - drop + 1);
      text.resize(ends.back());
      ends.pop_back();
    }
    ASSIGN_OR_RETURN(have, count(text));
    // Words of several tokens cannot fill the last few places; what is short can.
    constexpr std::int64_t kFew = 12;
    if (have >= tokens || tokens - have > kFew) continue;
    std::string filled = text;
    std::int64_t now = have;
    for (bool added = true; added && now < tokens;) {
      added = false;
      for (const std::string_view mark : {" the", " a", ".", "!", "?", " x", "\n", "~", "a"}) {
        ASSIGN_OR_RETURN(const std::int64_t next, count(filled + std::string(mark)));
        if (next <= now || next > tokens) continue;
        filled += mark;
        now = next;
        added = true;
        break;
      }
    }
    if (now == tokens) return filled;
  }
  if (have == tokens && !text.empty()) return text;
  return invalid(
      format("synthetic: no text of common words comes to exactly {} tokens by this "
             "tokenizer",
             tokens));
}

namespace {

// The text or ids of a tree's node, made from its path, so that all who pass it share it.
struct Prefix {
  std::string text{};
  std::vector<std::int32_t> ids{};
  std::int64_t tokens = 0;
};

class Maker {
 public:
  Maker(const SyntheticSpec& spec, const text::Tokenizer* tokenizer)
      : spec_(spec), tokenizer_(tokenizer), words_(spec.seed + 2), branches_(spec.seed + 3) {}

  Result<Sample> make(std::int64_t length) {
    ASSIGN_OR_RETURN(Prefix prefix, walk(length));
    Sample sample;
    const std::int64_t own = length - prefix.tokens;
    if (spec_.token_ids) {
      add_ids(prefix.ids, own, words_);
      sample.input_tokens = std::move(prefix.ids);
      sample.input_length = length;
    } else if (tokenizer_ != nullptr) {
      ASSIGN_OR_RETURN(sample.prompt,
                       exact_text(*tokenizer_, std::move(prefix.text), length, words_));
      sample.input_length = length;
    } else {
      sample.prompt = std::move(prefix.text);
      if (!sample.prompt.empty()) sample.prompt += ' ';
      sample.prompt += synthetic_text(own, words_);
    }
    return sample;
  }

 private:
  void add_ids(std::vector<std::int32_t>& ids, std::int64_t count, Rng& rng) const {
    const auto range = static_cast<std::uint64_t>(spec_.vocabulary_end - spec_.vocabulary_first);
    for (std::int64_t i = 0; i < count; ++i) {
      ids.push_back(spec_.vocabulary_first + static_cast<std::int32_t>(rng.below(range)));
    }
  }

  // Down the tree by chance, and no further than leaves a token of the prompt's own.
  Result<Prefix> walk(std::int64_t length) {
    Prefix out;
    std::uint64_t path = spec_.seed + 4;
    for (const PrefixLevel& level : spec_.prefixes) {
      path = Rng(path).next() + branches_.below(level.branches);
      const std::int64_t tokens = std::min(level.tokens, length - 1 - out.tokens);
      if (tokens < 1) break;
      Rng rng(Rng(path).next());
      if (spec_.token_ids) {
        add_ids(out.ids, tokens, rng);
      } else if (tokenizer_ != nullptr) {
        ASSIGN_OR_RETURN(out.text,
                         exact_text(*tokenizer_, std::move(out.text), out.tokens + tokens, rng));
      } else {
        if (!out.text.empty()) out.text += ' ';
        out.text += synthetic_text(tokens, rng);
      }
      out.tokens += tokens;
    }
    return out;
  }

  const SyntheticSpec& spec_;
  const text::Tokenizer* tokenizer_;
  Rng words_;
  Rng branches_;
};

}  // namespace

Result<Dataset> make_synthetic(const SyntheticSpec& spec, std::string name) {
  if (spec.count == 0) return invalid("synthetic.count: must be at least 1");
  if (spec.vocabulary_first < 0 || spec.vocabulary_end <= spec.vocabulary_first) {
    return invalid("synthetic: the range of token ids is empty");
  }
  const Error too_many =
      invalid(format("synthetic: {} prompts of {} tokens are more than {} tokens together; lower "
                     "synthetic.count",
                     spec.count, to_string(spec.isl), with_thousands(kTokensMax)));
  if (static_cast<double>(spec.count) * mean(spec.isl) > kTokensMax) return too_many;
  std::unique_ptr<const text::Tokenizer> tokenizer;
  if (!spec.tokenizer.empty() && !spec.token_ids) {
    ASSIGN_OR_RETURN(tokenizer, text::load_tokenizer(spec.tokenizer));
  }
  Dataset out;
  out.name = name.empty() ? "synthetic" : std::move(name);
  out.samples.reserve(spec.count);
  // One source each, so that the lengths do not depend on the words.
  Rng inputs(spec.seed);
  Rng outputs(spec.seed + 1);
  Maker maker(spec, tokenizer.get());
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < spec.count; ++i) {
    const std::int64_t length = draw_length(spec.isl, inputs);
    total += length;
    if (total > kTokensMax) return too_many;
    ASSIGN_OR_RETURN(Sample sample, maker.make(length));
    if (spec.osl) sample.output_tokens_max = draw_length(*spec.osl, outputs);
    out.samples.push_back(std::move(sample));
  }
  std::string note = format("{} synthetic prompts of {} ", spec.count, to_string(spec.isl));
  note += spec.token_ids ? "token ids each, exactly"
          : tokenizer != nullptr
              ? format("tokens each, exactly, by {}", tokenizer->description())
              : format(
                    "tokens each, by estimate: {} tokens a word; the server's own count is what "
                    "is reported",
                    kTokensPerWord);
  out.notes.push_back(std::move(note));
  if (!spec.prefixes.empty()) {
    std::int64_t shared = 0;
    for (const PrefixLevel& level : spec.prefixes) shared += level.tokens;
    out.notes.push_back(
        format("the first {} tokens of a prompt are shared with others, in a tree "
               "of {} level{}",
               with_thousands(shared), spec.prefixes.size(), spec.prefixes.size() == 1 ? "" : "s"));
  }
  return out;
}

}  // namespace assay::dataset
