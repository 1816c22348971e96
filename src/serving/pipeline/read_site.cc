// What differs from site to site: inputs, parameters, stand-ins of images, conditions, partitions.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "pipeline/read.h"

namespace assay::pipeline {
namespace {

// MODULE.NAME, each part a name of Python's.
bool is_function_name(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() < 2) return false;
  return std::ranges::all_of(parts, [](std::string_view part) {
    const auto letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !part.empty() && letter(part.front()) &&
           std::ranges::all_of(part, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  });
}

}  // namespace

std::string Reader::function(const yaml::Node& map, const std::string& field) {
  const yaml::Node* const node = needed(map, field, "function_name");
  if (node == nullptr) return {};
  std::string out = text(*node, field + ".function_name");
  if (node->is_scalar() && !is_function_name(out)) {
    faults_.add(node->line, field + ".function_name", format("'{}' is not a function's name", out),
                "write MODULE.FUNCTION, such as conditions.annotation_done");
  }
  return out;
}

void Reader::json_condition(const yaml::Node& node, const std::string& field, Condition& out) {
  out.file = pattern(node, field, "file");
  if (const yaml::Node* const one = needed(node, field, "pointer")) {
    out.pointer = text(*one, field + ".pointer");
    if (!out.pointer.empty() && out.pointer.front() != '/') {
      faults_.add(one->line, field + ".pointer", "a pointer begins with /", "such as /counts/0");
    }
  }
  int compares = 0;
  for (const auto& [key, compare] :
       {std::pair{"equals", Compare::equals}, std::pair{"at_least", Compare::at_least},
        std::pair{"at_most", Compare::at_most}}) {
    const yaml::Node* const one = node.find(key);
    if (one == nullptr) continue;
    ++compares;
    out.compare = compare;
    out.value = one->to_json();
    if (compare != Compare::equals && !out.value.is_number()) {
      faults_.add(one->line, format("{}.{}", field, key), "expected a number");
    }
  }
  if (compares != 1) {
    faults_.add(node.line, field, "expected one of equals, at_least, at_most");
  }
}

Condition Reader::condition(const yaml::Node& node, const std::string& at) {
  Condition out{.line = node.line};
  if (!is_map(node, at)) return out;
  if (const yaml::Node* const one = needed(node, at, "id")) out.id = id(*one, at + ".id");
  const std::string field = out.id.empty() ? at : "conditions." + out.id;
  const yaml::Node* const type = needed(node, field, "type");
  if (type == nullptr) return out;
  const int which = choice(*type, field + ".type", {"file", "json", "function"});
  if (which < 0) return out;
  out.type = static_cast<ConditionType>(which);
  switch (out.type) {
    case ConditionType::file:
      check_keys(node, field, {"id", "type", "file", "count"});
      out.file = pattern(node, field, "file");
      break;
    case ConditionType::json:
      check_keys(node, field, {"id", "type", "file", "pointer", "equals", "at_least", "at_most"});
      json_condition(node, field, out);
      break;
    case ConditionType::function:
      check_keys(node, field, {"id", "type", "function_name"});
      out.function = function(node, field);
      break;
  }
  if (const auto names = names_in(out.file.path); !names) {
    faults_.add(out.line, field + ".file", names.error().message);
  }
  return out;
}

PartitionDef Reader::partition_def(const yaml::Node& node) {
  PartitionDef out{.line = node.line};
  const std::string field = "partition_def";
  if (!is_map(node, field)) return out;
  const yaml::Node* const type = needed(node, field, "type");
  if (type == nullptr) return out;
  const int which =
      choice(*type, field + ".type", {"folders", "files", "lines", "list", "function"});
  if (which < 0) return out;
  out.type = static_cast<PartitionType>(which);
  switch (out.type) {
    case PartitionType::folders:
    case PartitionType::files:
    case PartitionType::lines:
      check_keys(node, field, {"type", "path"});
      if (const yaml::Node* const one = needed(node, field, "path")) {
        out.path = text(*one, field + ".path");
      }
      break;
    case PartitionType::list:
      check_keys(node, field, {"type", "items"});
      if (const yaml::Node* const one = needed(node, field, "items")) {
        if (is_list(*one, field + ".items")) out.items = texts(*one, field + ".items");
      }
      break;
    case PartitionType::function:
      check_keys(node, field, {"type", "function_name"});
      out.function = function(node, field);
      break;
  }
  return out;
}

Site Reader::site(const yaml::Node& root) {
  Site out;
  const auto map_of = [&](std::string_view key, auto&& take) {
    const yaml::Node* const node = root.find(key);
    if (node == nullptr || node->is_null() || !is_map(*node, key)) return;
    for (const auto& [name, value] : node->members) {
      take(name.name, value, format("{}.{}", key, name.name));
    }
  };
  using yaml::Node;
  using Text = const std::string&;
  map_of("inputs", [&](Text name, const Node& n, Text f) { out.inputs[name] = text(n, f); });
  map_of("parameters",
         [&](Text name, const Node& n, Text f) { out.parameters[name] = text(n, f); });
  map_of("images", [&](Text name, const Node& n, Text f) { out.images[name] = command(n, f); });
  const yaml::Node* const conditions = root.find("conditions");
  if (conditions != nullptr && !conditions->is_null() && is_list(*conditions, "conditions")) {
    std::map<std::string, int> lines;
    for (std::size_t i = 0; i < conditions->items.size(); ++i) {
      Condition one = condition(conditions->items[i], format("conditions[{}]", i));
      const auto [first, is_new] = lines.emplace(one.id, one.line);
      if (!is_new && !one.id.empty()) {
        faults_.add(one.line, "conditions." + one.id,
                    format("this id is given twice; the first is on line {}", first->second));
      }
      out.conditions.push_back(std::move(one));
    }
  }
  const yaml::Node* partitions = root.find("partition_def");
  if (partitions == nullptr) {
    partitions = root.find("per_subject_def");
    if (partitions != nullptr) note(partitions->line, "per_subject_def: read as `partition_def`");
  }
  if (partitions != nullptr && !partitions->is_null())
    out.partition_def = partition_def(*partitions);
  return out;
}

}  // namespace assay::pipeline
