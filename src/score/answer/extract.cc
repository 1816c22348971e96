#include "score/answer/extract.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "domain/scorer.h"
#include "score/tool/function_call.h"

namespace assay::score {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool word_char(char c) {
  return letter(c) || digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// A small scanner: the patterns are short, and each is tried at every place.
class Scan {
 public:
  Scan(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool word(std::string_view lowered) {
    if (at_ + lowered.size() > text_.size()) return false;
    for (std::size_t i = 0; i < lowered.size(); ++i) {
      const char c = text_[at_ + i];
      const char low = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      if (low != lowered[i]) return false;
    }
    at_ += lowered.size();
    return true;
  }
  bool character(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void spaces() {
    while (at_ < text_.size() && space(text_[at_])) ++at_;
  }
  void any_of(std::string_view chars) {
    while (at_ < text_.size() && chars.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  // A letter from A (or a) to `last` that no word goes on after.
  char choice(char last, bool any_case = true) {
    const char c = peek();
    const char up = c >= 'a' && c <= 'z' && any_case ? static_cast<char>(c & ~0x20) : c;
    if (up < 'A' || up > last || at_ >= text_.size()) return '\0';
    const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (after != '\0' && word_char(after)) return '\0';
    ++at_;
    return up;
  }
  std::size_t at() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_;
};

bool starts_word(std::string_view text, std::size_t at) {
  return at == 0 || !word_char(text[at - 1]);
}

using Rule = char (*)(std::string_view text, std::size_t at);

// The thirteen, surest first. Each says which letter it finds at `at`, or nothing.
char markdown_answer(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.character('*')) return '\0';
  scan.any_of("*_");
  if (!scan.word("answer")) return '\0';
  scan.any_of("*_: \t");
  scan.any_of("(");
  return scan.choice('D');
}
char answer_bracket(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!starts_word(text, at) || !scan.word("answer")) return '\0';
  scan.any_of(": \t*_");
  scan.word("is");
  scan.any_of(": \t*_\n");
  return scan.character('(') ? scan.choice('D') : '\0';
}
char answer_plain(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!starts_word(text, at) || !scan.word("answer")) return '\0';
  scan.any_of(" \t*_");
  if (!scan.character(':') && !scan.word("is")) return '\0';
  scan.any_of(": \t*_\n");
  return scan.choice('D', false);
}
char answer_option(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!starts_word(text, at) || !scan.word("answer")) return '\0';
  scan.any_of(": \t*_\n");
  scan.word("is");
  scan.spaces();
  if (!scan.word("option") && !scan.word("choice")) return '\0';
  scan.any_of(": \t*_(");
  return scan.choice('D');
}
char option(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!starts_word(text, at) || (!scan.word("option") && !scan.word("choice"))) return '\0';
  scan.any_of(": \t*_(");
  return scan.choice('D', false);
}
char boxed(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.word("\\boxed{")) return '\0';
  const std::size_t close = text.find('}', scan.at());
  if (close == std::string_view::npos) return '\0';
  for (std::size_t k = scan.at(); k < close; ++k) {
    Scan inner(text.substr(0, close), k);
    const char found = starts_word(text, k) || text[k - 1] == '{' ? inner.choice('D', false) : '\0';
    if (found != '\0') return found;
  }
  return '\0';
}
char in_text_command(std::string_view text, std::size_t at) {
  for (const std::string_view command : {"\\textbf{", "\\text{", "\\mathbf{", "\\mathrm{"}) {
    Scan scan(text, at);
    if (!scan.word(command)) continue;
    scan.any_of("( ");
    return scan.choice('D', false);
  }
  return '\0';
}
char in_brackets(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.character('(')) return '\0';
  const char found = scan.choice('D', false);
  return found != '\0' && scan.character(')') ? found : '\0';
}
char in_stars(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.word("**")) return '\0';
  scan.any_of("(");
  const char found = scan.choice('D', false);
  scan.any_of(").:");
  return found != '\0' && scan.word("**") ? found : '\0';
}
char stars_then_text(std::string_view text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.word("**")) return '\0';
  const char found = scan.choice('D', false);
  return found != '\0' && (scan.peek() == '.' || scan.peek() == ')' || scan.peek() == ':') ? found
                                                                                           : '\0';
}
bool line_start(std::string_view text, std::size_t at) { return at == 0 || text[at - 1] == '\n'; }
char line_letter_mark(std::string_view text, std::size_t at) {
  if (!line_start(text, at)) return '\0';
  Scan scan(text, at);
  scan.any_of(" \t*_");
  const char found = scan.choice('D', false);
  return found != '\0' && (scan.peek() == ')' || scan.peek() == '.' || scan.peek() == ':') ? found
                                                                                           : '\0';
}
char line_letter_alone(std::string_view text, std::size_t at) {
  if (!line_start(text, at)) return '\0';
  Scan scan(text, at);
  scan.any_of(" \t*_");
  const char found = scan.choice('D', false);
  scan.any_of(" \t*_.");
  return found != '\0' && (scan.peek() == '\0' || scan.peek() == '\n') ? found : '\0';
}
char line_bracket(std::string_view text, std::size_t at) {
  if (!line_start(text, at)) return '\0';
  Scan scan(text, at);
  scan.any_of(" \t");
  return scan.character('[') ? scan.choice('D', false) : '\0';
}

