// What DeepSeek-R1's and GPT-OSS's evaluators share when they look for a letter. `last` is the last
// letter of the choice, 'D' or 'J'. Pure; any thread.
#pragma once

#include "score/answer/extract.h"
#include "score/answer/python_text.h"

namespace assay::score {

// The letter at `scan`, in capitals; İ and ı are an I to a search that ignores case, and İ stays
// İ, which is no choice. Empty, and `scan` where it was, when there is none.
std::string letter_at(Scan& scan, char last);

// A reply that is a Python list of one text, without the list.
CharactersView without_list(CharactersView text);
// \n and \' that are spelled out become what they mean.
Characters without_escapes(CharactersView text);
inline Characters without_artifacts(CharactersView text) {
  return without_escapes(without_list(text));
}

// The last "ANSWER: X" or "FINAL ANSWER = (X)" of `text`; with letters to J, else the last letter
// that stands alone in `alone`.
Extraction named_letter(CharactersView text, char last, CharactersView alone);

}  // namespace assay::score
