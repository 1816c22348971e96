#include "base/yaml.h"
#include "rules/document.h"

namespace assay::rules {
namespace {

// Limits are small, since a hostile tree has many files.
constexpr yaml::Limits kLimits{
    .bytes = std::size_t{1} << 20, .nodes = 50'000, .keys = 1'000, .depth = 32, .keys_once = false};

Json convert(const yaml::Node& node, const std::string& pointer, YamlTree& tree) {
  // The line of a map's member is its key's and was set before.
  if (!pointer.empty()) tree.lines.try_emplace(pointer, node.line);
  if (node.is_list()) {
    Json list = Json::array();
    for (const yaml::Node& item : node.items) {
      list.push_back(convert(item, pointer_to(pointer, list.size()), tree));
    }
    return list;
  }
  if (!node.is_map()) return node.to_json();
  Json map = Json::object();
  for (const auto& [key, value] : node.members) {
    const std::string inner = pointer_to(pointer, key.name);
    tree.lines.insert_or_assign(inner, key.line);
    map.set(key.name, convert(value, inner, tree));
  }
  return map;
}

}  // namespace

Result<YamlTree> read_yaml(const std::string& text) {
  ASSIGN_OR_RETURN(const yaml::Node node, yaml::parse(text, kLimits));
  YamlTree tree;
  tree.root = convert(node, "", tree);
  return tree;
}

}  // namespace assay::rules
