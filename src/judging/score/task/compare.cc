#include "score/task/compare.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "score/answer/math_equal.h"
#include "score/answer/python_text.h"
#include "score/task/steps.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

// What the rule ignores is taken out, in lm-evaluation-harness's order: patterns, case,
// punctuation, digits.
std::string compared(const task::Rule& rule, std::string text) {
  for (const auto& pattern : rule.ignore) text = without_matches(*pattern, text);
  if (rule.ignore_case) text = text::lower_case(text);
  if (rule.ignore_punctuation) std::erase_if(text, is_punctuation);
  if (rule.ignore_numbers) std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

// The letter of "B", "b", "(B)" or of the index 1; nullopt for any other text.
std::optional<char> choice_of(std::string_view letters, std::string text, bool index) {
  std::erase_if(text, [](char c) { return is_punctuation(c) || c == ' '; });
  if (index) {
    const auto number = parse_uint(text);
    if (number && *number < letters.size()) return letters[static_cast<std::size_t>(*number)];
  }
  if (text.size() != 1) return std::nullopt;
  const char letter =
      static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] & ~0x20 : text[0]);
  if (letters.find(letter) == std::string_view::npos) return std::nullopt;
  return letter;
}

std::optional<double> number_in(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == '$'; });
  return python_float(text);
}

}  // namespace

Result<bool> is_true_answer(const task::Rule& rule, const std::string& answer,
                            const std::string& truth) {
  switch (rule.metric) {
    case task::Metric::exact_match:
      return compared(rule, answer) == compared(rule, truth);
    case task::Metric::contains: {
      const std::string wanted = compared(rule, truth);
      return !wanted.empty() && compared(rule, answer).find(wanted) != std::string::npos;
    }
    case task::Metric::choice: {
      const auto wanted = choice_of(rule.letters, truth, true);
      if (!wanted) {
        return invalid(
            format("score {}: the truth '{}' is neither one of the letters {} nor an "
                   "index from 0 to {}",
                   rule.name, truth, rule.letters, rule.letters.size() - 1));
      }
      return choice_of(rule.letters, answer, false) == wanted;
    }
    case task::Metric::number: {
      const auto wanted = number_in(truth);
      if (!wanted) {
        return invalid(format("score {}: the truth '{}' is not a number", rule.name, truth));
      }
      const auto got = number_in(answer);
      return got && std::abs(*got - *wanted) <= rule.tolerance;
    }
    case task::Metric::math:
      return math_equal(answer, truth);
    case task::Metric::instructions:
    case task::Metric::code:
      break;
  }
  return false;
}

}  // namespace assay::score
