#include "score/task/steps.h"

#include <algorithm>
#include <functional>

#include "base/format.h"
#include "base/text.h"
#include "score/answer/python_text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

using Found = std::optional<std::string>;

// Calls `use` for each match, as re.finditer, until it returns false.
void each_match(const text::Regex& pattern, std::string_view text, text::RegexStack& stack,
                const std::function<bool(const text::Regex::Match&)>& use) {
  text::Regex::Match match;
  for (std::size_t at = 0; at <= text.size() && pattern.find(text, at, stack, match);) {
    if (!use(match)) return;
    if (match.end > match.begin) {
      at = match.end;
    } else {
      if (match.end >= text.size()) return;
      at = match.end + text::decode_at(text, match.end).bytes;
    }
  }
}

std::string piece_of(std::string_view text, const text::Regex::Match& match) {
  return std::string(text.substr(match.begin, match.end - match.begin));
}

// What a match stands for: the chosen group; of several groups the first that captured something.
Found part_of(const task::Step& step, std::string_view text, const text::Regex::Match& match,
              const text::RegexStack& stack) {
  const text::Regex& pattern = *step.regex;
  const auto group = [&](std::size_t number) {
    const auto part = pattern.group(number, stack);
    return part ? piece_of(text, *part) : std::string();
  };
  if (step.group) return *step.group == 0 ? piece_of(text, match) : group(*step.group);
  if (pattern.groups() == 0) return piece_of(text, match);
  if (pattern.groups() == 1) return group(1);
  for (std::size_t i = 1; i <= pattern.groups(); ++i) {
    std::string part = group(i);
    if (!part.empty()) return part;
  }
  return std::nullopt;
}

Found by_regex(const task::Step& step, const std::string& text) {
  text::RegexStack stack;
  stack.begin(text.size());
  Found found;
  each_match(*step.regex, text, stack, [&](const text::Regex::Match& match) {
    found = part_of(step, text, match, stack);
    return step.last;
  });
  if (stack.exhausted || !found) return std::nullopt;
  return std::string(python_strip(std::string_view(*found)));
}

// The letter stands alone: no letter, digit or underscore beside it.
bool stands_alone(CharactersView text, std::size_t at) {
  return (at == 0 || !python_word(text[at - 1])) &&
         (at + 1 >= text.size() || !python_word(text[at + 1]));
}

Found by_letter(std::string_view letters, const std::string& reply) {
  const Characters text = characters(reply);
  std::size_t says = CharactersView::npos;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (Scan scan(text, at); scan.word("answer")) says = scan.at();
  }
  Found last;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char32_t c = text[at];
    if (c >= 0x80 || letters.find(static_cast<char>(c)) == std::string_view::npos) continue;
    if (!stands_alone(text, at)) continue;
    last = std::string(1, static_cast<char>(c));
    if (says != CharactersView::npos && at >= says) return last;
  }
  return last;
}

Found by_number(const std::string& text) {
  static const text::Regex kNumber =
      text::Regex::compile(R"(-?(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+))",
                           text::RegexDialect::python)
          .value();
  text::RegexStack stack;
  stack.begin(text.size());
  Found found;
  each_match(kNumber, text, stack, [&](const text::Regex::Match& match) {
    found = piece_of(text, match);
    return true;
  });
  if (found) std::erase(*found, ',');
  return found;
}

std::string line_of(const std::string& text, bool last) {
  if (!last) return text.substr(0, text.find('\n'));
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    if (!python_strip(line).empty()) out = line;
  }
  return out;
}

// The last fenced block of Python, else the last block, with its indentation: a reply may be the
// body of a function. Without a block the whole text; a block without its end goes to the end.
Found code_in(const std::string& text) {
  std::optional<std::string> python;
  std::optional<std::string> other;
  std::optional<std::string>* block = nullptr;  // the block that is open
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view word = trim(line);
    if (!word.starts_with("```")) {
      if (block != nullptr) **block += format("{}\n", line);
    } else if (block != nullptr) {
      block = nullptr;
    } else {
      const std::string language = text::lower_case(trim(word.substr(3)));
      block = language == "python" || language == "python3" || language == "py" ? &python : &other;
      block->emplace();
    }
  }
  if (python) return python;
  return other ? other : Found(text);
}

Found apply_one(const task::Step& step, const std::string& text) {
  switch (step.kind) {
    case task::StepKind::regex:
      return by_regex(step, text);
    case task::StepKind::remove:
      return without_matches(*step.regex, text);
    case task::StepKind::strip:
      return std::string(python_strip(std::string_view(text)));
    case task::StepKind::lower:
      return text::lower_case(text);
    case task::StepKind::upper:
      return text::upper_case(text);
    case task::StepKind::first_line:
      return line_of(text, false);
    case task::StepKind::last_line:
      return line_of(text, true);
    case task::StepKind::letter:
      return by_letter(step.word, text);
    case task::StepKind::boxed:
      return extract_last_boxed(text).answer;
    case task::StepKind::number:
      return by_number(text);
    case task::StepKind::code:
      return code_in(text);
    case task::StepKind::extractor:
      return extract(step.word, text).answer;
  }
  return std::nullopt;
}

}  // namespace

std::string without_matches(const text::Regex& pattern, const std::string& text) {
  text::RegexStack stack;
  stack.begin(text.size());
  std::string out;
  std::size_t kept = 0;
  each_match(pattern, text, stack, [&](const text::Regex::Match& match) {
    out += std::string_view(text).substr(kept, match.begin - kept);
    kept = match.end;
    return true;
  });
  return out + text.substr(kept);
}

Extraction apply_steps(const std::vector<task::Step>& steps, std::string_view text) {
  std::string now = readable(text);
  std::string_view rule = "whole_reply";
  for (const task::Step& step : steps) {
    Found found = apply_one(step, now);
    rule = task::to_string(step.kind);
    if (!found) found = step.fallback;
    if (!found) return {std::nullopt, ""};
    now = *std::move(found);
  }
  return {std::move(now), rule};
}

}  // namespace assay::score
