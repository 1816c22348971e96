// Values of a template: Python's None, bool, int, float, str, list, dict and callables, as Jinja
// sees them. Lists and dicts are shared by reference, as in Python. Templates cannot change them,
// except namespaces (the public libraries render in a sandbox that forbids it). A container is at
// most kDepthMax deep and holds neither namespaces nor functions. So there are no cycles, and
// walking or freeing a value needs a bounded stack. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"

namespace assay::text::jinja {

class Value;
struct Call;

// A dict's key: text, or another value that Python can hash (a number, a bool, None, a tuple).
class Key {
 public:
  Key(std::string text) : text_(std::move(text)) {}
  Key(const char* text) : text_(text) {}
  // Fails if Python cannot hash the value.
  static Key of(const Value& value);

  bool is_text() const { return other_ == nullptr; }
  // "" when it is another value.
  const std::string& text() const { return text_; }
  Value value() const;
  bool is(const Value& value) const;
  bool operator==(std::string_view text) const { return is_text() && text_ == text; }
  std::size_t size() const { return text_.size(); }  // bytes, for a budget

 private:
  std::string text_{};
  std::shared_ptr<const Value> other_{};
};

using List = std::vector<Value>;
using Dict = std::vector<std::pair<Key, Value>>;
using Function = std::function<Value(Call&)>;

// The engine throws and catches it internally; `line` is filled in if known.
struct Fault {
  std::string message{};
  int line = 0;
};
[[noreturn]] void fail(std::string message);

// How tojson writes; the defaults are the public libraries'.
struct JsonStyle {
  int indent = -1;  // < 0: on one line
  bool sort_keys = false;
  bool ascii = false;  // other characters as escapes of UTF-16
  std::string comma = ", ";
  std::string colon = ": ";
};

// The bytes that a rendering may still make, copy and read: one filter can cost far more than a
// million steps. While a Budget lives, `spend` counts against it on this thread.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

 private:
  friend void spend(std::uint64_t bytes);
  std::uint64_t bytes_;
  std::uint64_t left_;
  Budget* outer_;
};
// Fails when the budget is used up. Without a budget nothing is counted.
void spend(std::uint64_t bytes);

class Value {
 public:
  // Cost of a visit to a value or a copy of it, without its text.
  static constexpr std::uint64_t kCost = 64;
  static constexpr std::uint16_t kDepthMax = 200;

  struct Undefined {
    std::string name{};
  };
  struct Namespace {
    std::shared_ptr<Dict> members{};  // shared: every name for it sees a change
  };