constexpr std::array<Rule, 13> kRules = {markdown_answer, answer_bracket,   answer_plain,
                                         answer_option,   option,           boxed,
                                         in_text_command, in_brackets,      in_stars,
                                         stars_then_text, line_letter_mark, line_letter_alone,
                                         line_bracket};

// The last integer, commas and all that is not a digit left out.
std::string last_integer(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !digit(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && digit(text[begin - 1])) --begin;
  return std::string(text.substr(begin, end - begin));
}

// The end of -?[0-9,]*\.?[0-9]+ at `at`, or `at` where it does not match.
std::size_t number_end(std::string_view text, std::size_t at) {
  std::size_t end = at + (text[at] == '-' ? 1 : 0);
  std::size_t last_digit = std::string_view::npos;
  for (; end < text.size() && (digit(text[end]) || text[end] == ','); ++end) {
    if (digit(text[end])) last_digit = end;
  }
  if (end + 1 < text.size() && text[end] == '.' && digit(text[end + 1])) {
    ++end;
    while (end < text.size() && digit(text[end])) ++end;
    return end;
  }
  return last_digit == std::string_view::npos ? at : last_digit + 1;
}

// The first number of a text, or the last.
std::string a_number(std::string_view text, bool first) {
  std::string found;
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
  return found;
}

}  // namespace

Result<std::string> find_extractor(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !id.empty() && id.back() != '_') id += '_';
    id += capital ? static_cast<char>(c | 0x20) : c;
  }
  if (name == "ABCDExtractor") id = "abcd_extractor";
  if (std::find(kExtractors.begin(), kExtractors.end(), id) != kExtractors.end()) return id;
  const std::string_view near = nearest(id, kExtractors);
  return invalid(format("no extractor '{}'{}", name,
                        near.empty() ? "" : format(" (did you mean '{}'?)", near)));
}

std::string extract(std::string_view id, std::string_view reply) {
  if (id == "abcd_extractor") return extract_abcd(reply);
  if (id == "boxed_math_extractor") return extract_boxed(reply);
  if (id == "python_code_extractor") return extract_python(reply);
  if (id == "letter_aj") return extract_letter(reply, 'J');
  if (id == "aime_integer") return extract_aime(reply);
  if (id == "last_boxed") return extract_last_boxed(reply);
  if (id == "gsm8k_number") return extract_gsm8k(reply);
  if (id == "function_call_extractor") return extract_calls(reply);
  return std::string(reply);
}

std::string extract_abcd(std::string_view reply) {
  for (const Rule rule : kRules) {
    for (std::size_t at = 0; at < reply.size(); ++at) {
      const char found = rule(reply, at);
      if (found != '\0') return format("choice{}", found - 'A' + 1);
    }
  }
  const std::size_t stars = reply.find("**");
  if (stars == std::string_view::npos || stars + 2 >= reply.size()) return {};
  const char c = reply[stars + 2];
  return c >= 'A' && c <= 'D' ? format("choice{}", c - 'A' + 1) : std::string();
}

std::string extract_boxed(std::string_view reply) {
  std::size_t best = std::string_view::npos;
  std::size_t inside = 0;
  for (const std::string_view command : {"boxed{", "framebox{"}) {
    const std::size_t at = reply.rfind(command);
    if (at == std::string_view::npos) continue;
    if (best == std::string_view::npos || at > best) {
      best = at;
      inside = at + command.size();
    }
  }
  const std::size_t close = best == std::string_view::npos ? best : reply.find('}', inside);
  if (close == std::string_view::npos) return last_integer(reply);
  std::string_view answer = reply.substr(inside, close - inside);
  const std::size_t comma = answer.rfind(',');
  if (comma != std::string_view::npos) answer.remove_prefix(comma + 1);
  return std::string(trim(answer));
}

