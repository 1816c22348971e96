#include "text/jinja_builtins.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "text/jinja_methods.h"
#include "text/unicode.h"

namespace assay::text::jinja {
namespace {

constexpr std::size_t kBytesMax = std::size_t{64} << 20;
constexpr std::int64_t kRangeMax = 100'000;

// Applies Python's index rules: negative counts from the end. Returns -1 when out of range.
std::int64_t place(const Value& key, std::size_t size) {
  const auto n = static_cast<std::int64_t>(size);
  std::int64_t at = key.integer();
  if (at < 0) at += n;
  return at >= 0 && at < n ? at : -1;
}

Value power(const Value& left, const Value& right) {
  const bool whole = !left.is_float() && !right.is_float() && right.integer() >= 0;
  if (!whole) return std::pow(left.number(), right.number());
  const std::int64_t base = left.integer();
  if (base == -1) return std::int64_t{right.integer() % 2 == 0 ? 1 : -1};
  std::int64_t out = 1;
  for (std::int64_t i = right.integer(); i > 0; --i) {
    if (__builtin_mul_overflow(out, base, &out)) fail("a number is too large");
    if (base == 0 || base == 1) break;
  }
  return out;
}

Value divide(std::string_view op, const Value& left, const Value& right) {
  if (right.number() == 0) fail("division by zero");
  if (op == "/") return left.number() / right.number();
  if (left.is_float() || right.is_float()) {
    const double quotient = std::floor(left.number() / right.number());
    return op == "//" ? quotient : left.number() - quotient * right.number();
  }
  const std::int64_t a = left.integer();
  const std::int64_t b = right.integer();
  if (b == -1) {
    if (op == "%") return std::int64_t{0};
    std::int64_t out = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &out)) fail("a number is too large");
    return out;
  }
  const std::int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return op == "//" ? quotient : a - quotient * b;
}

// Text of the same kind as `like`.
Value text_like(const Value& like, std::string text) {
  return like.is_markup() ? Value::markup(std::move(text)) : Value(std::move(text));
}

Value repeat(const Value& what, std::int64_t times) {
  times = std::max<std::int64_t>(times, 0);
  const std::size_t size = what.is_string() ? what.string().size() : what.list().size() * 32;
  if (size > 0 && static_cast<std::size_t>(times) > kBytesMax / size) fail("a value is too large");
  spend(size * static_cast<std::size_t>(times));
  if (what.is_string()) {
    std::string out;
    for (; times > 0; --times) out += what.string();
    return text_like(what, std::move(out));
  }
  List out;
  for (; times > 0; --times) out.insert(out.end(), what.list().begin(), what.list().end());
  return out;
}

Value add(const Value& left, const Value& right) {
  if (left.is_string() && right.is_string()) {
    if (left.string().size() + right.string().size() > kBytesMax) fail("a value is too large");
    if (!left.is_markup() && !right.is_markup()) return left.string() + right.string();
    return Value::markup(left.escaped() + right.escaped());
  }
  const bool generator = left.is_generator() || right.is_generator();
  if (left.is_list() && right.is_list() && !generator) {
    spend(copy_cost(left.list()) + copy_cost(right.list()));
    List out = left.list();
    out.insert(out.end(), right.list().begin(), right.list().end());
    return out;
  }
  if (!left.is_number() || !right.is_number()) {
    fail(format("'+' is not for {} and {}", left.type_name(), right.type_name()));
  }
  if (left.is_float() || right.is_float()) return left.number() + right.number();
  std::int64_t out = 0;
  if (__builtin_add_overflow(left.integer(), right.integer(), &out)) fail("a number is too large");
  return out;
}

