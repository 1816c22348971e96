// The other extractors of the reference client: numbers in boxes, and code.
#include "score/answer/extract.h"
#include "score/answer/function_call.h"
#include "score/answer/python_text.h"
#include "score/answer/text_blocks.h"

namespace assay::score {
namespace {

// Returns the last run of digits, of any script.
std::optional<std::string> last_digits(CharactersView text) {
  std::size_t end = text.size();
  while (end > 0 && !python_digit(text[end - 1])) --end;
  if (end == 0) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && python_digit(text[begin - 1])) --begin;
  return utf8(text.substr(begin, end - begin));
}

}  // namespace

Extraction extract_boxed(std::string_view reply) {
  constexpr std::string_view kBox = "boxed{";
  constexpr std::string_view kFrame = "framebox{";
  std::optional<std::string_view> answer;
  for (std::size_t at = 0; at < reply.size();) {
    const std::size_t box = reply.find(kBox, at);
    const std::size_t frame = reply.find(kFrame, at);
    const std::size_t first = std::min(box, frame);
    if (first == std::string_view::npos) break;
    const std::size_t begin = first + (first == box ? kBox : kFrame).size();
    const std::size_t close = reply.find('}', begin);
    if (close == std::string_view::npos) break;
    if (close > begin) answer = reply.substr(begin, close - begin);
    at = close + 1;
  }
  const Characters text = characters(answer.value_or(reply));
  if (!answer) {
    auto digits = last_digits(text);
    return {digits, digits ? "last_integer" : ""};
  }
  const std::size_t comma = text.rfind(U',');
  const CharactersView last =
      CharactersView(text).substr(comma == Characters::npos ? 0 : comma + 1);
  return {utf8(python_strip(last)), "box"};
}

Extraction extract_python(std::string_view reply) {
  const Characters text = characters(reply);
  return last_code(python_strip(text));
}

Extraction extract_calls(std::string_view reply) {
  Row row;
  row.reply = row.content = reply;
  Json out;
  for (FunctionCall& call : function_calls(row)) {
    out.push_back(Json().set("name", call.name).set("arguments", std::move(call.arguments)));
  }
  if (out.is_null()) return {};
  return {out.dump(), "calls"};
}

}  // namespace assay::score
