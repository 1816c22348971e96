#include "desk/tool_call.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "base/format.h"
#include "base/text.h"

namespace assay::desk {
namespace {

constexpr std::string_view kCallMark = "tool_use";
constexpr std::string_view kFence = "```";
// An unmatched brace makes the search begin again: a limit on all that is read for one answer.
constexpr std::size_t kReadMax = std::size_t{16} << 20;

struct ToolRule {
  std::string_view name{};
  std::array<std::string_view, 2> keys{};  // "": none
  std::size_t required = 0;                // that many of them, from the first
};
constexpr std::array<ToolRule, 4> kTools{{{"read", {"path", ""}, 1},
                                          {"write", {"path", "content"}, 2},
                                          {"patch", {"path", "diff"}, 2},
                                          {"execute", {"command", "cwd"}, 1}}};

// A line with nothing but a fence is left out; of any other, its fences.
std::string without_fences(std::string_view text) {
  std::string out;
  for (const std::string_view whole : split(text, '\n')) {
    std::string line(whole);
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, kFence.size(), kFence) == 0) {
      std::string_view rest = std::string_view(line).substr(begin + kFence.size());
      while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t')) rest.remove_suffix(1);
      const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
      if (std::ranges::all_of(rest, is_letter)) continue;
    }
    std::size_t at = 0;
    while ((at = line.find(kFence, at)) != std::string::npos) line.erase(at, kFence.size());
    out += line + '\n';
  }
  return out;
}

bool is_call(const Json& json) { return json.is_object() && json["type"].as_string() == kCallMark; }

void collect_calls(const Json& json, std::vector<Json>& out) {
  if (is_call(json)) {
    out.push_back(json);
    return;
  }
  const Json& list = json.is_array() ? json : json["content"];
  if (!list.is_array()) return;
  for (const Json& one : list.items()) {
    if (is_call(one)) out.push_back(one);
  }
}

// Returns the place of the brace that closes the one at `begin`, or npos. Braces in strings do not
// count.
std::size_t closing_brace(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && c == '{') {
      ++depth;
    } else if (!in_string && c == '}' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::string problem_of(const Json& call) {
  if (const Json* const id = call.find("id"); id != nullptr && !id->is_string()) {
    return "id: must be a text";
  }
  const std::string_view name = call["name"].as_string();
  const auto tool = std::ranges::find(kTools, name, &ToolRule::name);
  if (tool == kTools.end())
    return format("\"{}\" is not a tool: read, write, patch, execute", name);
  const Json& input = call["input"];
  if (!input.is_object()) return "input: must be an object";
  for (const auto& [key, value] : input.members()) {
    if (key.empty() || std::ranges::find(tool->keys, key) == tool->keys.end()) {
      return format("input.{}: {} has no such argument", key, name);
    }
    if (!value.is_string()) return format("input.{}: must be a text", key);
  }
  for (const std::string_view key : std::span(tool->keys).first(tool->required)) {
    if (input.find(key) == nullptr) return format("input.{}: is missing", key);
  }
  return {};
}

}  // namespace

Result<std::vector<ToolCall>> tool_calls(std::string_view answer) {
  std::vector<ToolCall> out;
  if (answer.find(kCallMark) == std::string_view::npos) return out;
  const std::string text = without_fences(answer);
  std::vector<Json> found;
  if (const auto whole = Json::parse(text)) collect_calls(*whole, found);
  std::size_t read = 0;
  for (std::size_t at = found.empty() ? text.find('{') : std::string::npos; at != std::string::npos;
       at = text.find('{', at)) {
    const std::size_t end = closing_brace(text, at);
    read += (end == std::string::npos ? text.size() : end) - at;
    if (read > kReadMax) return invalid("its braces do not match, and it is too long to try all");
    const auto one = end == std::string::npos
                         ? Result<Json>(invalid("no end"))
                         : Json::parse(std::string_view(text).substr(at, end - at + 1));
    if (one) collect_calls(*one, found);
    at = one ? end + 1 : at + 1;
  }
  for (const Json& one : found) {
    out.push_back({.name = std::string(one["name"].as_string()),
                   .input = one["input"],
                   .problem = problem_of(one)});
  }
  return out;
}

}  // namespace assay::desk
