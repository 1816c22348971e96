// How DeepSeek-R1's evaluator finds the answer.
#include "score/answer/extract.h"
#include "score/answer/lettered.h"
#include "score/answer/text_blocks.h"

namespace assay::score {
namespace {

constexpr std::int64_t kAimeMax = 999;

// Finds the last \boxed{digits}; returns the digits.
std::optional<CharactersView> boxed_digits(CharactersView text) {
  constexpr CharactersView kBox = U"\\boxed{";
  std::optional<CharactersView> last;
  for (std::size_t at = text.find(kBox); at != CharactersView::npos; at = text.find(kBox, at + 1)) {
    Scan scan(text, at + kBox.size());
    scan.spaces();
    const std::size_t begin = scan.at();
    const std::size_t count = scan.digits();
    scan.spaces();
    if (count > 0 && scan.one_of(U"}")) last = text.substr(begin, count);
  }
  return last;
}

// Finds the last "Answer: digits" that no dot or word character follows.
std::optional<CharactersView> answered_digits(CharactersView text) {
  std::optional<CharactersView> last;
  for (std::size_t at = 0; at < text.size(); ++at) {
    Scan scan(text, at);
    if (!scan.word("answer") || !scan.one_of(U":")) continue;
    scan.spaces();
    const std::size_t begin = scan.at();
    const std::size_t count = scan.digits();
    if (count > 0 && scan.peek() != U'.' && scan.at_word_edge()) last = text.substr(begin, count);
  }
  return last;
}

}  // namespace

Extraction extract_letter(std::string_view reply, char last) {
  const Characters all = characters(reply);
  const Characters text = without_artifacts(python_strip(all));
  return named_letter(text, last, text);
}

Extraction extract_aime(std::string_view reply) {
  const Characters text = characters(reply);
  const auto boxed = boxed_digits(text);
  const auto digits = boxed ? boxed : answered_digits(text);
  const auto number = digits ? python_int(utf8(*digits)) : std::nullopt;
  if (!number || *number > kAimeMax) return {};
  return {std::to_string(*number), boxed ? "boxed_digits" : "answer_digits"};
}

Extraction extract_last_boxed(std::string_view reply) {
  constexpr std::string_view kBox = "\\boxed{";
  const std::size_t box = reply.rfind(kBox);
  if (box == std::string_view::npos) return {};
  const std::size_t begin = box + kBox.size();
  int depth = 0;
  for (std::size_t at = begin; at < reply.size(); ++at) {
    if (reply[at] == '{') ++depth;
    if (reply[at] == '}' && depth-- == 0) {
      return {utf8(python_strip(characters(reply.substr(begin, at - begin)))), "last_boxed"};
    }
  }
  return {};
}

Extraction extract_first_python(std::string_view reply) {
  const Characters text = characters(reply);
  return first_python_block(python_strip(text));
}

}  // namespace assay::score
