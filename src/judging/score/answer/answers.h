// Answers: whether a reply's answer is the true one, as the suites' programs judge. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "score/answer/extract.h"

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

struct Judgement {
  Extraction found{};
  bool right = false;
};

// By a scorer's name; nothing for names that are no exact match.
std::optional<AnswerKind> answer_kind(std::string_view scorer);

// `extractor`: an id of extract.h; empty: the kind's own. REQUIRES: kind is not code.
Judgement judge_answer(AnswerKind kind, std::string_view extractor, std::string_view reply,
                       std::string_view truth);

// The programs that judge sets of several subsets. Each finds answers its own way.
enum class SuiteProgram : std::uint8_t {
  deepseek_r1,  // mlcommons/inference's evaluator
  // The reference client around it, which has code judged by a service of its own, and so finds
  // code with its own extractor. Without that service it is the evaluator's way.
  client_deepseek_r1,
  gpt_oss,  // mlcommons/inference's evaluator
};

// How a subset's rows are judged, by what its name holds ("aime25"); nothing for a name that holds
// none of the program's (suite_subsets).
std::optional<AnswerKind> suite_kind(SuiteProgram program, std::string_view subset);
std::string_view suite_subsets(SuiteProgram program);

Extraction suite_extract(SuiteProgram program, AnswerKind kind, std::string_view reply);
// REQUIRES: kind is aime, choice, choice_aj or math.
bool suite_is_right(AnswerKind kind, const Extraction& found, std::string_view truth);

// How a row was judged, as Scorer::last_judged says it. `extracted` is null where nothing was
// found.
Json judged(const Extraction& found, std::string_view truth, double score);

// Mixtral's: as floating-point numbers.
bool same_number(std::string_view answer, std::string_view truth);

}  // namespace assay::score
