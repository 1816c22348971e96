#include "dataset/csv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::dataset {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Parsed {
  Rows rows{};
  std::string error{};
};

Parsed parse(std::string_view text, std::size_t step = 1 << 20) {
  CsvReader reader(Chunks::of(text, step));
  Parsed out;
  for (;;) {
    auto row = reader.next();
    if (!row) {
      out.error = row.error().message;
      return out;
    }
    if (!*row) return out;
    out.rows.push_back(**std::move(row));
  }
}

TEST(Csv, reads_rfc_4180) {
  struct Case {
    const char* text;
    Rows rows;
  };
  const std::vector<Case> cases{
      {"", {}},
      {"\n\r\n", {}},
      {"a,b\n1,2\n", {{"a", "b"}, {"1", "2"}}},
      {"a,b\r\n1,2", {{"a", "b"}, {"1", "2"}}},
      {"a,,\n", {{"a", "", ""}}},
      {",", {{"", ""}}},
      {"\"\"\n", {{""}}},
      {"\"a,b\",\"c\"\"d\"\n", {{"a,b", "c\"d"}}},
      {"\"two\nlines\r\n\",x\n", {{"two\nlines\r\n", "x"}}},
      {"\xEF\xBB\xBF"
       "a\nb\n",
       {{"a"}, {"b"}}},
      {" a , b \n", {{" a ", " b "}}},
      {"a\r", {{"a"}}},
      {"\xC3\xA9,\xE2\x82\xAC\n", {{"\xC3\xA9", "\xE2\x82\xAC"}}},
  };
  for (const Case& c : cases) {
    for (const std::size_t step : {1U, 2U, 3U, 7U, 4096U}) {
      const Parsed parsed = parse(c.text, step);
      EXPECT_EQ(parsed.error, "") << c.text;
      EXPECT_EQ(parsed.rows, c.rows) << c.text << " in steps of " << step;
    }
  }
}

TEST(Csv, refuses_what_could_shift_a_column_and_says_where) {
  struct Case {
    const char* text;
    const char* error;
  };
  for (const Case& c : {Case{"a,b\nx\"y,2\n", "2:2: a quote inside a field"},
                        Case{"a\n\"x\"y\n", "2:4: text after a closing quote"},
                        Case{"a\n\nb,\"never\nclosed\n", "3:3: this quote is never closed"},
                        Case{"a\rb\n", "1:2: a carriage return that does not end a line"},
                        Case{"a\n\"b\nc\"d\n", "3:3: text after a closing quote"},
                        Case{"a,\xFF\n", "1:4: field 2 is not valid UTF-8"},
                        Case{"\xFF\xFE"
                             "a",
                             "1: the file is UTF-16"}}) {
    for (const std::size_t step : {1U, 3U, 4096U}) {
      const std::string error = parse(c.text, step).error;
      EXPECT_EQ(error.substr(0, std::string_view(c.error).size()), c.error) << c.text;
    }
  }
}

TEST(Csv, a_row_knows_the_line_on_which_it_began) {
  CsvReader reader(Chunks::of("h\n\n\"a\nb\"\nc\n"));
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 1U);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 3U);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.line(), 5U);
}

}  // namespace
}  // namespace assay::dataset
