#include "text/unicode.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/text.h"
#include "text/char_set.h"
#include "text/python_quote.h"

namespace assay::text {
namespace {

TEST(Unicode, categories_have_their_names) {
  EXPECT_EQ(category('A'), GeneralCategory::lu);
  EXPECT_EQ(category(0x4E00), GeneralCategory::lo);
  EXPECT_EQ(category_mask("Lu"), bit(GeneralCategory::lu));
  EXPECT_EQ(category_mask("N"),
            bit(GeneralCategory::nd) | bit(GeneralCategory::nl) | bit(GeneralCategory::no));
  EXPECT_EQ(category_mask("Nonsense"), 0u);
}

TEST(Unicode, what_16_assigned_is_assigned) {
  EXPECT_EQ(category(0x10D50), GeneralCategory::lu);  // Garay
  EXPECT_EQ(category(0x10D70), GeneralCategory::ll);
  EXPECT_EQ(category(0x16130), GeneralCategory::nd);  // Gurung Khema
  EXPECT_EQ(category(0x1CC00), GeneralCategory::so);
  EXPECT_EQ(category(0x0897), GeneralCategory::mn);
  EXPECT_EQ(category(0x2EBF0), GeneralCategory::lo);
  EXPECT_TRUE(is_han(0x2EBF0));
  EXPECT_TRUE(is_word(0x1C89));
  EXPECT_TRUE(is_numeric(0x1CCF0));
  EXPECT_EQ(category(0x1C8B), GeneralCategory::cn);
}

TEST(Unicode, every_code_point_survives_utf8) {
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string bytes;
    append_utf8(bytes, c);
    ASSERT_TRUE(valid_utf8(bytes)) << static_cast<std::uint32_t>(c);
    ASSERT_EQ(decode_at(bytes, 0).value, c);
    ASSERT_EQ(decode_at(bytes, 0).bytes, bytes.size());
    ASSERT_EQ(previous(bytes, bytes.size()), 0u);
  }
}

TEST(Unicode, invalid_bytes_become_replacements_as_python_does_it) {
  // Python: bytes.decode("utf-8", "replace")
  EXPECT_EQ(replace_invalid_utf8("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x96"), "\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x28\xA1"), "\uFFFD(\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF"), "\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"), "\uFFFD");
}

TEST(Unicode, what_is_left_of_random_bytes_is_valid) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    std::string bytes;
    for (int i = 0; i < 40; ++i) {
      if (rng.below(3) == 0) {
        append_utf8(bytes, static_cast<char32_t>(rng.below(0xD800)));
      } else {
        bytes += static_cast<char>(rng.below(256));
      }
    }
    const std::string repaired = replace_invalid_utf8(bytes);
    ASSERT_TRUE(valid_utf8(repaired)) << seed;
    // After a cut at any place, the two halves give the same text if the tail is carried over.
    const std::size_t cut = static_cast<std::size_t>(rng.below(bytes.size()));
    const std::string_view head = std::string_view(bytes).substr(0, cut);
    const std::size_t whole = head.size() - incomplete_tail(head);
    EXPECT_EQ(replace_invalid_utf8(head.substr(0, whole)) +
                  replace_invalid_utf8(std::string_view(bytes).substr(whole)),
              repaired)
        << seed << " at " << cut;
  }
}

TEST(Unicode, normal_forms) {
  EXPECT_EQ(normalize("e\u0301", NormalForm::nfc), "\u00e9");
  EXPECT_EQ(normalize("\u00e9", NormalForm::nfd), "e\u0301");
  EXPECT_EQ(normalize("\ufb01", NormalForm::nfkc), "fi");
  EXPECT_EQ(normalize("\u1e9b\u0323", NormalForm::nfkd), "s\u0323\u0307");
}

TEST(CharTable, agrees_with_the_set_for_every_code_point) {
  CharSet set = CharSet::categories(category_mask("L"));
  set.add('0', '5');
  set = set.intersected(CharSet::of(0x41, 0x5000)).case_closed();
  const CharTable table(set);
  const CharTable inverse(set.negated());
  for (char32_t c = 0; c < kCodePoints; ++c) {
    ASSERT_EQ(table.contains(c), set.contains(c)) << static_cast<std::uint32_t>(c);
    ASSERT_NE(table.contains(c), inverse.contains(c)) << static_cast<std::uint32_t>(c);
    ASSERT_TRUE(c >= 0x80 || table.ascii(static_cast<unsigned char>(c)) == set.contains(c));
  }
}

TEST(CharSet, knows_the_letters_that_fold_together) {
  const CharSet s = CharSet::of('s', 's').case_closed();
  EXPECT_TRUE(s.contains('S'));
  EXPECT_TRUE(s.contains(0x17F));  // long s
  const CharSet k = CharSet::of('k', 'k').case_closed();
  EXPECT_TRUE(k.contains(0x212A));  // kelvin sign
}

TEST(PythonQuoted, writes_text_as_repr_does) {
  EXPECT_EQ(python_quoted("it's"), "\"it's\"");
  EXPECT_EQ(python_quoted("a\"'"), R"('a"\'')");
  EXPECT_EQ(python_quoted("\t\n\\\x01\x7f é"), R"('\t\n\\\x01\x7f é')");
  // No-break space, line separator, a private character.
  EXPECT_EQ(python_quoted("\u00a0\u2028\U000f0000"), R"('\xa0\u2028\U000f0000')");
}

// Results of CPython 3.11.
TEST(Unicode, a_sigma_that_ends_a_word_is_lowered_as_python_lowers_it) {
  EXPECT_EQ(lower_case("ΣΟΦΟΣ."), "σοφος.");
  EXPECT_EQ(lower_case("ΣΟΦΟΣ ΣΑΣ Σ ΑΣ'Β ΑΣ' 1Σ"), "σοφος σας σ ασ'β ας' 1σ");
  EXPECT_EQ(lower_case("ΑΣ\u0301Σ"), "ασ\u0301ς");
  EXPECT_EQ(lower_case_each("ΣΟΦΟΣ."), "σοφοσ.");
}

}  // namespace
}  // namespace assay::text
