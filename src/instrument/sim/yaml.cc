#include "sim/yaml.h"

#include <yaml-cpp/yaml.h>

#include <cmath>

#include "base/format.h"
#include "base/text.h"

namespace assay::sim {
namespace {

constexpr std::size_t kBytesMax = std::size_t{1} << 20;
constexpr int kDepthMax = 32;
constexpr std::size_t kNodesMax = 200'000;

Json scalar(const YAML::Node& node) {
  const std::string text = node.Scalar();
  if (node.Tag() == "!") return text;  // it was quoted
  if (text == "true") return true;
  if (text == "false") return false;
  if (text == "null" || text == "~") return nullptr;
  if (const auto whole = parse_int(text)) return *whole;
  if (const auto number = parse_double(text); number && std::isfinite(*number)) return *number;
  return text;
}

Result<Json> convert(const YAML::Node& node, int depth, std::size_t& nodes) {
  if (depth > kDepthMax) return invalid("nested more than 32 deep");
  if (++nodes > kNodesMax) return invalid("more than 200,000 values");
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      return Json();
    case YAML::NodeType::Scalar:
      return scalar(node);
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const YAML::Node& item : node) {
        ASSIGN_OR_RETURN(Json value, convert(item, depth + 1, nodes));
        list.push_back(std::move(value));
      }
      return list;
    }
    case YAML::NodeType::Map: {
      Json map = Json::object();
      for (const auto& member : node) {
        if (!member.first.IsScalar()) return invalid("a key that is not a word");
        const std::string key = member.first.Scalar();
        if (map.find(key) != nullptr) return invalid(format("'{}' is given twice", key));
        ASSIGN_OR_RETURN(Json value, convert(member.second, depth + 1, nodes));
        map.set(key, std::move(value));
      }
      return map;
    }
  }
  return Json();
}

}  // namespace

Result<Json> parse_yaml(std::string_view text, std::string_view name) {
  if (text.size() > kBytesMax) return invalid(format("{}: larger than 1 MiB", name));
  try {
    std::size_t nodes = 0;
    auto value = convert(YAML::Load(std::string(text)), 0, nodes);
    if (!value) return value.error().within(name);
    return value;
  } catch (const YAML::Exception& e) {
    return invalid(format("{}:{}:{}: {}", name, e.mark.line + 1, e.mark.column + 1, e.msg));
  }
}

}  // namespace assay::sim
