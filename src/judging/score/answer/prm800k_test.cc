// Verdicts of PRM800K's grader beyond those of tests/data/judges (originals_test.cc reads them).
#include "score/answer/prm800k.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "score/answer/expression.h"
#include "score/answer/latex_text.h"

namespace assay::score {
namespace {

TEST(Prm800k, ordinary_spellings_of_one_answer_are_equal) {
  const std::pair<const char*, const char*> kSame[] = {
      {"\\frac{1}{2}", "0.5"},
      {"\\dfrac12", "\\frac{1}{2}"},
      {"1,234", "1234"},
      {"x=5", "5"},
      {"5 \\text{ cm}", "5"},
      {"90^\\circ", "90"},
      {"\\text{Evelyn}", "evelyn"},
      {"2\\sqrt{2}", "\\sqrt{8}"},
      {"7 3/4", "7\\frac{3}{4}"},
      {"(x+1)^2", "x^2+2x+1"},
      {"\\left( 3, \\frac{\\pi}{2} \\right)", "(3,\\pi/2)"},
      {"5 or 6", "5 and 6"},
      {"33\\%", "33"},
      {"(\\varnothing)", "\\emptyset"},
      {"x2", "2x"},
      {"n00+x", "x"},
      {"3\\sqrt{4,}", "3\\sqrt{4}"},  // Python takes a comma behind the last argument
      {"\\sqrt{x,y}", "\\sqrt{x}"},
  };
  for (const auto& [a, b] : kSame) {
    EXPECT_TRUE(prm800k_equal(a, b)) << a << " and " << b;
    EXPECT_TRUE(prm800k_equal(b, a)) << b << " and " << a;
  }
}

TEST(Prm800k, its_strictness_is_kept) {
  const std::pair<const char*, const char*> kOther[] = {
      {"2/4", "1/2"},  // not reduced
      {"\\sqrt{x,,}", "\\sqrt{x}"},
      {"5!", "120"},             // an integer must be spelled
      {"[0,1)", "[0,1]"},        // another bracket
      {"(1,2)", "(2,1)"},        // another order
      {"sin(x)", "\\sin{x}+0"},  // more than two letters are never calculated
      {"x^{10}", "x^8*x^2"},     // nor powers of two digits
      {"0.333", "1/3"},          //
      {"x^2.0", "x^2"},          // a decimal exponent is another
      {"xsqrt(2)", "sqrt(2)x"},  // six letters
      {"", "1"},                 //
      {"x²", "(x²)"},            // a raised digit is no number there
      {"\\sqrt{x^2}", "x"},      // x may be negative
      {"n01000", "n1000"},       // Python refuses such a number
  };
  for (const auto& [a, b] : kOther) EXPECT_FALSE(prm800k_equal(a, b)) << a << " and " << b;
}

TEST(Prm800k, latex_is_shown_as_its_reader_shows_it) {
  const std::pair<const char*, const char*> kShown[] = {
      {"\\frac{\\sqrt{3}}{2}", "√(3)/2"},
      {"\\frac12", "1/2"},
      {"\\sqrt[3]{2}", "√(2)"},
      {"\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "[ 1 2; 3 4 ]"},
      {"\\begin{pmatrix}-1\\\\2\\end{pmatrix}", "[ -1;  2 ]"},
      {"x\\in\\mathbb{R}", "x∈ℝ"},
      {"\\foo{x}y", "xy"},
      {"\\frac{1", "%s/%s1"},
      {"\\mbox{cm}", ""},
      {"5\\quad 3", "5  3"},
      {"\\begin{cases}1\\\\2\\end{cases}", "1\n2"},
  };
  for (const auto& [latex, text] : kShown) {
    const auto shown = latex_text(latex);
    ASSERT_TRUE(shown) << latex;
    EXPECT_EQ(*shown, text) << latex;
  }
  EXPECT_EQ(latex_text("\\hat{x}"), "x\u0302");
  EXPECT_FALSE(latex_text("\\sqrt"));
  EXPECT_FALSE(latex_text("\\begin{pmatrix}\\end{pmatrix}"));
  EXPECT_FALSE(latex_text(std::string(5000, '{')));
}

TEST(Prm800k, expressions_are_read_as_python_reads_them) {
  EXPECT_TRUE(difference_is_zero("1/2x", "x/2"));
  EXPECT_TRUE(difference_is_zero("-x^2", "0-x*x"));
  EXPECT_FALSE(difference_is_zero("2^3^1", "8"));  // powers of powers are not calculated
  EXPECT_TRUE(difference_is_zero("x(x+1)", "x^2+x"));
  EXPECT_TRUE(difference_is_zero("12_8/7", "128/7"));
  EXPECT_TRUE(difference_is_zero("0.1x", "x/10"));
  EXPECT_FALSE(difference_is_zero("0.1+0.2", "0.3"));
  EXPECT_FALSE(difference_is_zero("1/0", "1/0"));
  EXPECT_FALSE(difference_is_zero("1,2", "1,2"));
  EXPECT_FALSE(difference_is_zero(std::string(500, '('), "1"));
  EXPECT_FALSE(difference_is_zero("x!", "x"));
  EXPECT_TRUE(difference_is_zero("2x!", "x!*2"));
}

}  // namespace
}  // namespace assay::score
