// Blocks of code in a reply, as the suites' programs take them: what stands between ```python (or
// ```) and the next ```, wherever on a line those are. Pure; any thread.
#pragma once

#include "score/answer/extract.h"
#include "score/answer/python_text.h"

namespace assay::score {

// The last ```python block, else the last block without its tag. `text` is stripped.
Extraction last_code(CharactersView text);
// The first ```python block.
Extraction first_python_block(CharactersView text);

}  // namespace assay::score
