// Extractors: the answer inside a reply, as the programs of the suites find it. One for each
// program: they disagree with each other, and a score is a suite's only where its own extractor
// read the reply, mistakes included (docs/decisions/0042). What each accepts is held against the
// programs themselves by tools/against_originals.py.
//
// Pure; any thread. Time grows with the reply's length, whatever it holds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::score {

struct Extraction {
  // Nothing where the program says None. Some say "" instead, which equals an empty ground truth.
  std::optional<std::string> answer{};
  std::string_view rule{};  // which of the extractor's rules found it; "": none
};

// By the reference client's id (abcd_extractor, boxed_math_extractor, identity_extractor,
// python_code_extractor, function_call_extractor) or its class's name (BoxedMathExtractor); or the
// suites': letter_aj (A to J), aime_integer, last_boxed, first_python_code (DeepSeek-R1),
// final_channel_code (GPT-OSS), gsm8k_number (Mixtral). The id, or an error that names the nearest.
Result<std::string> find_extractor(std::string_view name);
// REQUIRES: `id` is what find_extractor returned.
Extraction extract(std::string_view id, std::string_view reply);

// The reference client (mlcommons/endpoints).
// "choice1" … "choice4", or "".
Extraction extract_abcd(std::string_view reply);
// The last \boxed{…} or \framebox{…} that holds something, up to its first brace, what follows its
// last comma; else the last integer.
Extraction extract_boxed(std::string_view reply);
// The last ```python block, else the last block.
Extraction extract_python(std::string_view reply);
// The calls of tools (function_call.h) as JSON, [{"name", "arguments"}].
Extraction extract_calls(std::string_view reply);

// DeepSeek-R1's evaluator (mlcommons/inference).
// The last "ANSWER: X", X from 'A' to `last`; where that is 'J', else the last letter that stands
// alone. `last` is 'D' or 'J'.
Extraction extract_letter(std::string_view reply, char last);
// An integer from 0 to 999: the last \boxed{digits}, else the last "Answer: digits".
Extraction extract_aime(std::string_view reply);
// The last \boxed{…} with its braces balanced.
Extraction extract_last_boxed(std::string_view reply);
// The first ```python block.
Extraction extract_first_python(std::string_view reply);

// GPT-OSS's evaluator (mlcommons/inference). The answer is in the final channel where the reply
// has channels.
Extraction extract_final_letter(std::string_view reply, char last);
Extraction extract_final_python(std::string_view reply);

// Mixtral's (mlcommons/inference). What stands before "\nQ:": the first number after its last "The
// answer is", else its last number; without commas.
Extraction extract_gsm8k(std::string_view reply);

}  // namespace assay::score
