#include "score/answer/answers.h"

#include <array>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "score/answer/math_equal.h"
#include "score/answer/prm800k.h"
#include "score/answer/python_text.h"
#include "text/unicode.h"

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

// Makes "A" and "choice1" the same answer.
std::string choice(std::string_view text) {
  const std::string low = lower(trim(text));
  if (low.size() == 1 && low[0] >= 'a' && low[0] <= 'd') {
    return format("choice{}", low[0] - 'a' + 1);
  }
  return low;
}

bool is_right(AnswerKind kind, std::string_view answer, std::string_view truth) {
  switch (kind) {
    case AnswerKind::same:
      return answer == truth;
    case AnswerKind::same_trimmed:
      return python_strip(std::string_view(readable(answer))) ==
             python_strip(std::string_view(readable(truth)));
    case AnswerKind::choice:
      return !answer.empty() && choice(answer) == choice(truth);
    case AnswerKind::choice_aj:
      return !answer.empty() && lower(answer) == lower(trim(truth));
    case AnswerKind::number: {
      std::string plain(truth);
      std::erase(plain, ',');
      return same_number(answer, plain);
    }
    case AnswerKind::aime:
      return suite_is_right(kind, {std::string(answer), ""}, truth);
    case AnswerKind::math:
      return math_equal(answer, truth);
    case AnswerKind::code:
      break;
  }
  CHECK(false && "code is judged by running it");
  return false;
}

// If a name contains two, the first one here counts.
struct Subset {
  std::string_view name{};
  AnswerKind kind = AnswerKind::same;
};
constexpr std::array<Subset, 6> kSubsets = {{{"gpqa", AnswerKind::choice},
                                             {"mmlu_pro", AnswerKind::choice_aj},
                                             {"math500", AnswerKind::math},
                                             {"aime", AnswerKind::aime},
                                             {"livecodebench", AnswerKind::code},
                                             {"mmlu", AnswerKind::choice_aj}}};

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

Judgement judge_answer(AnswerKind kind, std::string_view extractor, std::string_view reply,
                       std::string_view truth) {
  Judgement out;
  out.found = extract(extractor.empty() ? default_extractor(kind) : extractor, reply);
  out.right = out.found.answer && is_right(kind, *out.found.answer, truth);
  return out;
}

std::optional<AnswerKind> suite_kind(SuiteProgram program, std::string_view subset) {
  const std::string name = text::lower_case(readable(subset));
  for (const Subset& one : kSubsets) {
    if (one.name == "mmlu" && program != SuiteProgram::gpt_oss) continue;
    if (name.find(one.name) != std::string::npos) return one.kind;
  }
  return std::nullopt;
}

std::string_view suite_subsets(SuiteProgram program) {
  return program == SuiteProgram::gpt_oss ? "gpqa, mmlu_pro, math500, aime, livecodebench or mmlu"
                                          : "gpqa, mmlu_pro, math500, aime or livecodebench";
}

Extraction suite_extract(SuiteProgram program, AnswerKind kind, std::string_view reply) {
  const bool final_only = program == SuiteProgram::gpt_oss;
  switch (kind) {
    case AnswerKind::choice:
      return final_only ? extract_final_letter(reply, 'D') : extract_letter(reply, 'D');
    case AnswerKind::choice_aj:
      return final_only ? extract_final_letter(reply, 'J') : extract_letter(reply, 'J');
    case AnswerKind::aime:
      return extract_aime(reply);
    case AnswerKind::math:
      return extract_last_boxed(reply);
    case AnswerKind::code:
      if (final_only) return extract_final_python(reply);
      return program == SuiteProgram::client_deepseek_r1 ? extract_python(reply)
                                                         : extract_first_python(reply);
    case AnswerKind::same:
    case AnswerKind::same_trimmed:
    case AnswerKind::number:
      break;
  }
  CHECK(false && "no subset of a suite is judged so");
  return {};
}

bool suite_is_right(AnswerKind kind, const Extraction& found, std::string_view truth) {
  if (!found.answer || found.answer->empty() || truth.empty()) return false;
  if (kind == AnswerKind::math) {
    const std::string_view answer = python_strip(std::string_view(*found.answer));
    return !answer.empty() && prm800k_equal(answer, truth);
  }
  if (kind != AnswerKind::aime) {
    // A search without case finds İ, but it is not a choice.
    return found.answer->size() == 1 && text::upper_case(readable(truth)) == *found.answer;
  }
  const auto wanted = python_int(truth);
  return wanted && *found.answer == std::to_string(*wanted);
}

Json judged(const Extraction& found, std::string_view truth, double score) {
  Json out;
  out.set("extracted", found.answer ? Json(*found.answer) : Json());
  out.set("rule", found.rule.empty() ? Json() : Json(found.rule));
  return out.set("truth", truth).set("score", score);
}

bool same_number(std::string_view answer, std::string_view truth) {
  const auto a = python_float(answer);
  const auto b = python_float(truth);
  return a && b && *a == *b;
}

}  // namespace assay::score
