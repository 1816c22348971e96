// Answers: whether a reply's answer is the true one, kind by kind, as the suites' evaluators judge.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::score {

enum class AnswerKind : std::uint8_t {
  same,          // to the letter
  same_trimmed,  // but for spaces around
  aime,          // an integer from 0 to 999
  choice,        // A to D; "choice1" is A
  choice_aj,     // A to J
  math,          // an expression, by math_equal.h
  number,        // GSM8K's
  code,          // not judged here: score/code_judge.h
};

// By a scorer's name; nothing for names that are no exact match.
std::optional<AnswerKind> answer_kind(std::string_view scorer);
// A subset's name ("aime25", "MMLU-Pro") says how its answers look.
AnswerKind answer_kind_of_subset(std::string_view subset);

// `extractor`: an id of extract.h; empty: the kind's own. REQUIRES: kind is not code.
bool answer_is_right(AnswerKind kind, std::string_view extractor, std::string_view reply,
                     std::string_view truth);

}  // namespace assay::score
