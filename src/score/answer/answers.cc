#include "score/answer/answers.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "score/answer/extract.h"
#include "score/answer/math_equal.h"

namespace assay::score {
namespace {

std::string_view default_extractor(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::aime:
      return "aime_integer";
    case AnswerKind::choice:
      return "abcd_extractor";
    case AnswerKind::choice_aj:
      return "letter_aj";
    case AnswerKind::math:
      return "last_boxed";
    case AnswerKind::number:
      return "gsm8k_number";
    case AnswerKind::code:
      return "python_code_extractor";
    case AnswerKind::same:
    case AnswerKind::same_trimmed:
      break;
  }
  return "identity_extractor";
}

// "A" and "choice1" are one answer.
std::string choice(std::string_view text) {
  const std::string low = lower(trim(text));
  if (low.size() == 1 && low[0] >= 'a' && low[0] <= 'd') {
    return format("choice{}", low[0] - 'a' + 1);
  }
  return low;
}

bool same_number(std::string_view answer, std::string_view truth) {
  const auto value = [](std::string_view text) -> std::optional<double> {
    std::string plain(trim(text));
    std::erase(plain, ',');
    double out = 0;
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), out);
    if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
    return out;
  };
  const auto a = value(answer);
  const auto b = value(truth);
  return a && b && *a == *b;
}

}  // namespace

std::optional<AnswerKind> answer_kind(std::string_view scorer) {
  if (scorer == "pass_at_1") return AnswerKind::same;
  if (scorer == "string_match") return AnswerKind::same_trimmed;
  if (scorer == "aime") return AnswerKind::aime;
  if (scorer == "gpqa") return AnswerKind::choice;
  if (scorer == "mmlu_pro") return AnswerKind::choice_aj;
  if (scorer == "math500") return AnswerKind::math;
  if (scorer == "gsm8k") return AnswerKind::number;
  return std::nullopt;
}

AnswerKind answer_kind_of_subset(std::string_view subset) {
  const std::string name = lower(subset);
  const auto has = [&name](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("livecode") || has("lcb")) return AnswerKind::code;
  if (has("gpqa")) return AnswerKind::choice;
  if (has("mmlu")) return AnswerKind::choice_aj;
  if (has("aime")) return AnswerKind::aime;
  if (has("gsm")) return AnswerKind::number;
  if (has("math")) return AnswerKind::math;
  return AnswerKind::same_trimmed;
}

bool answer_is_right(AnswerKind kind, std::string_view extractor, std::string_view reply,
                     std::string_view truth) {
  const std::string answer =
      extract(extractor.empty() ? default_extractor(kind) : extractor, reply);
  switch (kind) {
    case AnswerKind::same:
      return answer == truth;
    case AnswerKind::same_trimmed:
      return trim(answer) == trim(truth);
    case AnswerKind::aime: {
      const auto number = parse_int(trim(truth));
      return !answer.empty() && answer == (number ? std::to_string(*number) : std::string(truth));
    }
    case AnswerKind::choice:
      return !answer.empty() && choice(answer) == choice(truth);
    case AnswerKind::choice_aj:
      return !answer.empty() && lower(answer) == lower(trim(truth));
    case AnswerKind::math:
      return math_equal(answer, truth);
    case AnswerKind::number:
      return same_number(answer, truth);
    case AnswerKind::code:
      break;
  }
  CHECK(false && "code is judged by running it");
  return false;
}

}  // namespace assay::score
