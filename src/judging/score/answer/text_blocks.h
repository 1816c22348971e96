// Blocks of code in a reply, as the suites' programs find them: the text between ```python (or ```)
// and the next ```, anywhere on a line. Pure; any thread.
#pragma once

#include "score/answer/extract.h"
#include "score/answer/python_text.h"

namespace assay::score {

// Returns the last ```python block, else the last block without its tag. `text` is stripped.
Extraction last_code(CharactersView text);
// Returns the first ```python block.
Extraction first_python_block(CharactersView text);

}  // namespace assay::score
