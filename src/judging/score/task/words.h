// Words and sentences of English text as nltk counts them, for IFEval. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::score {

// The number of words: runs of letters, digits and underscores.
std::size_t word_count(std::string_view text);

// The tokens of a sentence by the conventions of the Penn Treebank, as nltk's word_tokenize divides
// it: "don't" is two, and a mark stands alone. REQUIRES: valid UTF-8.
std::vector<std::string> treebank_tokens(std::string_view sentence);

// Python's isupper and islower: a letter of that case, and none of another.
bool is_upper(std::string_view text);
bool is_lower(std::string_view text);

}  // namespace assay::score
