// Node: a YAML document as a tree. Every value knows its line, for error messages. Scalars stay
// text: the setting that reads a scalar decides whether it is a number or a switch.
//
// Reads one document of YAML 1.1 as the reference client's reader does: anchors, aliases and merge
// keys (<<), only the standard tags. Aliases are copied within a limit, so that a document of a few
// bytes cannot fill the memory. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::yaml {

struct Key {
  std::string name{};
  int line = 0;
};

struct Node {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text{};   // of a scalar
  bool quoted = false;  // always a string, even if it looks like a number
  int line = 0;         // from 1; 0: not from a file
  std::vector<Node> items{};
  std::vector<std::pair<Key, Node>> members{};

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }
  // nullptr when this is no map or has no such key.
  const Node* find(std::string_view key) const;

  static Node scalar(std::string text, int line = 0);
  // Numbers, switches and null get their JSON spelling.
  static Node from_json(const Json& json);
  // A plain scalar is a number, a boolean (yes and on included) or null where it looks like one.
  Json to_json() const;
  // For messages: "text", "a list", "a map", "nothing".
  std::string_view kind_name() const;
};

struct Limits {
  std::size_t bytes = std::size_t{16} << 20;
  std::size_t nodes = 1'000'000;
  std::size_t keys = 10'000;  // of one map
  std::size_t depth = 100;
  bool keys_once = true;  // false: the last of two counts, as in PyYAML
};

// The error starts with "LINE: ".
Result<Node> parse(std::string_view text, const Limits& limits = {});

// Block style, two spaces, as the reference client's writer: quotes text that would be read as
// another type without quotes.
std::string write(const Json& json);

}  // namespace assay::yaml
