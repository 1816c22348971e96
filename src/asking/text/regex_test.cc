#include "text/regex.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "base/rng.h"

namespace assay::text {
namespace {

// Returns all matches, as "begin-end" pairs.
std::string matched_text(std::string_view pattern, std::string_view text) {
  auto regex = Regex::compile(pattern);
  if (!regex) return regex.error().message;
  RegexStack stack;
  Regex::Match match;
  std::string out;
  for (std::size_t at = 0; regex->find(text, at, stack, match);) {
    out += format("{}-{} ", match.begin, match.end);
    at = match.end > match.begin ? match.end : match.end + 1;
    if (at > text.size()) break;
  }
  if (stack.exhausted) out += "exhausted";
  return out;
}

TEST(Regex, takes_the_first_alternative_and_the_longest_run) {
  EXPECT_EQ(matched_text("a|ab", "ab"), "0-1 ");
  EXPECT_EQ(matched_text("ab|a", "ab"), "0-2 ");
  EXPECT_EQ(matched_text("a+", "baaab"), "1-4 ");
  EXPECT_EQ(matched_text("a+?", "aaa"), "0-1 1-2 2-3 ");
  EXPECT_EQ(matched_text("a{2,3}", "aaaaa"), "0-3 3-5 ");
  EXPECT_EQ(matched_text("(?:ab)+c?", "ababc ab"), "0-5 6-8 ");
}

TEST(Regex, gives_back_only_where_it_must) {
  EXPECT_EQ(matched_text("a+ab", "aaab"), "0-4 ");
  EXPECT_EQ(matched_text("a++ab", "aaab"), "");
  EXPECT_EQ(matched_text("(?>a+)ab", "aaab"), "");
  EXPECT_EQ(matched_text(R"(\s+(?!\S)|\s+)", "a   b "), "1-3 3-4 5-6 ");
}

TEST(Regex, looks_around) {
  EXPECT_EQ(matched_text("(?<=a)b", "ab bb"), "1-2 ");
  EXPECT_EQ(matched_text("(?<!a)b", "ab bb"), "3-4 4-5 ");
  EXPECT_EQ(matched_text("a(?=bc)", "abd abc"), "4-5 ");
  EXPECT_EQ(matched_text("a(?!bc)", "abd abc"), "0-1 ");
  EXPECT_EQ(matched_text(R"(\ba)", "a ba a"), "0-1 5-6 ");
}

TEST(Regex, a_class_may_be_nested_negated_and_intersected) {
  EXPECT_EQ(matched_text("[a-c[x]]+", "abxd"), "0-3 ");
  EXPECT_EQ(matched_text("[^a-c]+", "abxyd"), "2-5 ");
  EXPECT_EQ(matched_text("[a-z&&[^aeiou]]+", "hello"), "0-1 2-4 ");
  EXPECT_EQ(matched_text(R"([\p{Lu}\d]+)", "aB3c"), "1-3 ");
  EXPECT_EQ(matched_text(R"([\]\-x]+)", "a]-xb"), "1-4 ");
}

TEST(Regex, says_what_it_does_not_know) {
  EXPECT_NE(matched_text(R"((a)\1)", "aa").find("not supported"), std::string::npos);
  EXPECT_NE(matched_text(R"(\p{Klingon})", "a").find("not supported"), std::string::npos);
  EXPECT_NE(matched_text("(?<=ab)c", "abc").find("not supported"), std::string::npos);
  EXPECT_NE(matched_text("(a", "a").find("not closed"), std::string::npos);
  EXPECT_NE(matched_text("a)", "a").find("unmatched"), std::string::npos);
  EXPECT_NE(matched_text("*a", "a").find("nothing to repeat"), std::string::npos);
  EXPECT_NE(matched_text("[z-a]", "a").find("wrong way round"), std::string::npos);
  EXPECT_NE(matched_text("(?:(?:(?:a{1000}){1000}){1000})", "a").find("too large"),
            std::string::npos);
}

TEST(Regex, gives_up_in_bounded_time) {
  const std::string text(40, 'a');
  EXPECT_EQ(matched_text("(?:a+)+b", text), "exhausted");
  EXPECT_EQ(matched_text("(?:a|aa)*b", text), "exhausted");
}

TEST(Regex, all_matches_of_a_text_share_one_limit) {
  const Regex pattern = Regex::compile("a(?!.*b)").value();
  const std::string text(200, 'a');
  const auto count = [&](std::uint64_t steps) {
    RegexStack stack;
    stack.steps_left = steps;
    Regex::Match match;
    std::size_t found = 0;
    for (std::size_t at = 0; pattern.find(text, at, stack, match); at = match.end) ++found;
    return std::pair(found, stack.exhausted);
  };
  EXPECT_EQ(count(1'000'000), std::pair(std::size_t{200}, false));
  const auto [found, exhausted] = count(10'000);
  EXPECT_TRUE(exhausted);
  EXPECT_LT(found, 200U);
}

TEST(Regex, deep_nesting_is_an_error_and_no_crash) {
  const std::string open(100'000, '(');
  EXPECT_NE(matched_text(open, "a").find("nested"), std::string::npos);
  EXPECT_NE(matched_text(std::string(100'000, '['), "a").find("nested"), std::string::npos);
}

TEST(Regex, an_empty_loop_ends) {
  EXPECT_EQ(matched_text("(?:a*)*b", "aab"), "0-3 ");
  EXPECT_EQ(matched_text("(?:a|b*)*c", "abbc"), "0-4 ");
}

TEST(Regex, many_alternatives_keep_their_order) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += format("{}x{}", i > 0 ? "|" : "", i);
  EXPECT_EQ(matched_text(pattern, "x1"), "0-2 ");
  EXPECT_EQ(matched_text(pattern, "x17"), "0-2 ");  // x1 comes before x17
  EXPECT_EQ(matched_text("x17|x1", "x17"), "0-3 ");
}

// Returns the groups of the first match in Python's dialect: "a,-" for two of which one took part.
std::string captured(std::string_view pattern, std::string_view text) {
  auto regex = Regex::compile(pattern, RegexDialect::python);
  if (!regex) return regex.error().message;
  RegexStack stack;
  Regex::Match match;
  if (!regex->find(text, 0, stack, match)) return "no match";
  std::string out(text.substr(match.begin, match.end - match.begin));
  for (std::size_t i = 1; i <= regex->groups(); ++i) {
    const auto group = regex->group(i, stack);
    out += group ? format(",{}", text.substr(group->begin, group->end - group->begin)) : ",-";
  }
  return out;
}

// The expectations are those of Python's re.search.
TEST(Regex, captures_groups_as_python_does) {
  EXPECT_EQ(captured(R"(#### (\-?[0-9\.\,]+))", "so #### -1,234."), "#### -1,234.,-1,234.");
  EXPECT_EQ(captured("(a)|(b)", "xb"), "b,-,b");
  EXPECT_EQ(captured("(?:(a)|b)*", "ab"), "ab,a");
  EXPECT_EQ(captured("(a+)(?:b|(c))", "aac"), "aac,aa,c");
  EXPECT_EQ(captured("(?P<all>(x)(?i:y)z)", "xYz"), "xYz,xYz,x");
  EXPECT_EQ(captured("(a)?b", "b"), "b,-");
  EXPECT_EQ(captured("((a)b|ac)", "ac"), "ac,ac,-");
  EXPECT_EQ(captured("(?=(a+))a", "aaa"), "a,aaa");
  EXPECT_EQ(captured("x(?!(a))", "xb"), "x,-");
  EXPECT_EQ(captured("(?:(?=(a))ab|ac)", "ac"), "ac,-");
}

TEST(Regex, reads_ends_flags_and_classes_as_python_does) {
  EXPECT_EQ(captured("^b", "a\nb"), "no match");
  EXPECT_EQ(captured("(?m)^b", "a\nb"), "b");
  EXPECT_EQ(captured("a$", "a\n"), "a");
  EXPECT_EQ(captured("a\\Z", "a\n"), "no match");
  EXPECT_EQ(captured("a.b", "a\nb"), "no match");
  EXPECT_EQ(captured("(?s)a.b", "a\nb"), "a\nb");
  EXPECT_EQ(captured("[[a&&]+", "x[a&b"), "[a&");
  EXPECT_EQ(captured("\\s", "\x1f"), "\x1f");
  EXPECT_EQ(captured("^(.*?)(?=\\n|$)", " B\nC"), " B, B");
}

}  // namespace
}  // namespace assay::text