// Evaluates "%s …" % value, with the conversions that templates use.
Value percent(const Value& left, const Value& right) {
  const std::string& pattern = left.string();
  const List values = right.is_list() ? right.list() : List{right};
  std::string out;
  std::size_t used = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    const char kind = ++i < pattern.size() ? pattern[i] : '\0';
    if (kind == '%') {
      out += '%';
      continue;
    }
    if (used >= values.size()) fail("not enough values for the format");
    const Value& value = values[used++];
    spend(value.copy_cost());
    if (kind == 's') {
      out += left.is_markup() ? value.escaped() : value.text();
    } else if (kind == 'd') {
      out += std::to_string(value.is_float() ? static_cast<std::int64_t>(value.number())
                                             : value.integer());
    } else if (kind == 'r') {
      out += value.repr();
    } else {
      fail(format("the format '%{}' is not supported", kind));
    }
  }
  if (used < values.size()) fail("too many values for the format");
  return text_like(left, std::move(out));
}

// Returns the items to slice; the characters of a string are copied.
List sliced_items(const Value& value) {
  if (!value.is_string()) return value.items();
  spend(value.string().size() * 4);
  List out;
  for (std::string& one : characters(value.string())) out.emplace_back(std::move(one));
  return out;
}

}  // namespace

Value attribute(const Value& value, std::string_view name) {
  if (value.is_undefined()) fail(format("'{}' is undefined", value.name()));
  if (const Value method = method_of(value, name); !method.is_undefined()) return method;
  if (const Value* member = value.find(name)) return *member;
  return Value::undefined(std::string(name));
}

Value item(const Value& value, const Value& key) {
  if (value.is_undefined()) fail(format("'{}' is undefined", value.name()));
  if (key.is_string()) {
    if (const Value* member = value.find(key.string())) return *member;
    if (!value.is_list()) return attribute(value, key.string());
  } else if (value.is_dict()) {
    if (const Value* member = value.find_key(key)) return *member;
  } else if (value.is_list() && !value.is_generator() && !key.is_float() && key.is_number()) {
    const std::int64_t at = place(key, value.list().size());
    if (at >= 0) return value.list()[static_cast<std::size_t>(at)];
  } else if (value.is_string() && !key.is_float() && key.is_number()) {
    spend(value.string().size() * 4);
    const auto chars = characters(value.string());
    const std::int64_t at = place(key, chars.size());
    if (at >= 0) return text_like(value, chars[static_cast<std::size_t>(at)]);
  }
  return Value::undefined(key.text());
}

