#include "dataset/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

// Words that are one or two tokens in common vocabularies, so that the estimate below is right.
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
// English text has 1.2 to 1.4 tokens a word with its punctuation, in byte-pair vocabularies of
// 32,000 to 200,000 entries.
constexpr double kTokensPerWord = 1.3;
constexpr std::uint64_t kSentence = 12;  // words, on average

}  // namespace

std::int64_t synthetic_words(std::int64_t tokens) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(tokens) / kTokensPerWord));
}

std::string synthetic_text(std::int64_t tokens, Rng& rng) {
  const std::int64_t words = synthetic_words(tokens);
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
          format("\"{}\" is not a level of prefixes; write TOKENSxBRANCHES, such as "
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
  // Add words by the estimate until there are enough tokens, then remove words until there are not
  // too many. The last missing token or two come from other words or marks.
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
      // Remove the same share of words as the surplus is of all tokens, and at least one word.
      const auto surplus = static_cast<double>(have - tokens) / static_cast<double>(have);
      const auto drop = std::clamp<std::size_t>(
          static_cast<std::size_t>(surplus * 0.9 * static_cast<double>(ends.size())), 1,
          ends.size());
      ends.resize(ends.size() - drop + 1);
      text.resize(ends.back());
      ends.pop_back();
    }
    ASSIGN_OR_RETURN(have, count(text));
    // Words of several tokens cannot fill the last few places; short words can.
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

// Version of the prompts that a seed gives; part of a plan's digest.
constexpr int kGenerator = 2;
// Number of rows that are made at once, to check that they can be made.
constexpr std::uint32_t kTried = 16;

// Number of first lengths drawn in order from one source for inputs and one for outputs. A
// simulation draws the same ones, so it has the same lengths in the same order (sim::LengthList).
constexpr std::uint32_t kListedLengths = 20'000;

// Sources of random numbers of one row, or of one node of the tree of prefixes.
enum class Chance : std::uint64_t { inputs, outputs, words, branches, node };

Rng chance(std::uint64_t seed, Chance of, std::uint64_t index) {
  constexpr std::uint64_t kOdd = 0xd1342543de82ef95;
  const std::uint64_t whose = Rng(seed + static_cast<std::uint64_t>(of)).next();
  return Rng(Rng(whose ^ (index + 1) * kOdd).next());
}

// A prompt under construction, or the text or ids of a tree's node.
struct Piece {
  std::string text{};
  std::vector<std::int32_t> ids{};
  std::int64_t tokens = 0;
};

class Maker {
 public:
  Maker(SyntheticSpec spec, std::unique_ptr<const text::Tokenizer> tokenizer)
      : spec_(std::move(spec)), tokenizer_(std::move(tokenizer)) {
    // Inputs and outputs have one source each, so that lengths do not depend on the words.
    Rng inputs(spec_.seed);
    Rng outputs(spec_.seed + 1);
    for (std::uint32_t i = 0; i < std::min(spec_.count, kListedLengths); ++i) {
      listed_.push_back(draw(inputs, outputs));
    }
  }

  const text::Tokenizer* tokenizer() const { return tokenizer_.get(); }

  // `strict`: the sample must have exactly the number of tokens drawn for it.
  Result<Sample> make(std::uint32_t row, bool strict) const {
    const auto [length, output] = lengths_of(row);
    Rng words = chance(spec_.seed, Chance::words, row);
    ASSIGN_OR_RETURN(Piece piece, walk(row, length, strict));
    Sample sample;
    if (spec_.token_ids) {
      add_ids(piece, length - piece.tokens, words);
      sample.input_tokens = std::move(piece.ids);
      sample.input_length = length;
    } else {
      TRY(lengthen(piece, length, words, strict));
      sample.prompt = std::move(piece.text);
      if (tokenizer_) sample.input_length = piece.tokens;
    }
    sample.output_tokens_max = output;
    return sample;
  }

 private:
  struct Lengths {
    std::int64_t input = 0;
    std::int64_t output = 0;  // 0: the run's own
  };
  Lengths draw(Rng& inputs, Rng& outputs) const {
    Lengths out{.input = draw_length(spec_.isl, inputs)};
    if (spec_.osl) out.output = draw_length(*spec_.osl, outputs);
    return out;
  }
  Lengths lengths_of(std::uint32_t row) const {
    if (row < listed_.size()) return listed_[row];
    Rng inputs = chance(spec_.seed, Chance::inputs, row);
    Rng outputs = chance(spec_.seed, Chance::outputs, row);
    return draw(inputs, outputs);
  }

  void add_ids(Piece& piece, std::int64_t count, Rng& rng) const {
    const auto range = static_cast<std::uint64_t>(spec_.vocabulary_end - spec_.vocabulary_first);
    for (std::int64_t i = 0; i < count; ++i) {
      piece.ids.push_back(spec_.vocabulary_first + static_cast<std::int32_t>(rng.below(range)));
    }
    piece.tokens += count;
  }

  // Adds text until `piece` has `tokens`. If no words give that number with the tokenizer, the
  // nearest lower number is used and the run goes on; the dataset's first rows were checked
  // strictly.
  Result<void> lengthen(Piece& piece, std::int64_t tokens, Rng& rng, bool strict) const {
    if (!tokenizer_) {
      if (!piece.text.empty()) piece.text += ' ';
      piece.text += synthetic_text(tokens - piece.tokens, rng);
      piece.tokens = tokens;
      return {};
    }
    for (std::int64_t wanted = tokens; wanted > piece.tokens; --wanted) {
      auto text = exact_text(*tokenizer_, piece.text, wanted, rng);
      if (!text && strict) return text.error();
      if (!text) continue;
      piece.text = *std::move(text);
      piece.tokens = wanted;
      return {};
    }
    if (piece.text.empty()) piece = {.text = "the", .tokens = 1};
    return {};
  }

  // Goes down the tree at random, but leaves at least one token for the prompt itself. A node's
  // text depends only on its path, so that all prompts below it share it.
  Result<Piece> walk(std::uint32_t row, std::int64_t length, bool strict) const {
    Piece out;
    Rng branches = chance(spec_.seed, Chance::branches, row);
    std::uint64_t path = spec_.seed;
    for (const PrefixLevel& level : spec_.prefixes) {
      path = Rng(path).next() + branches.below(level.branches);
      const std::int64_t tokens = std::min(level.tokens, length - 1 - out.tokens);
      if (tokens < 1) break;
      Rng rng = chance(path, Chance::node, 0);
      if (spec_.token_ids) {
        add_ids(out, tokens, rng);
      } else {
        TRY(lengthen(out, out.tokens + tokens, rng, strict));
      }
    }
    return out;
  }

  SyntheticSpec spec_;
  std::unique_ptr<const text::Tokenizer> tokenizer_;
  std::vector<Lengths> listed_{};
};

Result<std::string> recipe_of(const SyntheticSpec& spec, const text::Tokenizer* tokenizer) {
  std::string out =
      format("synthetic {}: seed {}, isl {}", kGenerator, spec.seed, to_string(spec.isl));
  if (spec.osl) out += format(", osl {}", to_string(*spec.osl));
  for (const PrefixLevel& level : spec.prefixes) {
    out += format(", prefix {}x{}", level.tokens, level.branches);
  }
  if (spec.token_ids) {
    out += format(", ids {} to {}", spec.vocabulary_first, spec.vocabulary_end);
  }
  if (tokenizer == nullptr) return out;
  ASSIGN_OR_RETURN(const std::filesystem::path file, text::tokenizer_file(spec.tokenizer));
  ASSIGN_OR_RETURN(const std::string bytes, read_file(file));
  return out + format(", tokenizer {}", sha256_hex(bytes));
}

}  // namespace

