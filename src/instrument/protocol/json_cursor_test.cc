#include "protocol/json_cursor.h"

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "base/json.h"
#include "base/rng.h"
#include "domain/event.h"

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
  EXPECT_EQ(unescaped("\xF0\x9F"), "\xF0\x9F");  // half a character passes
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

// The same text for a reader that refuses raw control bytes in strings.
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

// The text ends at its end, for any bytes behind it: here, bytes that would continue it.
TEST(JsonCursor, nothing_behind_the_end_is_text) {
  for (const std::string whole :
       {"[1234.5678e+12]", "-12.75E-3", "[true,false,null]", "{\"a\\n\\u0041b\":\"c\",\"d\":{}}  ",
        "  [ 1 , [ ] ]", "\"\\ud83d\\ude00\\\\\"", "1e5", "0.5", "[[],[]]"}) {
    const std::string behind = whole + std::string(64, '1');
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::string_view text(behind.data(), size);
      JsonCursor cursor(text);
      const bool taken = cursor.skip() && cursor.at_end();
      EXPECT_EQ(taken, Json::parse(std::string(text)).has_value()) << text;
      JsonCursor counted(text);
      std::int32_t count = 0;
      EXPECT_EQ(counted.count_or_skip(count) && counted.at_end(), taken) << text;
    }
  }
  const char text[] = "[1  2";
  JsonCursor cursor({text, 3});
  EXPECT_EQ(cursor.peek(), '[');
  EXPECT_FALSE(cursor.at_end());
  cursor = JsonCursor({text + 2, 1});
  EXPECT_EQ(cursor.peek(), '\0');
  EXPECT_TRUE(cursor.at_end());
  EXPECT_EQ(cursor.position(), text + 3);
}

// A number needs a digit of its own, for any byte behind it; and a string its end.
TEST(JsonCursor, a_count_with_zeros_in_front_is_no_number) {
  for (const std::string text : {"[00]", "[01]", "[007]", "[000000001]", "[0123456789]"}) {
    const std::string bytes = text + std::string(64, ']');
    JsonCursor cursor({bytes.data(), text.size()});
    std::int32_t count = 0;
    EXPECT_FALSE(cursor.array([&] { return cursor.count_or_skip(count); })) << text;
  }
}

