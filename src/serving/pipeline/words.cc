// The small languages inside the file: a command's words, and names in braces.
#include <algorithm>

#include "base/enum_name.h"
#include "base/format.h"
#include "pipeline/pipeline.h"

namespace assay::pipeline {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

std::string_view to_string(StepType type) { return enum_name(type); }

const Mount* Step::find_mount(std::string_view mount) const {
  const auto found = std::ranges::find_if(mounts, [&](const Mount& m) { return m.name == mount; });
  return found == mounts.end() ? nullptr : &*found;
}

const Step* Pipeline::find(std::string_view id) const {
  const auto found = std::ranges::find_if(steps, [&](const Step& step) { return step.id == id; });
  return found == steps.end() ? nullptr : &*found;
}

const Condition* Pipeline::find_condition(std::string_view id) const {
  const auto found =
      std::ranges::find_if(site.conditions, [&](const Condition& one) { return one.id == id; });
  return found == site.conditions.end() ? nullptr : &*found;
}

Result<std::vector<std::string>> split_command(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // a word has begun
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_blank(c)) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return invalid(format("the quote {} is not closed", quote));
  return words;
}

Result<std::vector<std::string>> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') continue;
    if (i + 1 < text.size() && text[i + 1] == '{') {
      ++i;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string_view::npos) return invalid("a brace is not closed; {{ is a brace");
    names.emplace_back(text.substr(i + 1, end - i - 1));
    i = end;
  }
  return names;
}

std::string fill_in(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      out += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '{') {
      out += text[i++];
      continue;
    }
    const std::size_t end = text.find('}', i);
    const auto found = end == std::string_view::npos
                           ? values.end()
                           : values.find(std::string(text.substr(i + 1, end - i - 1)));
    if (found == values.end()) {
      out += text[i];
      continue;
    }
    out += found->second;
    i = end;
  }
  return out;
}

}  // namespace assay::pipeline