Result<Dataset> make_synthetic(const SyntheticSpec& spec, std::string name) {
  if (spec.count == 0) return invalid("synthetic.count: must be at least 1");
  if (spec.vocabulary_first < 0 || spec.vocabulary_end <= spec.vocabulary_first) {
    return invalid("synthetic: the range of token ids is empty");
  }
  std::unique_ptr<const text::Tokenizer> tokenizer;
  if (!spec.tokenizer.empty() && !spec.token_ids) {
    ASSIGN_OR_RETURN(tokenizer, text::load_tokenizer(spec.tokenizer));
  }
  Dataset out;
  out.name = name.empty() ? "synthetic" : std::move(name);
  ASSIGN_OR_RETURN(out.recipe, recipe_of(spec, tokenizer.get()));
  // Shared by the copies of the dataset.
  const auto maker = std::make_shared<const Maker>(spec, std::move(tokenizer));
  for (std::uint32_t row = 0; maker->tokenizer() != nullptr && row < spec.count; ++row) {
    if (row == kTried) break;
    TRY(maker->make(row, true));
  }
  out.made_rows = spec.count;
  out.slow_rows = maker->tokenizer() != nullptr;
  out.make_row = [maker](std::uint32_t row) {
    auto made = maker->make(row, false);
    CHECK(made);
    return *std::move(made);
  };
  std::string note = format("{} synthetic prompts of {} ", spec.count, to_string(spec.isl));
  note += spec.token_ids ? "token ids each, exactly"
          : maker->tokenizer() != nullptr
              ? format("tokens each, exactly, by {}", maker->tokenizer()->description())
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
               "of {}",
               with_thousands(shared), counted(spec.prefixes.size(), "level")));
  }
  return out;
}

}  // namespace assay::dataset
