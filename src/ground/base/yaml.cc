#include "base/yaml.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <optional>
#include <sstream>

#include "base/format.h"
#include "base/text.h"

namespace assay::yaml {
namespace {

struct TreeError {
  int line = 0;
  std::string what{};
};

std::size_t count(const Node& node) {
  std::size_t total = 1;
  for (const Node& item : node.items) total += count(item);
  for (const auto& [key, value] : node.members) total += count(value);
  return total;
}

std::size_t depth(const Node& node) {
  std::size_t deepest = 0;
  for (const Node& item : node.items) deepest = std::max(deepest, depth(item));
  for (const auto& [key, value] : node.members) deepest = std::max(deepest, depth(value));
  return deepest + 1;
}

bool looks_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

void merge_from(Node& map, const Node& source, int line) {
  if (!source.is_map()) throw TreeError{line, "'<<' takes a map, or a list of maps"};
  for (const auto& member : source.members) {
    if (map.find(member.first.name) == nullptr) map.members.push_back(member);
  }
}

// Builds the tree from yaml-cpp's events. Throws TreeError, which parse() catches: an exception
// is the only way out of the library's callbacks.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const Limits& limits) : limits_(limits) {}
  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(Node{.line = line(mark)}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw TreeError{line(mark), "an alias inside its own anchor"};
    spend(count(found->second), line(mark));
    check_depth(depth(found->second), line(mark));
    add(found->second, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node{.kind = Node::Kind::scalar, .text = value, .line = line(mark)};
    if (tag == "!" || tag.ends_with(":str")) {
      node.quoted = true;
    } else if (tag == "tag:yaml.org,2002:null" || (standard(tag, mark) && looks_null(value))) {
      node.kind = Node::Kind::null;
    }
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    standard(tag, mark);
    check_depth(1, line(mark));
    open_.push_back({Node{.kind = Node::Kind::list, .line = line(mark)}, anchor, {}});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    standard(tag, mark);
    check_depth(1, line(mark));
    open_.push_back({Node{.kind = Node::Kind::map, .line = line(mark)}, anchor, {}});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node{};
    YAML::anchor_t anchor = 0;
    std::optional<Key> key{};                     // of a map: the key of the next value
    bool merges = false;                          // that key is <<
    std::vector<std::pair<Key, Node>> sources{};  // the values of <<
  };

  static int line(const YAML::Mark& mark) { return mark.line + 1; }

  static bool standard(const std::string& tag, const YAML::Mark& mark) {
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:")) {
      return true;
    }
    throw TreeError{line(mark), format("the tag '{}' means nothing here", tag)};
  }

  void spend(std::size_t nodes, int at) {
    nodes_ += nodes;
    if (nodes_ > limits_.nodes) throw TreeError{at, format("more than {} values", limits_.nodes)};
  }

  void check_depth(std::size_t more, int at) const {
    if (open_.size() + more > limits_.depth) {
      throw TreeError{at, format("nested more than {} deep", limits_.depth)};
    }
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    // YAML 1.1: the map's own keys take precedence over those from <<.
    for (const auto& [key, source] : done.sources) {
      if (source.is_list()) {
        for (const Node& item : source.items) merge_from(done.node, item, key.line);
      } else {
        merge_from(done.node, source, key.line);
      }
    }
    add(std::move(done.node), done.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    spend(1, node.line);
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.is_list()) {
      open_.back().node.items.push_back(std::move(node));
    } else if (!open_.back().key) {
      if (!node.is_scalar() && !node.is_null()) {
        throw TreeError{node.line, "a key must be text"};
      }
      // Only a plain << merges; in quotes it is a key like any other.
      open_.back().merges = node.text == "<<" && !node.quoted;
      open_.back().key = Key{node.text, node.line};
    } else {
      Open& map = open_.back();
      Key key = *std::exchange(map.key, std::nullopt);
      if (map.merges) {
        map.sources.emplace_back(std::move(key), std::move(node));
      } else {
        add_member(map.node, std::move(key), std::move(node));
      }
    }
  }

  void add_member(Node& map, Key key, Node value) const {
    if (map.members.size() == limits_.keys) {
      throw TreeError{key.line, format("more than {} keys in one map", limits_.keys)};
    }
    for (auto& [other, before] : map.members) {
      if (other.name != key.name) continue;
      if (!limits_.keys_once) {
        before = std::move(value);
        return;
      }
      throw TreeError{key.line,
                      format("'{}' is given twice; the first is on line {}", key.name, other.line)};
    }
    map.members.emplace_back(std::move(key), std::move(value));
  }

  const Limits& limits_;
  Node root_{};
  std::vector<Open> open_{};
  std::map<YAML::anchor_t, Node> anchors_{};
  std::size_t nodes_ = 0;
};

bool is_true(std::string_view text) {
  const std::string word = lower(text);
  return word == "true" || word == "yes" || word == "on";
}
bool is_false(std::string_view text) {
  const std::string word = lower(text);
  return word == "false" || word == "no" || word == "off";
}

// A number in JSON's spelling; null if it is none.
Json yaml_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos) {
    return {};
  }
  if (const auto whole = parse_int(text)) return Json(*whole);
  if (const auto whole = parse_uint(text)) return Json(*whole);
  if (const auto real = parse_double(text)) return Json(*real);
  return {};
}

