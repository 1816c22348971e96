// Node: a YAML document as a tree whose every value knows its line, so that an error can say where.
// Scalars stay text: what a number or a switch is, the setting that reads it decides.
//
// One document of YAML 1.1 as the reference client's reader takes it: anchors, aliases and merge
// keys (<<), no tags but the standard ones. Aliases are copied,
// within a limit, so a document of a few bytes cannot fill the memory. Any thread.
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
  bool quoted = false;  // a string, whatever it looks like
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
  // Numbers, switches and null as they are written in JSON.
  static Node from_json(const Json& json);
  // A plain scalar is a number, a boolean (yes and on included) or null where it looks like one.
  Json to_json() const;
  // "text", "a list", "a map", "nothing": for messages.
  std::string_view kind_name() const;
};

struct Limits {
  std::size_t bytes = std::size_t{16} << 20;
  std::size_t nodes = 1'000'000;
  std::size_t keys = 10'000;  // of one map
  std::size_t depth = 100;
  bool keys_once = true;  // else the last of two counts, as PyYAML has it
};

// The error starts with "LINE: ".
Result<Node> parse(std::string_view text, const Limits& limits = {});

// Block style, two spaces, as the reference client's writer does it: text is quoted where plain it
// would be something else.
std::string write(const Json& json);

}  // namespace assay::yaml
