#include "base/display.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace assay {
namespace {

TEST(Display, width_counts_columns_and_not_bytes) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("31 µs"), 5U);
  EXPECT_EQ(display_width("▁▂▃▅▇"), 5U);
  EXPECT_EQ(display_width("e\u0301"), 1U);     // e and a combining acute
  EXPECT_EQ(display_width("通义"), 4U);        // two wide characters
  EXPECT_EQ(display_width("\xff\xfe"), 2U);    // no UTF-8: one a byte
  EXPECT_EQ(display_width("\U0001F600"), 2U);  // an emoji
}

TEST(Display, fit_keeps_what_fits_and_marks_what_does_not) {
  EXPECT_EQ(fit("abc", 3), "abc");
  EXPECT_EQ(fit("abcd", 3), "ab…");
  EXPECT_EQ(fit("abcd", 0), "");
  EXPECT_EQ(fit("通义千问", 5), "通义…");
  EXPECT_EQ(fit("通义千问", 4), "通…");  // half a wide character is not shown
}

TEST(Display, padding_aligns_what_has_more_bytes_than_columns) {
  EXPECT_EQ(pad_left("31 µs", 7), "  31 µs");
  EXPECT_EQ(pad_right("31 µs", 7), "31 µs  ");
  EXPECT_EQ(pad_left("too wide", 3), "too wide");
}

TEST(Display, a_server_cannot_drive_the_terminal) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("one\ntwo\r\tthree"), "one\\ntwo\\r\\tthree");
  EXPECT_EQ(printable("\u202egpj.exe"), "\\u202egpj.exe");
  EXPECT_EQ(printable("\u009b31m"), "\\x9b31m");  // the one-byte form of ESC [
  EXPECT_EQ(printable("bad\xff"), "bad\xEF\xBF\xBD");
  EXPECT_EQ(printable("naïve 通义 µ"), "naïve 通义 µ");
}

TEST(Display, wrap_breaks_at_spaces_and_inside_giants) {
  EXPECT_EQ(wrap("aa bb cc", 5, ""), "aa bb\ncc");
  EXPECT_EQ(wrap("aa bb cc", 7, "  "), "  aa bb\n  cc");
  EXPECT_EQ(wrap("abcdefgh", 3, ""), "abc\ndef\ngh");
  EXPECT_EQ(wrap("", 10, "  "), "  ");
  const std::string wrapped = wrap("µµ µµµµ µ µµµµµµ", 5, " ");
  for (const std::string_view line : split(wrapped, '\n')) EXPECT_LE(display_width(line), 5U);
}

}  // namespace
}  // namespace assay
