#include "protocol/json_cursor.h"

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "base/json.h"
#include "base/rng.h"

namespace assay::protocol {
namespace {

std::string padded(std::string_view text) { return std::string(text) + std::string(64, '"'); }

bool sound(std::string_view text) {
  const std::string bytes = padded(text);
  JsonCursor cursor({bytes.data(), text.size()});
  return cursor.skip() && cursor.at_end();
}

std::string unescaped(std::string_view body, RawControls raw_controls = RawControls::refused) {
  const std::string bytes = padded(body);
  std::string out(3 * body.size(), '\0');
  const char* const end =
      unescape(bytes.data(), bytes.data() + body.size(), out.data(), raw_controls);
  if (end == nullptr) return "not a string";
  out.resize(static_cast<std::size_t>(end - out.data()));
  return out;
}

TEST(FindSpecial, agrees_with_a_byte_by_byte_search) {
  Rng rng(20261120);
  for (int round = 0; round < 20000; ++round) {
    std::string text(rng.below(40), '\0');
    for (char& c : text) {
      const std::uint64_t kind = rng.below(20);
      c = static_cast<char>(kind == 0   ? '"'
                            : kind == 1 ? '\\'
                            : kind == 2 ? rng.below(32)
                                        : 32 + rng.below(224));
    }
    std::size_t expected = 0;
    while (expected < text.size() && text[expected] != '"' && text[expected] != '\\' &&
           static_cast<unsigned char>(text[expected]) >= 0x20) {
      ++expected;
    }
    const std::string bytes = padded(text);
    const char* const found = find_special(bytes.data(), bytes.data() + text.size());
    ASSERT_EQ(static_cast<std::size_t>(found - bytes.data()), expected) << "round " << round;
    ASSERT_EQ(find_special_by_words(bytes.data(), bytes.data() + text.size()), found);
  }
}

TEST(Unescape, undoes_every_escape) {
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d\b\f\n\r\te)"), "a\"b\\c/d\b\f\n\r\te");
  EXPECT_EQ(unescaped(R"(\u0041\u00e9\u20AC\ud83D\uDE00)"), "Aé€😀");
  EXPECT_EQ(unescaped("\xF0\x9F"), "\xF0\x9F");  // half a character goes through
}

TEST(Unescape, lone_surrogates_become_the_replacement_character) {
  EXPECT_EQ(unescaped(R"(\ud83d)"), "\xEF\xBF\xBD");
  EXPECT_EQ(unescaped(R"(\ude00!)"), "\xEF\xBF\xBD!");
  EXPECT_EQ(unescaped(R"(\ud83d\ud83d\ude00)"), "\xEF\xBF\xBD😀");
  EXPECT_EQ(unescaped(R"(\ud83dx)"), "\xEF\xBF\xBDx");
  EXPECT_EQ(unescaped(R"(\ud83d\n)"), "\xEF\xBF\xBD\n");
}

TEST(Unescape, raw_control_bytes_become_the_replacement_character_where_they_are_taken) {
  using namespace std::string_view_literals;
  const auto lenient = [](std::string_view body) { return unescaped(body, RawControls::replaced); };
  EXPECT_EQ(lenient("a\0b\x1f"sv),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_EQ(lenient("\t\n\\n\x7f"), "\xEF\xBF\xBD\xEF\xBF\xBD\n\x7f");
  EXPECT_EQ(lenient("a\"b"), "not a string");
  EXPECT_EQ(lenient("\x01\\x"), "not a string");
}

TEST(Unescape, refuses_what_cannot_stand_in_a_string) {
  for (const char* body : {"\"", "a\"b", "\\", "\\x", "\\u12", "\\u12g4", "\n", "abcdefgh\x01"}) {
    EXPECT_EQ(unescaped(body), "not a string") << body;
  }
}

// The same text for a reader that takes no raw control bytes in strings.
std::string without_raw_controls(std::string text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      inside = !inside;
    } else if (inside && static_cast<unsigned char>(text[i]) < 0x20) {
      text[i] = '.';
    }
  }
  return text;
}

TEST(JsonCursor, takes_and_refuses_the_same_texts_as_simdjson) {
  for (const char* text :
       {"{}",       "[]",         "0",           "-0",
        "-1.5e+10", "1E5",        "true",        "false",
        "null",     "\"\"",       " [ 1 , 2 ] ", "{\"a\":{\"b\":[1,{}]},\"c\":\"\\u0041\"}",
        "",         " ",          "{",           "}",
        "[1,]",     "[,1]",       "{\"a\"}",     "{\"a\":}",
        "{a:1}",    "{\"a\":1,}", "01",          "-",
        "1.",       ".5",         "1e",          "+1",
        "nul",      "True",       "truefalse",   "\"",
        "\"\\x\"",  "\n\"\"",     "1 2",         "{}{}",
        "[1 2]",    "{\"a\" 1}",  "[\"a\":1]",   "{\"a\":1]",
        "[1}",      "NaN",        "\"a\" \"b\""}) {
    EXPECT_EQ(sound(text), Json::parse(text).has_value()) << text;
  }
}

TEST(JsonCursor, refuses_nesting_without_end) {
  EXPECT_TRUE(sound(std::string(200, '[') + std::string(200, ']')));
  EXPECT_FALSE(sound(std::string(100'000, '[')));
}

TEST(JsonCursor, damaged_texts_are_refused_where_simdjson_refuses_them) {
  const std::string text = R"({"id":"x-1","n":[1,-2.5e3,true,null],"s":"a\n\u00e9","o":{"k":""}})";
  Rng rng(7);
  for (int round = 0; round < 30000; ++round) {
    std::string damaged = text;
    const std::uint64_t edits = 1 + rng.below(3);
    for (std::uint64_t i = 0; i < edits; ++i) {
      damaged[rng.below(damaged.size())] = "{}[]\",:\\0123456789.eE+-tfnua \t\n"[rng.below(32)];
    }
    if (rng.below(4) == 0) damaged.resize(rng.below(damaged.size()));
    ASSERT_EQ(sound(damaged), Json::parse(without_raw_controls(damaged)).has_value())
        << round << ": " << damaged;
  }
}

TEST(JsonCursor, counts_are_whole_numbers_that_fit) {
  const std::pair<const char*, int> cases[] = {
      {"12", 12},        {"12.0", 12},        {"1e3", 1000},
      {"-3", kNoCount},  {"\"7\"", kNoCount}, {"null", -1},
      {"4e9", kNoCount}, {"1.5", kNoCount},   {"2147483647", 2147483647}};
  for (const auto& [text, expected] : cases) {
    const std::string bytes = padded(text);
    JsonCursor cursor({bytes.data(), std::string_view(text).size()});
    std::int32_t count = 0;
    EXPECT_TRUE(cursor.count_or_skip(count));
    EXPECT_EQ(count, expected) << text;
  }
}

}  // namespace
}  // namespace assay::protocol
