// How GPT-OSS's evaluator finds the answer. A reply in Harmony's format has channels; the answer is
// in the first final one.
#include "score/answer/extract.h"
#include "score/answer/lettered.h"
#include "score/answer/text_blocks.h"

namespace assay::score {
namespace {

// Returns the text of the first final channel, or nullopt. The model may write text between "final"
// and the message's mark, but no '<'.
std::optional<CharactersView> final_channel(CharactersView text) {
  constexpr CharactersView kFinal = U"<|channel|>final";
  constexpr CharactersView kMessage = U"<|message|>";
  for (std::size_t at = text.find(kFinal); at != CharactersView::npos;
       at = text.find(kFinal, at + 1)) {
    const std::size_t mark = text.find(U'<', at + kFinal.size());
    if (mark == CharactersView::npos) break;
    const CharactersView rest = text.substr(mark);
    if (!rest.starts_with(kMessage)) continue;
    const CharactersView says = rest.substr(kMessage.size());
    return python_strip(says.substr(0, says.find(U"<|return|>")));
  }
  return std::nullopt;
}

// Removes the marks of **bold**.
Characters without_bold(CharactersView text) {
  Characters out;
  out.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.substr(at, 2) == U"**") {
      const std::size_t end = text.find(U'*', at + 2);
      if (end != CharactersView::npos && end > at + 2 && text.substr(end, 2) == U"**") {
        out += text.substr(at + 2, end - at - 2);
        at = end + 2;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

// Returns the first letter of the text, if it is in the choice and stands alone.
std::string leading_letter(CharactersView text, char last) {
  std::size_t at = 0;
  while (at < text.size() && !letter_any_case(text[at])) ++at;
  Scan scan(text, at);
  std::string found = letter_at(scan, last);
  return scan.at_end() || !letter_any_case(scan.peek()) ? found : std::string();
}

// Finds the first "Answer: X", with X a word of its own.
std::string first_answer(CharactersView text, char last) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    Scan scan(text, at);
    if (!scan.word("answer") || !word_edge(text, at)) continue;
    scan.spaces();
    scan.one_of(U":.");
    scan.spaces();
    std::string found = letter_at(scan, last);
    if (!found.empty() && scan.at_word_edge()) return found;
  }
  return {};
}

}  // namespace

Extraction extract_final_letter(std::string_view reply, char last) {
  const Characters all = characters(reply);
  const CharactersView text = python_strip(all);
  const Characters plain = without_bold(final_channel(text).value_or(text));
  const Characters says = without_artifacts(plain);
  std::string found = leading_letter(says, last);
  if (!found.empty()) return {std::move(found), "leading_letter"};
  found = first_answer(says, last);
  if (!found.empty()) return {std::move(found), "first_answer"};
  return named_letter(without_escapes(text), last, says);
}

Extraction extract_final_python(std::string_view reply) {
  const Characters all = characters(reply);
  const CharactersView text = python_strip(all);
  const auto says = final_channel(text);
  if (says) {
    Extraction found = last_code(*says);
    if (found.answer) return found;
  }
  return last_code(text);
}

}  // namespace assay::score
