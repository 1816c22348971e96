#include "score/answer/extract.h"

#include "score/answer/python_text.h"

namespace assay::score {
namespace {

// Returns the end of -?[0-9,]*\.?[0-9]+ at `at`, or `at` if it does not match.
std::size_t number_end(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  scan.one_of(U"-");
  std::size_t after_digit = at;
  while (scan.digits() > 0 || scan.one_of(U",")) {
    if (text[scan.at() - 1] != U',') after_digit = scan.at();
  }
  return scan.one_of(U".") && scan.digits() > 0 ? scan.at() : after_digit;
}

// Returns the first number of a text, or the last.
std::string a_number(CharactersView text, bool first) {
  CharactersView found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = number_end(text, at);
    if (end == at) {
      ++at;
      continue;
    }
    found = text.substr(at, end - at);
    if (first) break;
    at = end;
  }
  return utf8(found);
}

}  // namespace

Extraction extract(std::string_view id, std::string_view reply) {
  if (id == "abcd_extractor") return extract_abcd(reply);
  if (id == "boxed_math_extractor") return extract_boxed(reply);
  if (id == "python_code_extractor") return extract_python(reply);
  if (id == "letter_aj") return extract_letter(reply, 'J');
  if (id == "aime_integer") return extract_aime(reply);
  if (id == "last_boxed") return extract_last_boxed(reply);
  if (id == "gsm8k_number") return extract_gsm8k(reply);
  if (id == "first_python_code") return extract_first_python(reply);
  if (id == "final_channel_code") return extract_final_python(reply);
  if (id == "function_call_extractor") return extract_calls(reply);
  return {std::string(reply), "whole_reply"};
}

Extraction extract_gsm8k(std::string_view reply) {
  const Characters all = characters(reply.substr(0, reply.find("\nQ:")));
  const CharactersView text = all;
  constexpr CharactersView kSays = U"The answer is";
  const std::size_t says = text.rfind(kSays);
  std::string found;
  if (says != CharactersView::npos) found = a_number(text.substr(says + kSays.size()), true);
  const bool said = !found.empty();
  if (!said) found = a_number(text, false);
  std::erase(found, ',');
  return {std::move(found), said ? "after_the_answer_is" : "last_number"};
}

}  // namespace assay::score