std::string extract_python(std::string_view reply) {
  struct Block {
    std::string_view tag{};
    std::string_view body{};
  };
  std::vector<Block> blocks;
  for (std::size_t at = reply.find("```"); at != std::string_view::npos;) {
    const std::size_t line = reply.find('\n', at);
    const std::size_t close = line == std::string_view::npos ? line : reply.find("```", line + 1);
    if (close == std::string_view::npos) break;
    blocks.push_back(
        {trim(reply.substr(at + 3, line - at - 3)), reply.substr(line + 1, close - line - 1)});
    at = reply.find("```", close + 3);
  }
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    if (lower(block->tag) == "python" || lower(block->tag) == "py") {
      return std::string(trim(block->body));
    }
  }
  return blocks.empty() ? std::string() : std::string(trim(blocks.back().body));
}

std::string extract_letter(std::string_view reply, char last) {
  char found = '\0';
  for (std::size_t at = 0; at < reply.size(); ++at) {
    if (!starts_word(reply, at)) continue;
    Scan scan(reply, at);
    if (!scan.word("answer")) continue;
    scan.any_of(" \t*_");
    if (!scan.character(':') && !scan.word("is")) continue;
    scan.any_of(": \t\n*_$(\\");
    scan.word("boxed{");
    scan.word("text{");
    const char c = scan.choice(last);
    if (c != '\0') found = c;
  }
  if (found == '\0' && last > 'D') {
    for (std::size_t at = reply.size(); at-- > 0 && found == '\0';) {
      if (!starts_word(reply, at)) continue;
      found = Scan(reply, at).choice(last, false);
    }
  }
  return found == '\0' ? std::string() : std::string(1, found);
}

std::string extract_aime(std::string_view reply) {
  std::string found;
  for (std::size_t at = reply.find("boxed{"); at != std::string_view::npos;
       at = reply.find("boxed{", at + 1)) {
    const std::size_t close = reply.find('}', at);
    if (close == std::string_view::npos) break;
    const std::string_view inside = trim(reply.substr(at + 6, close - at - 6));
    if (!inside.empty() && std::all_of(inside.begin(), inside.end(), digit)) found = inside;
  }
  for (std::size_t at = 0; found.empty() && at < reply.size(); ++at) {
    Scan scan(reply, at);
    if (!starts_word(reply, at) || !scan.word("answer")) continue;
    scan.any_of(": \t*_$");
    std::size_t end = scan.at();
    while (end < reply.size() && digit(reply[end])) ++end;
    found = reply.substr(scan.at(), end - scan.at());
  }
  const auto number = parse_int(found);
  return number && *number >= 0 && *number <= 999 ? std::to_string(*number) : std::string();
}

std::string extract_last_boxed(std::string_view reply) {
  std::size_t at = reply.rfind("\\boxed");
  if (at == std::string_view::npos) at = reply.rfind("\\fbox");
  if (at == std::string_view::npos) return {};
  const std::size_t open = reply.find_first_of("{ ", at);
  if (open == std::string_view::npos) return {};
  if (reply[open] == ' ') {  // \boxed 42$
    const std::size_t end = reply.find('$', open);
    return std::string(trim(reply.substr(open, end == std::string_view::npos ? end : end - open)));
  }
  int depth = 0;
  for (std::size_t i = open; i < reply.size(); ++i) {
    if (reply[i] == '{') ++depth;
    if (reply[i] == '}' && --depth == 0) return std::string(reply.substr(open + 1, i - open - 1));
  }
  return {};
}

std::string extract_gsm8k(std::string_view reply) {
  reply = reply.substr(0, reply.find("\nQ:"));
  constexpr std::string_view kSays = "The answer is";
  const std::size_t says = reply.rfind(kSays);
  std::string found;
  if (says != std::string_view::npos) found = a_number(reply.substr(says + kSays.size()), true);
  if (found.empty()) found = a_number(reply, false);
  std::erase(found, ',');
  return found;
}

std::string extract_calls(std::string_view reply) {
  Row row;
  row.reply = row.content = reply;
  Json out;
  for (FunctionCall& call : function_calls(row)) {
    out.push_back(Json().set("name", call.name).set("arguments", std::move(call.arguments)));
  }
  return out.is_null() ? std::string() : out.dump();
}

std::string_view final_channel(std::string_view reply) {
  constexpr std::string_view kFinal = "<|channel|>final";
  constexpr std::string_view kMessage = "<|message|>";
  const std::size_t channel = reply.rfind(kFinal);
  if (channel == std::string_view::npos) return reply;
  const std::size_t message = reply.find(kMessage, channel);
  if (message == std::string_view::npos) return {};
  const std::string_view rest = reply.substr(message + kMessage.size());
  return rest.substr(0, rest.find("<|return|>"));
}

}  // namespace assay::score
