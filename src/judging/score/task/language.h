// Which language a text is in, for IFEval's instructions: by its script, and among languages of one
// script by their letters and commonest words. It is not langdetect: short or mixed texts may get
// another verdict there, where the verdict also changes from call to call. Pure; any thread.
#pragma once

#include <string_view>

namespace assay::score {

// An ISO 639-1 code as IFEval names it ("en", "zh-cn"); "" for a text without letters. A text of a
// known script and no known words is its commonest language: "en", "ru", "ar", "hi".
std::string_view language_of(std::string_view text);

}  // namespace assay::score