TEST(JsonCursor, what_breaks_off_is_refused_at_once) {
  for (const char* const text :
       {"",    "-",      "1.",      "1e",       "1e+",       "1e-",       "\"",
        "\"a", "\"\\",   "\"\\u12", "\"a\\n",   "[",         "[1",        "[1,",
        "{",   "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "[\"\\x\"]", "{\"a\\x\":1}"}) {
    for (const char behind : {'0', '-', '+', '.', 'e', '1'}) {
      const std::string bytes = text + std::string(64, behind);
      JsonCursor cursor({bytes.data(), std::string_view(text).size()});
      EXPECT_FALSE(cursor.skip()) << text << behind;
    }
  }
}

TEST(JsonCursor, a_zero_byte_is_no_end) {
  const std::string text(64, '\0');
  JsonCursor cursor({text.data(), 1});
  EXPECT_EQ(cursor.peek(), '\0');
  EXPECT_FALSE(cursor.at_end());
}

TEST(JsonCursor, nests_256_deep_and_no_deeper) {
  const auto arrays = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  const auto objects = [](std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += "{\"a\":";
    return out + "1" + std::string(n, '}');
  };
  EXPECT_TRUE(sound(arrays(257)));
  EXPECT_FALSE(sound(arrays(258)));
  EXPECT_TRUE(sound(objects(256)));
  EXPECT_FALSE(sound(objects(257)));
  const std::string deep = padded(arrays(258));
  JsonCursor cursor({deep.data(), deep.size() - 64});
  EXPECT_FALSE(cursor.skip()) << "it is refused where it is too deep";
}

TEST(JsonCursor, a_string_says_where_it_lies_and_whether_it_is_as_it_stands) {
  const std::string bytes = padded("\"ab\" \"a\\n\" \"\x01\\\"\x02\" \"\"");
  JsonCursor cursor({bytes.data(), bytes.size() - 64});
  RawString text;
  const auto next = [&] { return cursor.peek() == '"' && cursor.string(text); };
  ASSERT_TRUE(next());
  EXPECT_EQ(text.view(), "ab");
  EXPECT_EQ(text.data, bytes.data() + 1);
  EXPECT_FALSE(text.escaped);
  ASSERT_TRUE(next());
  EXPECT_EQ(text.view(), "a\\n");
  EXPECT_TRUE(text.escaped);
  EXPECT_EQ(cursor.raw_controls(), 0U);
  ASSERT_TRUE(next());
  EXPECT_TRUE(text.escaped);
  EXPECT_EQ(cursor.raw_controls(), 2U);
  ASSERT_TRUE(next());
  EXPECT_FALSE(text.escaped);
  EXPECT_TRUE(text.empty());
  EXPECT_NE(text.data, nullptr);
  EXPECT_TRUE(cursor.at_end());
}

TEST(JsonCursor, another_value_in_place_of_a_string_makes_it_absent) {
  const std::string bytes = padded(" \"a\" {\"b\":1} 7");
  JsonCursor cursor({bytes.data(), bytes.size() - 64});
  RawString text;
  EXPECT_TRUE(cursor.string_or_skip(text));
  EXPECT_EQ(text.view(), "a");
  std::string_view slice;
  JsonCursor other = cursor;
  EXPECT_TRUE(other.slice(slice));
  EXPECT_EQ(slice, "{\"b\":1}");
  EXPECT_TRUE(cursor.string_or_skip(text));
  EXPECT_EQ(text.data, nullptr);
  EXPECT_TRUE(cursor.slice(slice));
  EXPECT_EQ(slice, "7");
  EXPECT_FALSE(cursor.slice(slice));
  EXPECT_FALSE(cursor.string_or_skip(text));
}

TEST(JsonCursor, members_and_items_are_given_one_by_one) {
  const std::string bytes = padded("{ \"a\" : 1 , \"b\" :[ 2 , [3] ,{} ] }");
  JsonCursor cursor({bytes.data(), bytes.size() - 64});
  std::string story;
  ASSERT_EQ(cursor.peek(), '{');
  EXPECT_TRUE(cursor.object([&](const RawString& key) {
    story += std::string(key.view()) + "=";
    if (cursor.peek() != '[') return cursor.skip();
    return cursor.array([&] {
      std::string_view item;
      if (!cursor.slice(item)) return false;
      story += std::string(item) + ";";
      return true;
    });
  }));
  EXPECT_EQ(story, "a=b=2;[3];{};");
  EXPECT_TRUE(cursor.at_end());
  // The callback for a member may refuse it.
  JsonCursor refused({bytes.data(), bytes.size() - 64});
  EXPECT_EQ(refused.peek(), '{');
  EXPECT_FALSE(refused.object([](const RawString&) { return false; }));
}

// Blanks before a member's value and before an item are passed for the callback.
TEST(JsonCursor, a_callback_stands_at_its_value) {
  const std::string bytes = padded("{ \"a\" : \n\t\"b\" , \"c\":  [ \"d\" ,\r\n \"e\"]}");
  JsonCursor cursor({bytes.data(), bytes.size() - 64});
  std::string story;
  RawString text;
  ASSERT_EQ(cursor.peek(), '{');
  EXPECT_TRUE(cursor.object([&](const RawString&) {
    story += *cursor.position();
    const auto take = [&] {
      const bool taken = *cursor.position() == '"' && cursor.string(text);
      story += text.view();
      return taken;
    };
    return *cursor.position() == '[' ? cursor.array(take) : take();
  }));
  EXPECT_EQ(story, "\"b[de");
}

TEST(JsonCursor, a_wrong_word_is_refused_where_it_stands) {
  for (const char* text : {"nulx", "trux", "falsx", "nul", "n", "t", "f", "NULL", "tru", "fals"}) {
    const std::string bytes = padded(text);
    const std::string_view own(bytes.data(), std::string_view(text).size());
    JsonCursor cursor(own);
    EXPECT_FALSE(cursor.skip()) << text;
    JsonCursor sliced(own);
    std::string_view slice;
    EXPECT_FALSE(sliced.slice(slice)) << text;
    JsonCursor counted(own);
    std::int32_t count = 0;
    EXPECT_FALSE(counted.count_or_skip(count)) << text;
  }
}

std::string utf8_of(std::string_view escapes) { return unescaped(escapes); }

TEST(Unescape, each_code_point_has_as_many_bytes_as_utf8_gives_it) {
  EXPECT_EQ(utf8_of(R"(\u0001\u007f)"), "\x01\x7f");
  EXPECT_EQ(utf8_of(R"(\u0080)"), "\xC2\x80");
  EXPECT_EQ(utf8_of(R"(\u07fF)"), "\xDF\xBF");
  EXPECT_EQ(utf8_of(R"(\u0800)"), "\xE0\xA0\x80");
  EXPECT_EQ(utf8_of(R"(\uFFFF)"), "\xEF\xBF\xBF");
  EXPECT_EQ(utf8_of(R"(\ud800\udc00)"), "\xF0\x90\x80\x80");
  EXPECT_EQ(utf8_of(R"(\uDBFF\uDFFF)"), "\xF4\x8F\xBF\xBF");
  EXPECT_EQ(utf8_of(R"(\ud840\udc01)"), "\xF0\xA0\x80\x81");
  // Next to the surrogates.
  EXPECT_EQ(utf8_of(R"(\ud7ff)"), "\xED\x9F\xBF");
  EXPECT_EQ(utf8_of(R"(\ue000)"), "\xEE\x80\x80");
  EXPECT_EQ(utf8_of(R"(\udfff)"), "\xEF\xBF\xBD");
  EXPECT_EQ(utf8_of(R"(\udc00)"), "\xEF\xBF\xBD");
  EXPECT_EQ(utf8_of(R"(\udbff\ue000)"), "\xEF\xBF\xBD\xEE\x80\x80");
  EXPECT_EQ(utf8_of(R"(\ud800\udbff)"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(utf8_of(R"(\ud800\u0041)"), "\xEF\xBF\xBD\x41");
  EXPECT_EQ(utf8_of(R"(\udc00\udc00)"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(EscapeLength, is_two_or_six_and_none_of_what_is_cut) {
  const auto length = [](std::string_view text) {
    const std::string behind = std::string(text) + "u1234\"";
    return escape_length(behind.data(), behind.data() + text.size());
  };
  for (const char* two : {"\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\nx"}) {
    EXPECT_EQ(length(two), 2U) << two;
  }
  EXPECT_EQ(length("\\u12aF"), 6U);
  EXPECT_EQ(length("\\u12aF7"), 6U);
  for (const char* none : {"", "\\", "\\x", "\\u", "\\u1", "\\u12", "\\u123", "\\ug234", "\\u1g34",
                           "\\u12g4", "\\u123g", "\\U1234", "nn", "\\0"}) {
    EXPECT_EQ(length(none), 0U) << none;
  }
}

TEST(JsonCursor, a_count_is_any_number_that_is_whole_and_fits) {
  const std::pair<const char*, int> cases[] = {{"0", 0},
                                               {"9", 9},
                                               {"-0", 0},
                                               {"-1", kNoCount},
                                               {"0.0", 0},
                                               {"-0.0", 0},
                                               {"0e9", 0},
                                               {"1.0", 1},
                                               {"-1.0", kNoCount},
                                               {"0.5", kNoCount},
                                               {"2147483648", kNoCount},
                                               {"2147483647.0", 2147483647},
                                               {"1e400", kNoCount},
                                               {"-1e400", kNoCount},
                                               {"true", kNoCount},
                                               {"[1]", kNoCount},
                                               {"{\"a\":1}", kNoCount},
                                               {"false", kNoCount}};
  for (const auto& [text, expected] : cases) {
    const std::string bytes = padded(text);
    JsonCursor cursor({bytes.data(), std::string_view(text).size()});
    std::int32_t count = 5;
    EXPECT_TRUE(cursor.count_or_skip(count));
    EXPECT_EQ(count, expected) << text;
    EXPECT_TRUE(cursor.at_end());
  }
}

}  // namespace
}  // namespace assay::protocol