  Value() = default;  // None
  static Value undefined(std::string name) {
    Value value;
    value.data_ = Undefined{std::move(name)};
    return value;
  }
  static Value of_json(const Json& json);
  // A whole number beyond 64 bits: arithmetic uses the nearest double, printing the original
  // digits.
  static Value wide(double near, std::string_view digits) {
    Value value(near);
    value.digits_ = std::make_shared<const std::string>(digits);
    return value;
  }
  static Value name_space(Dict members);
  Value(bool value) : data_(value) {}
  Value(std::int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(List value) : depth_(depth_of(value)), data_(std::make_shared<List>(std::move(value))) {}
  Value(Dict value) : depth_(depth_of(value)), data_(std::make_shared<Dict>(std::move(value))) {}
  static Value tuple(List items) {
    Value value(std::move(items));
    value.tuple_ = true;
    return value;
  }
  // What Python makes item by item: it can be looped over once it is made, but has no length, no
  // items by place and no JSON, and counts as true even when it is empty.
  static Value generator(List items) {
    Value value(std::move(items));
    value.generator_ = true;
    return value;
  }
  // Text that needs no escaping: what is joined to it is escaped (markupsafe's Markup).
  static Value markup(std::string text) {
    Value value(std::move(text));
    value.markup_ = true;
    return value;
  }
  // The engine's own dict (`loop`); it may hold functions that hold no values.
  static Value facts(Dict members);
  // Fails if a list, a dict or a namespace may not hold `value`.
  static void check_member(const Value& value);
  Value(Function value) : data_(std::make_shared<Function>(std::move(value))) {}

  bool is_tuple() const { return tuple_; }
  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_bool() const { return std::holds_alternative<bool>(data_); }
  bool is_int() const { return std::holds_alternative<std::int64_t>(data_); }
  bool is_float() const { return std::holds_alternative<double>(data_); }
  bool is_wide() const { return digits_ != nullptr; }  // a float for a whole number
  bool is_number() const { return is_bool() || is_int() || is_float(); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_markup() const { return markup_; }
  bool is_generator() const { return generator_; }
  bool is_list() const { return std::holds_alternative<std::shared_ptr<List>>(data_); }
  bool is_dict() const { return std::holds_alternative<std::shared_ptr<Dict>>(data_); }
  bool is_namespace() const { return std::holds_alternative<Namespace>(data_); }
  bool is_function() const { return std::holds_alternative<std::shared_ptr<Function>>(data_); }

  // Fails for any other kind.
  const std::string& string() const {
    if (!is_string()) wrong_kind("a string");
    return std::get<std::string>(data_);
  }
  const List& list() const {
    if (!is_list()) wrong_kind("a list");
    return *std::get<std::shared_ptr<List>>(data_);
  }
  const Dict& dict() const {
    if (!is_dict()) wrong_kind("a dict");
    return *std::get<std::shared_ptr<Dict>>(data_);
  }
  // REQUIRES: the value is a namespace.
  Dict& members() const { return *std::get<Namespace>(data_).members; }
  const Function& function() const { return *std::get<std::shared_ptr<Function>>(data_); }
  const std::string& name() const { return std::get<Undefined>(data_).name; }

  bool truth() const;
  std::int64_t integer() const;  // bool and int; fails otherwise
  double number() const;         // bool, int and float; fails otherwise
  std::string type_name() const;
  const Value* find(std::string_view key) const;  // dict and namespace
  const Value* find_key(const Value& key) const;  // dict

  // The text that {{ }} prints; "" when undefined.
  std::string text() const;
  // The result of Python's repr.
  std::string repr() const;
  // The text with its markup escaped, unless it needs none.
  std::string escaped() const;
  // The result of json.dumps.
  std::string json(const JsonStyle& style, int depth = 0) const;

  bool operator==(const Value& other) const;
  // Fails if the two have no order.
  bool operator<(const Value& other) const;

  // The items for a loop: of a list, a dict (its keys), a string (its characters).
  List items() const;
  // A copy's cost for a budget: strings are copied, containers are shared.
  std::uint64_t copy_cost() const { return kCost + (is_string() ? string().size() : 0); }
  // A string's length is in characters. Fails if the value has no length.
  std::size_t length() const;

 private:
  [[noreturn]] void wrong_kind(const char* wanted) const;
  static std::uint16_t depth_of(const List& list);
  static std::uint16_t depth_of(const Dict& dict);

  std::uint16_t depth_ = 0;  // of nested lists and dicts
  bool tuple_ = false;       // printed as a Python tuple; equals no list
  bool generator_ = false;
  bool markup_ = false;
  std::variant<std::monostate, Undefined, bool, std::int64_t, double, std::string,
               std::shared_ptr<List>, std::shared_ptr<Dict>, std::shared_ptr<Function>, Namespace>
      data_{};
  std::shared_ptr<const std::string> digits_{};  // of wide()
};

// The arguments of a call.
struct Call {
  List positional{};
  Dict named{};

  // Finds it by place or by name; `fallback` when it is not given.
  Value argument(std::size_t place, std::string_view name, Value fallback) const;
  // Fails when it is not given.
  Value required(std::size_t place, std::string_view name) const;
};

std::uint64_t copy_cost(const List& list);
std::uint64_t copy_cost(const Dict& dict);

// Returns the string's characters, that is, its code points.
std::vector<std::string> characters(std::string_view text);

}  // namespace assay::text::jinja
