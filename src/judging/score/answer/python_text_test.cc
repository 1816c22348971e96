#include "score/answer/python_text.h"

#include <gtest/gtest.h>

namespace assay::score {
namespace {

std::string_view stripped(std::string_view text) { return python_strip(text); }

TEST(PythonStrip, takes_the_spaces_of_unicode_from_both_ends) {
  EXPECT_EQ(stripped(" \t\n a b \x1f"), "a b");
  EXPECT_EQ(stripped("\u00a0\u2003\u3000x\u2029\u0085"), "x");
  EXPECT_EQ(stripped("\u200bx"), "\u200bx") << "a space of no width is none";
  EXPECT_EQ(stripped("\u00e9\u4e2d"), "\u00e9\u4e2d");
  EXPECT_EQ(stripped(" \u3000 "), "");
  EXPECT_EQ(stripped(""), "");
}

// Python reads them as U+FFFD, which is no space.
TEST(PythonStrip, bytes_that_are_no_character_stay) {
  for (const std::string_view broken : {"\x85", "\xa0", "\xc2", "\xe3\x80", "\xe2", "\xff\x85",
                                        "\x85\x85\x85\x85\x85", "\xf0\x80\x80\x85"}) {
    EXPECT_EQ(stripped(broken), broken);
    const std::string between = " " + std::string(broken) + "\u00a0\n";
    EXPECT_EQ(stripped(between), broken);
  }
}

}  // namespace
}  // namespace assay::score
