// A word in a text: found where it stands by itself, and not inside a longer word. A word has ASCII
// letters, digits and the characters that the caller says join words. Case counts. Any thread.
#pragma once

#include <string_view>

namespace assay {

// False for an empty word.
bool has_word(std::string_view text, std::string_view word, std::string_view joins);

}  // namespace assay
