// Answers: is a reply's answer the true one, by the rules of the suites' programs? Pure; any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "score/answer/extract.h"

namespace assay::score {

enum class AnswerKind : std::uint8_t {
  same,          // exactly equal
  same_trimmed,  // equal without spaces at the ends
  aime,          // an integer from 0 to 999
  choice,        // A to D; "choice1" is A
  choice_aj,     // A to J
  math,          // an expression: in a suite by prm800k.h, else by math_equal.h
  number,        // GSM8K's
  code,          // judged in score/code_judge.h, not here
};

struct Judgement {
  Extraction found{};
  bool right = false;
};

// Returns the kind for a scorer's name; nullopt if it is not an exact match.
std::optional<AnswerKind> answer_kind(std::string_view scorer);

// `extractor`: an id of extract.h; empty: the kind's default. REQUIRES: kind is not code.
Judgement judge_answer(AnswerKind kind, std::string_view extractor, std::string_view reply,
                       std::string_view truth);

// The programs that judge sets of several subsets. Each one finds answers in its own way.
enum class SuiteProgram : std::uint8_t {
  deepseek_r1,  // mlcommons/inference's evaluator
  // The reference client around it. Its own service judges code, so its own extractor finds the
  // code. Without that service it does the same as the evaluator.
  client_deepseek_r1,
  gpt_oss,  // mlcommons/inference's evaluator
};

// Returns how a subset's rows are judged, by the part of its name that is known ("aime25"); nullopt
// if the program has none in this name (suite_subsets).
std::optional<AnswerKind> suite_kind(SuiteProgram program, std::string_view subset);
std::string_view suite_subsets(SuiteProgram program);

Extraction suite_extract(SuiteProgram program, AnswerKind kind, std::string_view reply);
// REQUIRES: kind is aime, choice, choice_aj or math.
bool suite_is_right(AnswerKind kind, const Extraction& found, std::string_view truth);

// How a row was judged, for Scorer::last_judged. `extracted` is null if nothing was found.
Json judged(const Extraction& found, std::string_view truth, double score);

// Mixtral's rule: compares floating-point numbers.
bool same_number(std::string_view answer, std::string_view truth);

}  // namespace assay::score
