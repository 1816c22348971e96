#include "text/regex_states.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace assay::text {
namespace {

constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCl100k =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|)"
    R"(\s++$|\s*[\r\n]|\s+(?!\S)|\s)";
constexpr std::string_view kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

Matches matches(const Regex& regex, std::string_view text) {
  RegexStack stack;
  Regex::Match match;
  Matches found;
  for (std::size_t at = 0; at <= text.size() && regex.find(text, at, stack, match);) {
    found.emplace_back(match.begin, match.end);
    EXPECT_GT(match.end, match.begin);
    at = match.end;
  }
  EXPECT_FALSE(stack.exhausted);
  return found;
}

// What `cut` passes on: all of the text, in order; without the pieces between matches it is the
// matches.
std::vector<std::string> pieces(const RegexStates& states, std::string_view text) {
  RegexStack stack;
  std::vector<std::string> found;
  states.cut(text, stack, [&](std::string_view piece) { found.emplace_back(piece); });
  EXPECT_FALSE(stack.exhausted);
  return found;
}

std::vector<std::string> pieces(const Matches& found, std::string_view text) {
  std::vector<std::string> made;
  std::size_t done = 0;
  for (const auto& [begin, end] : found) {
    if (begin > done) made.emplace_back(text.substr(done, begin - done));
    made.emplace_back(text.substr(begin, end - begin));
    done = end;
  }
  if (done < text.size()) made.emplace_back(text.substr(done));
  return made;
}

std::string random_text(Rng& rng) {
  constexpr std::array<std::string_view, 26> kBits = {
      "a",  "b", "B", "s",  "ll", "'",  "'s", " ",  "  ", "\n",     "\r\n", "\t",     "1",
      "22", ".", "/", "!=", "A",  "Dž", "é",  "字", "ʰ",  "\u0301", "𝟙",    "\u00a0", "ſ"};
  std::string text;
  for (std::uint64_t n = rng.below(14); n > 0; --n) {
    text += kBits[static_cast<std::size_t>(rng.below(kBits.size()))];
  }
  return text;
}

TEST(RegexStates, match_as_the_engine_does_on_random_texts) {
  const std::array<std::string_view, 22> kPatterns = {kLlama3,
                                                      kCl100k,
                                                      kO200k,
                                                      "a|ab|b",
                                                      "ab|a|b",
                                                      "a+b|a|b+?",
                                                      R"(\s+(?!\S)|\s+)",
                                                      "a{2,3}|b{2,}?a|.",
                                                      "(?:ab|b)?s|l{1,2}",
                                                      R"(\w+(?= )|\d+)",
                                                      R"([^a]*a|1$|2\z)",
                                                      R"(\s*\n|a++b|b?+1)",
                                                      "[a-b]{0,2}s|[lA]+?l",
                                                      R"(\p{Lu}?\p{Ll}{1,2}|\p{M}+|字)",
                                                      R"(a(?!b)|b(?=a)|'[^']*')",
                                                      R"( ?[^\s\p{L}\p{N}]+[\r\n]*)",
                                                      "(?:a|b)(?:s|l)|.",
                                                      R"(\n$|.)",
                                                      R"([ab]*+s|[ab])",
                                                      R"((?i:s|ll)+?a|é)",
                                                      "a|",
                                                      "b{3}|ba{1,4}"};
  Rng rng(7);
  std::size_t with_states = 0;
  for (const std::string_view pattern : kPatterns) {
    const auto engine = Regex::compile(pattern);
    ASSERT_TRUE(engine.has_value()) << pattern;
    Regex fast = *engine;
    fast.use_states();
    if (fast.states() == nullptr) continue;
    ++with_states;
    for (int i = 0; i < 1500; ++i) {
      const std::string text = random_text(rng);
      const Matches want = matches(*engine, text);
      ASSERT_EQ(matches(fast, text), want) << pattern << " on '" << text << "'";
      ASSERT_EQ(pieces(*fast.states(), text), pieces(want, text)) << pattern << " on " << text;
    }
  }
  EXPECT_GE(with_states, 18u);
}

TEST(RegexStates, every_pattern_of_public_tokenizers_has_them) {
  for (const std::string_view pattern : {kLlama3, kCl100k, kO200k}) {
    auto regex = Regex::compile(pattern, RegexDialect::rust);
    ASSERT_TRUE(regex.has_value());
    regex->use_states();
    ASSERT_NE(regex->states(), nullptr) << pattern;
    EXPECT_LT(regex->states()->states(), 100u);
  }
}

// What a state cannot know is left to the engine.
TEST(RegexStates, are_not_made_of_what_needs_more_than_the_next_character) {
  for (const char* pattern :
       {"(?<=a)b", R"(\ba)", "(?>a|ab)b", "a*", "a++ab", "a(?=bc)", "(?:ab)+c", "a{300}", "^a"}) {
    auto regex = Regex::compile(pattern);
    ASSERT_TRUE(regex.has_value()) << pattern;
    regex->use_states();
    EXPECT_EQ(regex->states(), nullptr) << pattern;
  }
}

TEST(RegexStates, a_text_that_is_read_again_and_again_ends_with_exhausted) {
  auto regex = Regex::compile("a*b|a");
  ASSERT_TRUE(regex.has_value());
  regex->use_states();
  ASSERT_NE(regex->states(), nullptr);
  RegexStack stack;
  stack.steps_left = 10'000;
  std::size_t taken = 0;
  const std::string text(100'000, 'a');
  regex->states()->cut(text, stack, [&](std::string_view piece) { taken += piece.size(); });
  EXPECT_TRUE(stack.exhausted);
  EXPECT_LT(taken, 10u);
}

}  // namespace
}  // namespace assay::text
