// Extractors: the answer inside a reply, as the reference client and the suite's evaluators find
// it. All are pure and return "" when there is no answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::score {

// By the reference client's id (abcd_extractor, boxed_math_extractor, identity_extractor,
// python_code_extractor, function_call_extractor) or its class's name (BoxedMathExtractor); or the
// suite's: letter_aj (A to J), aime_integer, last_boxed, gsm8k_number. The id, or an error that
// names the nearest.
Result<std::string> find_extractor(std::string_view name);
// REQUIRES: `id` is what find_extractor returned.
std::string extract(std::string_view id, std::string_view reply);

// "choice1" … "choice4", by thirteen ways of writing a choice, the surest first.
std::string extract_abcd(std::string_view reply);
// The last \boxed{…} or \framebox{…} up to its first brace, what follows its last comma; else the
// last integer.
std::string extract_boxed(std::string_view reply);
// The last ```python block, else the last block.
std::string extract_python(std::string_view reply);
// The last "ANSWER: X", X from 'A' to `last`; for MMLU-Pro also a capital that stands alone.
std::string extract_letter(std::string_view reply, char last);
// The last \boxed{digits}, else "Answer: digits".
std::string extract_aime(std::string_view reply);
// What stands before "\nQ:": the first number after its last "The answer is", else its last number;
// without commas.
std::string extract_gsm8k(std::string_view reply);
// The last \boxed{…} with its braces balanced.
std::string extract_last_boxed(std::string_view reply);
// The calls of tools (function_call.h) as JSON, [{"name", "arguments"}].
std::string extract_calls(std::string_view reply);
// GPT-OSS: what the model said in its final channel; the whole reply when there are no channels.
std::string_view final_channel(std::string_view reply);

}  // namespace assay::score
