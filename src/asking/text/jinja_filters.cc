#include <algorithm>
#include <array>
#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "text/jinja_builtins.h"
#include "text/jinja_methods.h"
#include "text/unicode.h"

namespace assay::text::jinja {
namespace {

// Follows "a.b.0", an attribute of an attribute.
Value path(const Value& value, const Value& by) {
  if (!by.is_string()) return item(value, by);
  Value now = value;
  for (const std::string_view part : split(by.string(), '.')) {
    const auto number = parse_int(part);
    now = number ? item(now, Value(*number)) : item(now, Value(std::string(part)));
  }
  return now;
}

// Ignores letter case if the filter asks for it.
Value sort_key(const Value& value, const Value& by, bool case_sensitive) {
  Value key = by.is_none() ? value : path(value, by);
  spend(key.copy_cost());
  if (!case_sensitive && key.is_string()) return lower_case(key.string());
  return key;
}

Value sorted(const Value& value, Call& call) {
  const bool reverse = call.argument(0, "reverse", false).truth();
  const bool cased = call.argument(1, "case_sensitive", false).truth();
  const Value by = call.argument(2, "attribute", {});
  List list = value.items();
  std::stable_sort(list.begin(), list.end(), [&](const Value& a, const Value& b) {
    const Value left = sort_key(a, by, cased);
    const Value right = sort_key(b, by, cased);
    return reverse ? right < left : left < right;
  });
  return list;
}

Value extreme(const Value& value, Call& call, bool largest) {
  const bool cased = call.argument(0, "case_sensitive", false).truth();
  const Value by = call.argument(1, "attribute", {});
  const List list = value.items();
  if (list.empty()) return Value::undefined("an item of an empty list");
  const auto less = [&](const Value& a, const Value& b) {
    return sort_key(a, by, cased) < sort_key(b, by, cased);
  };
  return largest ? *std::max_element(list.begin(), list.end(),
                                     [&](const Value& a, const Value& b) { return less(a, b); })
                 : *std::min_element(list.begin(), list.end(), less);
}

Value unique(const Value& value, Call& call) {
  const bool cased = call.argument(0, "case_sensitive", false).truth();
  const Value by = call.argument(1, "attribute", {});
  List out;
  List seen;
  for (const Value& one : value.items()) {
    Value key = sort_key(one, by, cased);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(std::move(key));
    out.push_back(one);
  }
  return Value::generator(std::move(out));
}

Value dict_sorted(const Value& value, Call& call) {
  if (!value.is_dict()) fail("dictsort: not a dict");
  const bool cased = call.argument(0, "case_sensitive", false).truth();
  const bool by_value = call.argument(1, "by", "key").string() == "value";
  const bool reverse = call.argument(2, "reverse", false).truth();
  spend(2 * copy_cost(value.dict()));
  Dict dict = value.dict();
  std::stable_sort(dict.begin(), dict.end(), [&](const auto& a, const auto& b) {
    const Value left = sort_key(by_value ? a.second : a.first.value(), {}, cased);
    const Value right = sort_key(by_value ? b.second : b.first.value(), {}, cased);
    return reverse ? right < left : left < right;
  });
  List out;
  for (auto& [key, one] : dict) out.push_back(Value::tuple({key.value(), std::move(one)}));
  return out;
}

Value map(Engine& engine, const Value& value, Call& call) {
  List out;
  const Value attribute = call.argument(~std::size_t{0}, "attribute", {});
  const Value otherwise = call.argument(~std::size_t{0}, "default", Value::undefined("default"));
  const std::uint64_t cost = copy_cost(call.positional) + copy_cost(call.named);
  for (const Value& one : value.items()) {
    spend(cost);
    if (!attribute.is_none()) {
      const Value got = path(one, attribute);
      out.push_back(got.is_undefined() ? otherwise : got);
      continue;
    }
    Call inner = call;
    const Value name = inner.required(0, "filter");
    inner.positional.erase(inner.positional.begin());
    out.push_back(engine.filter(name.string(), one, inner));
  }
  return Value::generator(std::move(out));
}

// select, reject, selectattr, rejectattr.
Value choose(Engine& engine, const Value& value, Call& call, bool by_attribute, bool keep) {
  List out;
  const std::uint64_t cost = copy_cost(call.positional) + copy_cost(call.named);
  for (const Value& one : value.items()) {
    spend(cost);
    Call inner = call;
    Value tested = one;
    if (by_attribute) {
      tested = path(one, inner.required(0, "attribute"));
      inner.positional.erase(inner.positional.begin());
    }
    bool good = tested.truth();
    if (!inner.positional.empty()) {
      const std::string name = inner.positional.front().string();
      inner.positional.erase(inner.positional.begin());
      good = engine.test(name, tested, inner);
    }
    if (good == keep) out.push_back(one);
  }
  return Value::generator(std::move(out));
}

Value join(const Value& value, Call& call) {
  const std::string between = call.argument(0, "d", "").text();
  const Value by = call.argument(1, "attribute", {});
  std::string out;
  bool first = true;
  for (const Value& one : value.items()) {
    if (!first) spend(between.size());
    if (!first) out += between;
    out += (by.is_none() ? one : path(one, by)).text();
    first = false;
  }
  return out;
}

Value indent(const Value& value, Call& call) {
  const Value width = call.argument(0, "width", std::int64_t{4});
  const bool first = call.argument(1, "first", false).truth();
  const bool blank = call.argument(2, "blank", false).truth();
  if (!width.is_string() && (width.integer() < 0 || width.integer() > 1000)) {
    fail("indent: the width must be 0 to 1000");
  }
  const std::string by = width.is_string()
                             ? width.string()
                             : std::string(static_cast<std::size_t>(width.integer()), ' ');
  std::string out;
  const std::string text = value.text();
  bool at_first = true;
  for (const std::string_view line : split(text, '\n')) {
    spend(by.size() + line.size() + 1);
    if (!at_first) out += '\n';
    if ((at_first ? first : blank || !line.empty())) out += by;
    out += line;
    at_first = false;
  }
  return value.is_markup() ? Value::markup(std::move(out)) : Value(std::move(out));
}

Value to_json(const Value& value, Call& call) {
  // The public libraries' own: tojson(ensure_ascii=False, indent=None, separators=None,
  // sort_keys=False).
  JsonStyle style;
  style.ascii = call.argument(0, "ensure_ascii", false).truth();
  const Value width = call.argument(1, "indent", {});
  const std::int64_t by = width.is_none() ? -1 : std::max<std::int64_t>(width.integer(), 0);
  if (by > 100) fail("tojson: the indent must be at most 100");
  style.indent = static_cast<int>(by);
  if (by >= 0) style.comma = ",";
  const Value separators = call.argument(2, "separators", {});
  if (!separators.is_none()) {
    const List parts = separators.items();
    if (parts.size() != 2) fail("tojson: separators are two texts");
    style.comma = parts[0].string();
    style.colon = parts[1].string();
  }
  style.sort_keys = call.argument(3, "sort_keys", false).truth();
  return value.json(style);
}

Value to_int(const Value& value, Call& call) {
  if (value.is_float()) {
    const double number = value.number();
    return std::abs(number) < 9e18 ? Value(static_cast<std::int64_t>(number)) : Value(number);
  }
  if (value.is_number()) return value.integer();
  const auto text = value.is_string() ? trim(value.string()) : std::string_view("x");
  if (const auto whole = parse_int(text)) return *whole;
  if (const auto real = parse_double(text); real && std::abs(*real) < 9e18) {
    return static_cast<std::int64_t>(*real);
  }
  return call.argument(0, "default", std::int64_t{0});
}

Value to_float(const Value& value, Call& call) {
  if (value.is_number()) return value.number();
  const auto real = parse_double(value.is_string() ? trim(value.string()) : "x");
  return real ? Value(*real) : call.argument(0, "default", 0.0);
}

Value rounded(const Value& value, Call& call) {
  const std::int64_t precision = call.argument(0, "precision", std::int64_t{0}).integer();
  const std::string method = call.argument(1, "method", "common").string();
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = value.number() * scale;
  if (method == "ceil") return std::ceil(scaled) / scale;
  if (method == "floor") return std::floor(scaled) / scale;
  return std::nearbyint(scaled) / scale;
}

Value sum(const Value& value, Call& call) {
  const Value by = call.argument(0, "attribute", {});
  Value total = call.argument(1, "start", std::int64_t{0});
  for (const Value& one : value.items()) {
    total = binary("+", total, by.is_none() ? one : path(one, by));
  }
  return total;
}

Value reversed(const Value& value) {
  List list = value.items();
  std::reverse(list.begin(), list.end());
  if (!value.is_string()) return Value::generator(std::move(list));
  std::string out;
  for (const Value& one : list) out += one.string();
  return value.is_markup() ? Value::markup(std::move(out)) : Value(std::move(out));
}

Value escape(const Value& value) { return Value::markup(value.escaped()); }

Value dict_items(const Value& value) {
  List out;
  if (value.is_undefined()) return out;
  if (!value.is_dict()) fail("items: not a dict");
  spend(2 * copy_cost(value.dict()));
  for (const auto& [key, one] : value.dict()) out.push_back(Value::tuple({key.value(), one}));
  return Value::generator(std::move(out));
}

Value on_text(std::string_view name, const Value& value, Call& call) {
  std::string text = value.text();
  const auto like = [&value](std::string made) {
    return value.is_markup() ? Value::markup(std::move(made)) : Value(std::move(made));
  };
  if (name == "trim") return like(strip(text, call.argument(0, "chars", {}), true, true));
  if (name == "upper") return like(upper_case(text));
  if (name == "lower") return like(lower_case(text));
  if (name == "capitalize") return like(capitalize(text));
  if (name == "title") return title(text, true);
  if (name == "replace") {
    return replace(text, call.required(0, "old").text(), call.required(1, "new").text(),
                   call.argument(2, "count", std::int64_t{-1}).is_none()
                       ? -1
                       : call.argument(2, "count", std::int64_t{-1}).integer());
  }
  return name == "safe" ? Value::markup(std::move(text)) : like(std::move(text));
}

Value first_or_last(const Value& value, bool first) {
  const List list = value.items();
  if (list.empty()) return Value::undefined(first ? "first item" : "last item");
  return first ? list.front() : list.back();
}

constexpr std::array<std::string_view, 8> kOnText = {"trim",  "upper",   "lower",  "capitalize",
                                                     "title", "replace", "string", "safe"};

}  // namespace

Value apply_filter(Engine& engine, std::string_view name, const Value& value, Call& call) {
  // Every filter reads all of this at least once.
  spend(value.is_list() ? copy_cost(value.list()) : value.copy_cost());
  if (std::find(kOnText.begin(), kOnText.end(), name) != kOnText.end()) {
    return on_text(name, value, call);
  }
  if (name == "default" || name == "d") {
    const bool falsy = call.argument(1, "boolean", false).truth() && !value.truth();
    return value.is_undefined() || falsy ? call.argument(0, "default_value", "") : value;
  }
  if (name == "tojson") return to_json(value, call);
  if (name == "length" || name == "count") return static_cast<std::int64_t>(value.length());
  if (name == "join") return join(value, call);
  if (name == "first" || name == "last") return first_or_last(value, name == "first");
  if (name == "list") return value.items();
  if (name == "items") return dict_items(value);
  // As there, whatever is false holds nothing to choose from, none and 0 among it.
  const bool chosen = name == "map" || name.starts_with("select") || name.starts_with("reject");
  if (chosen && !value.truth()) return Value::generator({});
  if (name == "map") return map(engine, value, call);
  if (name == "select") return choose(engine, value, call, false, true);
  if (name == "reject") return choose(engine, value, call, false, false);
  if (name == "selectattr") return choose(engine, value, call, true, true);
  if (name == "rejectattr") return choose(engine, value, call, true, false);
  if (name == "indent") return indent(value, call);
  if (name == "int") return to_int(value, call);
  if (name == "float") return to_float(value, call);
  if (name == "round") return rounded(value, call);
  if (name == "abs") {
    return value.is_float() ? Value(std::abs(value.number()))
                            : Value(value.integer() < 0 ? -value.integer() : value.integer());
  }
  if (name == "sort") return sorted(value, call);
  if (name == "unique") return unique(value, call);
  if (name == "dictsort") return dict_sorted(value, call);
  if (name == "min" || name == "max") return extreme(value, call, name == "max");
  if (name == "sum") return sum(value, call);
  if (name == "reverse") return reversed(value);
  if (name == "escape" || name == "e") return escape(value);
  if (name == "attr") return attribute(value, call.required(0, "name").string());
  fail(format("no filter named '{}'", name));
}

}  // namespace assay::text::jinja
