#include "plan/dataset_spec.h"

#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "plan/settings.h"

namespace assay::plan {
namespace {

// Puts `value` at the dotted `key` of `map`.
Result<void> put(yaml::Node& map, std::string_view whole, std::string_view key,
                 std::string_view value) {
  const std::size_t dot = key.find('.');
  const std::string name(key.substr(0, dot));
  if (name.empty()) return invalid(format("\"{}\" has an empty key", whole));
  auto member = map.members.begin();
  while (member != map.members.end() && member->first.name != name) ++member;
  if (dot == std::string_view::npos) {
    if (member != map.members.end()) {
      return invalid(member->second.is_map()
                         ? format("\"{}\" is given a value, and keys below it too", whole)
                         : format("\"{}\" is given twice", whole));
    }
    map.members.emplace_back(yaml::Key{name}, yaml::Node::scalar(std::string(value)));
    return {};
  }
  if (member == map.members.end()) {
    map.members.emplace_back(yaml::Key{name}, yaml::Node{.kind = yaml::Node::Kind::map});
    member = map.members.end() - 1;
  } else if (!member->second.is_map()) {
    return invalid(format("\"{}\" is given a value, and keys below it too",
                          whole.substr(0, whole.size() - key.size() + dot)));
  }
  return put(member->second, whole, key.substr(dot + 1), value);
}

}  // namespace

Result<yaml::Node> parse_dataset_spec(std::string_view text) {
  const std::string_view whole = trim(text);
  std::vector<std::string_view> parts = split(whole, ',');
  std::string_view path = trim(parts.front());
  yaml::Node map{.kind = yaml::Node::Kind::map};
  for (const auto& [prefix, type] :
       {std::pair<std::string_view, std::string_view>{"perf:", "performance"},
        {"acc:", "accuracy"}}) {
    if (!path.starts_with(prefix)) continue;
    path.remove_prefix(prefix.size());
    map.members.emplace_back(yaml::Key{"type"}, yaml::Node::scalar(std::string(type)));
    break;
  }
  if (path.empty()) return invalid("a dataset needs a path before its options");
  // A record set of Croissant may be filtered: croissant:FILE#set?split=test.
  if (path.find('=') != std::string_view::npos && !path.starts_with("croissant:")) {
    return invalid(format("a dataset begins with its path, found \"{}\"", path));
  }
  map.members.emplace_back(yaml::Key{"path"}, yaml::Node::scalar(std::string(path)));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view option = trim(parts[i]);
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos) {
      const std::size_t colon = option.find(':');
      if (colon == std::string_view::npos) {
        return invalid(format("\"{}\" is not an option; write key=value", option));
      }
      return invalid(format("\"{}\": options are written with '=': {}={}", option,
                            option.substr(0, colon), option.substr(colon + 1)));
    }
    const std::string_view key = trim(option.substr(0, equals));
    TRY(put(map, key, key, trim(option.substr(equals + 1))));
  }
  return map;
}

void read_dataset(const yaml::Node& node, DatasetConfig& out, const std::string& path,
                  Reading& reading) {
  if (!node.is_scalar()) {
    if (node.is_null()) {
      reading.wrong(node, path, "expected a dataset, found nothing");
      return;
    }
    read_part(dataset_part(), node, &out, path, reading);
    return;
  }
  const auto map = parse_dataset_spec(node.text);
  if (!map) {
    reading.wrong(node, path, map.error().message);
    return;
  }
  yaml::Node placed = *map;
  placed.line = node.line;
  for (auto& [key, value] : placed.members) key.line = value.line = node.line;
  read_part(dataset_part(), placed, &out, path, reading);
}

}  // namespace assay::plan
