// The search for a letter that DeepSeek-R1's and GPT-OSS's evaluators share. `last` is the last
// letter of the choice, 'D' or 'J'. Pure; any thread.
#pragma once

#include "score/answer/extract.h"
#include "score/answer/python_text.h"

namespace assay::score {

// Returns the letter at `scan` as a capital. A search without case takes İ and ı for an I; İ stays
// İ, which is not a choice. Without a letter, returns "" and leaves `scan` unchanged.
std::string letter_at(Scan& scan, char last);

// Removes the brackets from a reply that is a Python list of one text.
CharactersView without_list(CharactersView text);
// Replaces escapes that are spelled out, \n and \'.
Characters without_escapes(CharactersView text);
inline Characters without_artifacts(CharactersView text) {
  return without_escapes(without_list(text));
}

// Finds the last "ANSWER: X" or "FINAL ANSWER = (X)" of `text`; with letters to J, else the last
// letter that stands alone in `alone`.
Extraction named_letter(CharactersView text, char last, CharactersView alone);

}  // namespace assay::score
