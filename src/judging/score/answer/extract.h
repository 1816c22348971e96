// Extractors: find the answer in a reply as the suites' programs do, one for each program. They
// disagree with each other, and a score is a suite's only if its own extractor read the reply,
// mistakes included (docs/decisions/0042). tools/against_originals.py compares each one with the
// program itself.
//
// Pure; any thread. Time grows with the reply's length, whatever its content.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::score {

struct Extraction {
  // nullopt if the program returns None. Some return "", which equals an empty ground truth.
  std::optional<std::string> answer{};
  std::string_view rule{};  // the extractor's rule that found it; "": none
};

// REQUIRES: find_extractor (score/scorer.h) returned `id`.
Extraction extract(std::string_view id, std::string_view reply);

// The reference client (mlcommons/endpoints).
// "choice1" … "choice4", or "".
Extraction extract_abcd(std::string_view reply);
// The last \boxed{…} or \framebox{…} with content: up to its first brace, after its last comma;
// else the last integer.
Extraction extract_boxed(std::string_view reply);
// The last ```python block, else the last block.
Extraction extract_python(std::string_view reply);
// The tool calls (function_call.h) as JSON, [{"name", "arguments"}].
Extraction extract_calls(std::string_view reply);

// DeepSeek-R1's evaluator (mlcommons/inference).
// The last "ANSWER: X" with X from 'A' to `last`. If `last` is 'J': else the last letter that
// stands alone. `last` is 'D' or 'J'.
Extraction extract_letter(std::string_view reply, char last);
// An integer from 0 to 999: the last \boxed{digits}, else the last "Answer: digits".
Extraction extract_aime(std::string_view reply);
// The last \boxed{…} with its braces balanced.
Extraction extract_last_boxed(std::string_view reply);
// The first ```python block.
Extraction extract_first_python(std::string_view reply);

// GPT-OSS's evaluator (mlcommons/inference). If the reply has channels, the answer is in the final
// one.
Extraction extract_final_letter(std::string_view reply, char last);
Extraction extract_final_python(std::string_view reply);

// Mixtral's (mlcommons/inference). In the text before "\nQ:", the first number after the last "The
// answer is", else the last number; without commas.
Extraction extract_gsm8k(std::string_view reply);

}  // namespace assay::score