Value slice(const Value& value, const Value& begin, const Value& end, const Value& step) {
  if (value.is_undefined()) fail(format("'{}' is undefined", value.name()));
  if (!value.is_string() && !value.is_list()) {
    fail(format("{} cannot be sliced", value.type_name()));
  }
  if (value.is_generator()) return Value::undefined("a slice of a generator");
  const List items = sliced_items(value);
  const auto n = static_cast<std::int64_t>(items.size());
  const std::int64_t by = step.is_none() ? 1 : step.integer();
  if (by == 0) fail("a slice's step is 0");
  const auto bound = [&](const Value& given, std::int64_t otherwise) {
    if (given.is_none()) return otherwise;
    std::int64_t at = given.integer();
    if (at < 0) at = at < -n ? -1 - n : at + n;
    return by > 0 ? std::clamp<std::int64_t>(at, 0, n) : std::clamp<std::int64_t>(at, -1, n - 1);
  };
  const std::int64_t from = bound(begin, by > 0 ? 0 : n - 1);
  const std::int64_t to = bound(end, by > 0 ? n : -1);
  List out;
  for (std::int64_t i = from; by > 0 ? i < to : i > to;) {
    out.push_back(items[static_cast<std::size_t>(i)]);
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  if (value.is_list()) return out;
  std::string text;
  for (const Value& one : out) text += one.string();
  return text_like(value, std::move(text));
}

Value binary(std::string_view op, const Value& left, const Value& right) {
  if (op == "~") {
    const std::string text = left.text() + right.text();
    if (text.size() > kBytesMax) fail("a value is too large");
    return text;
  }
  if (left.is_undefined()) fail(format("'{}' is undefined", left.name()));
  if (right.is_undefined()) fail(format("'{}' is undefined", right.name()));
  if (op == "+") return add(left, right);
  if (op == "%" && left.is_string()) return percent(left, right);
  if (op == "*") {
    const auto sequence = [](const Value& v) {
      return v.is_string() || (v.is_list() && !v.is_generator());
    };
    if (sequence(left) && !right.is_float()) return repeat(left, right.integer());
    if (sequence(right) && !left.is_float()) return repeat(right, left.integer());
  }
  if (!left.is_number() || !right.is_number()) {
    fail(format("'{}' is not for {} and {}", op, left.type_name(), right.type_name()));
  }
  if (op == "/" || op == "//" || op == "%") return divide(op, left, right);
  if (op == "**") return power(left, right);
  if (left.is_float() || right.is_float()) {
    return op == "-" ? left.number() - right.number() : left.number() * right.number();
  }
  std::int64_t out = 0;
  const bool over = op == "-" ? __builtin_sub_overflow(left.integer(), right.integer(), &out)
                              : __builtin_mul_overflow(left.integer(), right.integer(), &out);
  if (over) fail("a number is too large");
  return out;
}

bool contains(const Value& container, const Value& value) {
  if (container.is_string()) {
    if (!value.is_string()) fail("'in <string>' needs a string on its left");
    return find_text(container.string(), value.string(), 0) != std::string::npos;
  }
  if (container.is_dict()) {
    if (value.is_undefined()) return false;
    static_cast<void>(Key::of(value));  // fails where Python does
    return container.find_key(value) != nullptr;
  }
  if (container.is_list()) {
    const List& list = container.list();
    return std::find(list.begin(), list.end(), value) != list.end();
  }
  if (container.is_undefined()) return false;
  fail(format("'in' is not for {}", container.type_name()));
}

Value make_range(Call& call) {
  if (call.positional.empty() || call.positional.size() > 3) fail("range takes 1 to 3 numbers");
  const bool one = call.positional.size() == 1;
  const std::int64_t from = one ? 0 : call.positional[0].integer();
  const std::int64_t to = call.positional[one ? 0 : 1].integer();
  const std::int64_t by = call.positional.size() == 3 ? call.positional[2].integer() : 1;
  if (by == 0) fail("range's step is 0");
  List out;
  for (std::int64_t i = from; by > 0 ? i < to : i > to;) {
    if (static_cast<std::int64_t>(out.size()) >= kRangeMax) {
      fail(format("range has more than {} members", kRangeMax));
    }
    spend(Value::kCost);
    out.emplace_back(i);
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  return out;
}

bool apply_test(std::string_view name, const Value& value, Call& call) {
  const auto other = [&call]() -> Value { return call.required(0, "other"); };
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.is_string();
  if (name == "mapping") return value.is_dict();
  if (name == "iterable") {
    return value.is_string() || value.is_list() || value.is_dict() || value.is_undefined();
  }
  if (name == "sequence" && value.is_generator()) return false;
  if (name == "sequence") {
    return value.is_string() || value.is_list() || value.is_dict() || value.is_undefined();
  }
  if (name == "number") return value.is_number();
  if (name == "integer") return value.is_int() || value.is_wide();
  if (name == "float") return value.is_float() && !value.is_wide();
  if (name == "boolean") return value.is_bool();
  if (name == "true") return value.is_bool() && value.truth();
  if (name == "false") return value.is_bool() && !value.truth();
  if (name == "callable") return value.is_function();
  if (name == "odd") return value.integer() % 2 != 0;
  if (name == "even") return value.integer() % 2 == 0;
  if (name == "divisibleby") return divide("%", value, other()) == Value(std::int64_t{0});
  if (name == "eq" || name == "equalto" || name == "==") return value == other();
  if (name == "ne" || name == "!=") return !(value == other());
  if (name == "lt" || name == "lessthan" || name == "<") return value < other();
  if (name == "gt" || name == "greaterthan" || name == ">") return other() < value;
  if (name == "le" || name == "<=") return !(other() < value);
  if (name == "ge" || name == ">=") return !(value < other());
  if (name == "in") return contains(other(), value);
  if (name == "sameas") return value == other() && value.type_name() == other().type_name();
  if (name == "lower") return value.text() == lower_case(value.text());
  if (name == "upper") return value.text() == upper_case(value.text());
  fail(format("no test named '{}'", name));
}

}  // namespace assay::text::jinja
