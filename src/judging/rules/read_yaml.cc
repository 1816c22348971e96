// The one file of the room that knows the YAML library.
#include <yaml-cpp/yaml.h>

#include <new>

#include "base/format.h"
#include "base/text.h"
#include "rules/document.h"

namespace assay::rules {
namespace {

constexpr std::size_t kTextMax = std::size_t{1} << 20;
constexpr std::size_t kDepthMax = 32;
constexpr std::size_t kNodesMax = 50'000;
constexpr std::size_t kKeysMax = 1'000;  // of one map

struct Refusal {
  int line = 0;
  std::string what{};
};

// As the reference client's reader (YAML 1.1) takes a plain scalar.
Json scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!" || node.Tag().ends_with(":str")) return text;  // it was quoted
  const std::string word = text.size() <= 5 ? lower(text) : "";
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  if (word == "null" || text == "~" || text.empty()) return nullptr;
  const bool digits = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (!digits) return text;
  if (const auto whole = parse_int(text)) return *whole;
  if (const auto whole = parse_uint(text)) return *whole;
  if (const auto number = parse_double(text)) return *number;
  return text;
}

class Reader {
 public:
  YamlTree read(const YAML::Node& node) {
    tree_.root = convert(node, "", 0);
    return std::move(tree_);
  }

 private:
  Json convert(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    const int line = node.Mark().line + 1;
    if (depth > kDepthMax) throw Refusal{line, "nested more than 32 deep"};
    if (++nodes_ > kNodesMax) throw Refusal{line, "more than 50,000 values"};
    // A member's line is its key's, set before.
    if (!pointer.empty()) tree_.lines.try_emplace(pointer, line);
    if (node.IsScalar()) return scalar(node);
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const YAML::Node& item : node) {
        list.push_back(convert(item, pointer_to(pointer, list.size()), depth + 1));
      }
      return list;
    }
    if (node.IsMap()) return convert_map(node, pointer, depth);
    return {};
  }

  Json convert_map(const YAML::Node& node, const std::string& pointer, std::size_t depth) {
    Json map = Json::object();
    for (const auto& member : node) {
      const int line = member.first.Mark().line + 1;
      if (!member.first.IsScalar()) throw Refusal{line, "a key that is not a word"};
      if (map.size() == kKeysMax) throw Refusal{line, "more than 1,000 keys in one map"};
      const std::string& key = member.first.Scalar();
      const std::string inner = pointer_to(pointer, key);
      tree_.lines.insert_or_assign(inner, line);
      map.set(key, convert(member.second, inner, depth + 1));
    }
    return map;
  }

  YamlTree tree_{};
  std::size_t nodes_ = 0;
};

}  // namespace

Result<YamlTree> read_yaml(const std::string& text) {
  if (text.size() > kTextMax) return invalid("0: larger than 1 MiB");
  if (!valid_utf8(text)) return invalid("0: not valid UTF-8");
  try {
    return Reader().read(YAML::Load(text));
  } catch (const Refusal& refusal) {
    return invalid(format("{}: {}", refusal.line, refusal.what));
  } catch (const YAML::Exception& e) {
    return invalid(format("{}: not valid YAML: {}", e.mark.line + 1, e.msg));
  } catch (const std::bad_alloc&) {
    throw;  // the input is not to blame
  } catch (const std::exception& e) {
    return invalid(format("0: not valid YAML: {}", e.what()));
  }
}

}  // namespace assay::rules
