// A word that may come from outside, as the name of a unit does, and is printed as it is.
// Pure; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace assay {

// 1 to 32 small letters.
inline bool is_small_word(std::string_view text) {
  constexpr std::size_t kWordMax = 32;
  return !text.empty() && text.size() <= kWordMax &&
         std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace assay