// Whether `text`, written plain, is read as the same text by every YAML reader.
bool plain_is_safe(std::string_view text) {
  if (text.empty() || looks_null(text) || is_true(text) || is_false(text)) return false;
  // Dates, base-60 numbers, hex: some readers take any text that begins as a number for one.
  if ((text[0] >= '0' && text[0] <= '9') || text[0] == '.' || text[0] == '+') return false;
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`=<";
  constexpr std::string_view kHidden = "<redacted>";  // as the reference client writes it
  if (kIndicators.find(text[0]) != std::string_view::npos && text != kHidden) return false;
  if (text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (text == "y" || text == "n" || text == "Y" || text == "N") return false;
  for (const std::string_view sign : {": ", " #"}) {
    if (text.find(sign) != std::string_view::npos) return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

struct Break {
  std::string_view bytes{};
  std::string_view escape{};
};
// Line ends in YAML 1.1, and the byte order mark.
constexpr std::array<Break, 4> kBreaks{{{"\xC2\x85", "\\u0085"},
                                        {"\xE2\x80\xA8", "\\u2028"},
                                        {"\xE2\x80\xA9", "\\u2029"},
                                        {"\xEF\xBB\xBF", "\\ufeff"}}};

bool has_break(std::string_view text) {
  return std::any_of(kBreaks.begin(), kBreaks.end(), [&](const Break& line_end) {
    return text.find(line_end.bytes) != std::string_view::npos;
  });
}

// JSON's quotes and escapes are valid YAML.
std::string double_quoted(std::string_view text) {
  std::string out = json_quote(text);
  for (const Break& line_end : kBreaks) {
    for (std::size_t at = 0; (at = out.find(line_end.bytes, at)) != std::string::npos;) {
      out.replace(at, line_end.bytes.size(), line_end.escape);
    }
  }
  return out;
}

std::string yaml_text(std::string_view text) {
  if (plain_is_safe(text) && !has_break(text)) return std::string(text);
  const bool control = std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control || has_break(text) || !valid_utf8(text)) return double_quoted(text);
  std::string out = "'";
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

std::string yaml_scalar(const Json& json) {
  if (json.is_string()) return yaml_text(json.as_string());
  if (json.is_array()) return "[]";
  if (json.is_object()) return "{}";
  std::string text = json.dump();
  // A float needs a point in YAML 1.1: 1e+16 would be text.
  const std::size_t exponent = text.find('e');
  if (json.is_number() && exponent != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

bool is_block(const Json& json) { return (json.is_array() || json.is_object()) && json.size() > 0; }

void write_block(std::string& out, const Json& json, std::size_t indent, bool in_list) {
  const std::string margin(indent, ' ');
  bool first = in_list;  // the first line continues behind "- "
  if (json.is_array()) {
    for (const Json& item : json.items()) {
      if (!first) out += margin;
      first = false;
      out += "- ";
      if (is_block(item)) {
        write_block(out, item, indent + 2, true);
      } else {
        out += yaml_scalar(item) + "\n";
      }
    }
    return;
  }
  for (const auto& [name, value] : json.members()) {
    if (!first) out += margin;
    first = false;
    out += yaml_text(name) + ":";
    if (!is_block(value)) {
      out += " " + yaml_scalar(value) + "\n";
      continue;
    }
    out += "\n";
    // A list under a key is not indented further, as in PyYAML.
    write_block(out, value, indent + (value.is_array() ? 0 : 2), false);
  }
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name.name == key) return &value;
  }
  return nullptr;
}

Node Node::scalar(std::string text, int line) {
  return Node{.kind = Kind::scalar, .text = std::move(text), .quoted = true, .line = line};
}

Node Node::from_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return scalar(std::string(json.as_string()));
  Node node;
  if (json.is_array()) {
    node.kind = Kind::list;
    for (const Json& item : json.items()) node.items.push_back(from_json(item));
  } else if (json.is_object()) {
    node.kind = Kind::map;
    for (const auto& [name, value] : json.members()) {
      node.members.emplace_back(Key{name}, from_json(value));
    }
  } else {
    node.kind = Kind::scalar;
    node.text = json.dump();
  }
  return node;
}

Json Node::to_json() const {
  switch (kind) {
    case Kind::null:
      return {};
    case Kind::list: {
      Json out = Json::array();
      for (const Node& item : items) out.push_back(item.to_json());
      return out;
    }
    case Kind::map: {
      Json out = Json::object();
      for (const auto& [key, value] : members) out.set(key.name, value.to_json());
      return out;
    }
    case Kind::scalar:
      break;
  }
  if (quoted) return Json(text);
  if (is_true(text)) return Json(true);
  if (is_false(text)) return Json(false);
  Json value = yaml_number(text);
  return value.is_null() ? Json(text) : value;
}

std::string_view Node::kind_name() const {
  switch (kind) {
    case Kind::null:
      return "nothing";
    case Kind::scalar:
      return "text";
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a map";
  }
  return "";
}

Result<Node> parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.bytes) return invalid(format("1: larger than {} bytes", limits.bytes));
  if (!valid_utf8(text)) return invalid("1: not valid UTF-8");
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder(limits);
    if (!parser.HandleNextDocument(builder)) return Node{};
    TreeBuilder rest(limits);
    if (parser.HandleNextDocument(rest)) return invalid("1: more than one YAML document");
    return builder.take();
  } catch (const TreeError& error) {
    return invalid(format("{}: {}", error.line, error.what));
  } catch (const YAML::Exception& error) {
    return invalid(format("{}: not valid YAML: {}", error.mark.line + 1, error.msg));
  } catch (const std::bad_alloc&) {
    throw;  // not an error of the input
  } catch (const std::exception& error) {
    return invalid(format("1: not valid YAML: {}", error.what()));
  }
}

std::string write(const Json& json) {
  if (!is_block(json)) return yaml_scalar(json) + "\n";
  std::string out;
  write_block(out, json, 0, false);
  return out;
}

}  // namespace assay::yaml
