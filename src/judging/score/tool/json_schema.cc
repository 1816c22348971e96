#include "score/tool/json_schema.h"

#include <algorithm>
#include <cmath>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "text/regex.h"

namespace assay::score {
namespace {

constexpr int kSchemaDepthMax = 64;                   // of values and of schemas within each other
constexpr std::uint64_t kSchemaStepsMax = 1U << 20U;  // schemas that are asked for one value

bool is_whole_number(const Json& value) {
  return value.is_number() && (value.is_integer() || !value.wide_digits().empty() ||
                               std::floor(value.as_double()) == value.as_double());
}

bool same_json(const Json& a, const Json& b, int depth = 0) {
  if (depth > kSchemaDepthMax) return false;
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer()) return a == b;
    return a.as_double() == b.as_double();
  }
  if (a.is_array() && b.is_array()) {
    return std::ranges::equal(a.items(), b.items(), [depth](const Json& x, const Json& y) {
      return same_json(x, y, depth + 1);
    });
  }
  if (a.is_object() && b.is_object()) {
    return a.size() == b.size() && std::ranges::all_of(a.members(), [&](const Json::Member& one) {
             const Json* const other = b.find(one.first);
             return other != nullptr && same_json(one.second, *other, depth + 1);
           });
  }
  return a == b;
}

std::string shown_json(const Json& value) {
  constexpr std::size_t kMost = 60;
  std::string out = value.dump();
  if (out.size() > kMost) out = out.substr(0, kMost) + "…";
  return printable(out);
}

bool is_type(const Json& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "integer") return is_whole_number(value);
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  return type == "object" && value.is_object();
}

bool known_type(std::string_view type) {
  constexpr std::string_view kTypes[] = {"string", "integer", "number", "boolean",
                                         "null",   "array",   "object"};
  return std::ranges::find(kTypes, type) != std::end(kTypes);
}

class SchemaChecker {
 public:
  explicit SchemaChecker(const Json& root) : root_(root) {}

  // "" or the fault.
  Result<std::string> check(const Json& value, const Json& schema, const std::string& at,
                            int depth) {
    if (depth > kSchemaDepthMax || ++steps_ > kSchemaStepsMax) {
      return invalid(
          format("schema: more than {} deep, or it asks for itself without end", kSchemaDepthMax));
    }
    if (schema.is_bool())
      return schema.as_bool() ? std::string() : fault(at, "nothing may be here");
    if (!schema.is_object()) return invalid("schema: must be an object, true or false");
    using Step =
        Result<std::string> (SchemaChecker::*)(const Json&, const Json&, const std::string&, int);
    constexpr Step kAll[] = {
        &SchemaChecker::of_type, &SchemaChecker::of_number,  &SchemaChecker::of_text,
        &SchemaChecker::of_list, &SchemaChecker::of_object,  &SchemaChecker::of_names,
        &SchemaChecker::of_ref,  &SchemaChecker::of_several, &SchemaChecker::of_condition};
    for (const Step step : kAll) {
      ASSIGN_OR_RETURN(std::string wrong, (this->*step)(value, schema, at, depth));
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  }

 private:
  static std::string fault(const std::string& at, std::string_view what) {
    return format("{}: {}", at.empty() ? "the value" : at, what);
  }

  Result<bool> fits(const Json& value, const Json& schema, const std::string& at, int depth) {
    ASSIGN_OR_RETURN(const std::string wrong, check(value, schema, at, depth + 1));
    return wrong.empty();
  }

  Result<std::string> of_type(const Json& value, const Json& schema, const std::string& at, int) {
    const Json& type = schema["type"];
    const auto is_one = [&value](const Json& one) { return is_type(value, one.as_string()); };
    const auto is_known = [](const Json& one) { return known_type(one.as_string()); };
    if (type.is_string()) {
      if (!is_known(type)) return invalid(format("schema: type {}", shown_json(type)));
      if (!is_one(type)) {
        return fault(at, format("{} is not of type {}", shown_json(value), type.as_string()));
      }
    } else if (type.is_array()) {
      if (!std::ranges::all_of(type.items(), is_known)) {
        return invalid(format("schema: type {}", shown_json(type)));
      }
      if (std::ranges::none_of(type.items(), is_one)) {
        return fault(at, format("{} is none of {}", shown_json(value), shown_json(type)));
      }
    }
    const auto equal = [&value](const Json& one) { return same_json(value, one); };
    if (schema["enum"].is_array() && std::ranges::none_of(schema["enum"].items(), equal)) {
      return fault(at, format("{} is none of {}", shown_json(value), shown_json(schema["enum"])));
    }
    if (const Json* const only = schema.find("const");
        only != nullptr && !same_json(value, *only)) {
      return fault(at, format("{} is not {}", shown_json(value), shown_json(*only)));
    }
    return std::string();
  }

  Result<std::string> of_number(const Json& value, const Json& schema, const std::string& at, int) {
    if (!value.is_number()) return std::string();
    const double number = value.as_double();
    const auto beyond = [&](std::string_view key, auto wrong) {
      return schema[key].is_number() && wrong(number, schema[key].as_double());
    };
    if (beyond("minimum", std::less<>())) {
      return fault(at, format("{} is below {}", shown_json(value), schema["minimum"].dump()));
    }
    if (beyond("maximum", std::greater<>())) {
      return fault(at, format("{} is above {}", shown_json(value), schema["maximum"].dump()));
    }
    if (beyond("exclusiveMinimum", std::less_equal<>())) {
      return fault(
          at, format("{} is not above {}", shown_json(value), schema["exclusiveMinimum"].dump()));
    }
    if (beyond("exclusiveMaximum", std::greater_equal<>())) {
      return fault(
          at, format("{} is not below {}", shown_json(value), schema["exclusiveMaximum"].dump()));
    }
    if (const double step = schema["multipleOf"].as_double(); step > 0) {
      const double times = number / step;
      if (std::abs(times - std::round(times)) > 1e-9 * std::max(1.0, std::abs(times))) {
        return fault(at, format("{} is not a multiple of {}", shown_json(value),
                                schema["multipleOf"].dump()));
      }
    }
    return std::string();
  }

  // A limit of how many: minLength, maxItems, …
  static std::string count_fault(const Json& schema, std::string_view least, std::string_view most,
                                 std::size_t count, const std::string& at, std::string_view what) {
    if (schema[least].is_number() && static_cast<double>(count) < schema[least].as_double()) {
      return fault(at, format("{} {}, {} are the least", count, what, schema[least].dump()));
    }
    if (schema[most].is_number() && static_cast<double>(count) > schema[most].as_double()) {
      return fault(at, format("{} {}, {} are the most", count, what, schema[most].dump()));
    }
    return {};
  }

  Result<bool> matches(std::string_view text, std::string_view pattern) {
    ASSIGN_OR_RETURN(const text::Regex regex,
                     text::Regex::compile(pattern, text::RegexDialect::python));
    text::RegexStack stack;
    text::Regex::Match match;
    stack.begin(text.size());
    const bool found = regex.find(text, 0, stack, match);
    if (stack.exhausted) return invalid(format("schema: pattern {} takes too long", pattern));
    return found;
  }

  Result<std::string> of_text(const Json& value, const Json& schema, const std::string& at, int) {
    if (!value.is_string()) return std::string();
    std::string wrong = count_fault(schema, "minLength", "maxLength",
                                    character_count(value.as_string()), at, "characters");
    if (!wrong.empty() || !schema["pattern"].is_string()) return wrong;
    ASSIGN_OR_RETURN(const bool found, matches(value.as_string(), schema["pattern"].as_string()));
    if (found) return std::string();
    return fault(at,
                 format("{} does not match {}", shown_json(value), shown_json(schema["pattern"])));
  }

  Result<std::string> of_list(const Json& value, const Json& schema, const std::string& at,
                              int depth) {
    if (!value.is_array()) return std::string();
    std::string wrong = count_fault(schema, "minItems", "maxItems", value.size(), at, "items");
    if (!wrong.empty()) return wrong;
    const Json& first = schema["prefixItems"];
    const Json* const rest = schema.find("items");
    std::size_t contained = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const Json* const own = i < first.size() ? &first[i] : rest;
      const std::string here = format("{}/{}", at, i);
      if (own != nullptr) {
        ASSIGN_OR_RETURN(wrong, check(value[i], *own, here, depth + 1));
        if (!wrong.empty()) return wrong;
      }
      if (const Json* const one = schema.find("contains")) {
        ASSIGN_OR_RETURN(const bool is_one, fits(value[i], *one, here, depth));
        contained += is_one ? 1 : 0;
      }
      if (!schema["uniqueItems"].as_bool()) continue;
      for (std::size_t k = 0; k < i; ++k) {
        if (same_json(value[i], value[k])) return fault(here, format("the same as item {}", k));
      }
    }
    if (schema.find("contains") == nullptr) return std::string();
    const double least = schema["minContains"].as_double(1);
    const double most = schema["maxContains"].as_double(static_cast<double>(contained));
    if (static_cast<double>(contained) < least || static_cast<double>(contained) > most) {
      return fault(at, format("{} items are what it must contain", contained));
    }
    return std::string();
  }

  // A member's schemas: by its name, by patterns of names, else of all others.
  Result<std::string> of_member(const Json::Member& member, const Json& schema,
                                const std::string& at, int depth) {
    const auto& [name, value] = member;
    const std::string here = format("{}/{}", at, printable(name));
    bool known = false;
    if (const Json* const own = schema["properties"].find(name)) {
      known = true;
      ASSIGN_OR_RETURN(std::string wrong, check(value, *own, here, depth + 1));
      if (!wrong.empty()) return wrong;
    }
    for (const auto& [pattern, own] : schema["patternProperties"].members()) {
      ASSIGN_OR_RETURN(const bool applies, matches(name, pattern));
      if (!applies) continue;
      known = true;
      ASSIGN_OR_RETURN(std::string wrong, check(value, own, here, depth + 1));
      if (!wrong.empty()) return wrong;
    }
    const Json* const others = schema.find("additionalProperties");
    if (known || others == nullptr) return std::string();
    if (others->is_bool() && !others->as_bool()) return fault(here, "no member of this name");
    return check(value, *others, here, depth + 1);
  }

  Result<std::string> of_object(const Json& value, const Json& schema, const std::string& at,
                                int depth) {
    if (!value.is_object()) return std::string();
    std::string wrong =
        count_fault(schema, "minProperties", "maxProperties", value.size(), at, "members");
    if (!wrong.empty()) return wrong;
    for (const Json& name : schema["required"].items()) {
      if (value.find(name.as_string()) == nullptr) {
        return fault(at, format("no member {}", shown_json(name)));
      }
    }
    for (const Json::Member& member : value.members()) {
      ASSIGN_OR_RETURN(wrong, of_member(member, schema, at, depth));
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  }

  Result<std::string> of_names(const Json& value, const Json& schema, const std::string& at,
                               int depth) {
    if (!value.is_object()) return std::string();
    for (const auto& [name, others] : schema["dependentRequired"].members()) {
      if (value.find(name) == nullptr) continue;
      for (const Json& other : others.items()) {
        if (value.find(other.as_string()) != nullptr) continue;
        return fault(at, format("{} without {}", printable(name), shown_json(other)));
      }
    }
    const Json* const names = schema.find("propertyNames");
    if (names == nullptr) return std::string();
    for (const auto& [name, ignored] : value.members()) {
      ASSIGN_OR_RETURN(std::string wrong,
                       check(Json(name), *names, format("{}/{}", at, printable(name)), depth + 1));
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  }

  // "#", "#/$defs/Name": a JSON pointer into the document.
  Result<const Json*> referred(std::string_view ref) const {
    if (!ref.starts_with('#')) {
      return invalid(
          format("schema: $ref {}: only places in the same document ('#/…') are followed",
                 printable(ref)));
    }
    const Json* here = &root_;
    ref.remove_prefix(1);
    if (ref.empty()) return here;
    for (const std::string_view step : split(ref.substr(1), '/')) {
      std::string name;
      for (std::size_t i = 0; i < step.size(); ++i) {
        const bool escaped = step[i] == '~' && i + 1 < step.size();
        name += !escaped ? step[i] : step[++i] == '1' ? '/' : '~';
      }
      const auto index = parse_int(name);
      const bool in_list = here->is_array() && index && *index >= 0 &&
                           static_cast<std::size_t>(*index) < here->size();
      here = in_list ? &(*here)[static_cast<std::size_t>(*index)] : here->find(name);
      if (here == nullptr)
        return invalid(format("schema: $ref #{}: no such place", printable(ref)));
    }
    return here;
  }

  Result<std::string> of_ref(const Json& value, const Json& schema, const std::string& at,
                             int depth) {
    if (!schema["$ref"].is_string()) return std::string();
    ASSIGN_OR_RETURN(const Json* const other, referred(schema["$ref"].as_string()));
    return check(value, *other, at, depth + 1);
  }

  Result<std::string> of_several(const Json& value, const Json& schema, const std::string& at,
                                 int depth) {
    for (const Json& one : schema["allOf"].items()) {
      ASSIGN_OR_RETURN(std::string wrong, check(value, one, at, depth + 1));
      if (!wrong.empty()) return wrong;
    }
    for (const std::string_view key : {"anyOf", "oneOf"}) {
      if (!schema[key].is_array()) continue;
      std::size_t count = 0;
      for (const Json& one : schema[key].items()) {
        ASSIGN_OR_RETURN(const bool fit, fits(value, one, at, depth));
        count += fit ? 1 : 0;
      }
      if (count == 0 || (count > 1 && key == "oneOf")) {
        return fault(at, format("fits {} of the {} schemas of {}", count, schema[key].size(), key));
      }
    }
    if (const Json* const never = schema.find("not")) {
      ASSIGN_OR_RETURN(const bool fit, fits(value, *never, at, depth));
      if (fit) return fault(at, "fits what it must not be");
    }
    return std::string();
  }

  Result<std::string> of_condition(const Json& value, const Json& schema, const std::string& at,
                                   int depth) {
    const Json* const condition = schema.find("if");
    if (condition == nullptr) return std::string();
    ASSIGN_OR_RETURN(const bool fit, fits(value, *condition, at, depth));
    const Json* const then = schema.find(fit ? "then" : "else");
    return then == nullptr ? Result<std::string>(std::string())
                           : check(value, *then, at, depth + 1);
  }

  const Json& root_;
  std::uint64_t steps_ = 0;
};

}  // namespace

bool equal_json(const Json& a, const Json& b) { return same_json(a, b); }

Result<std::string> schema_fault(const Json& value, const Json& schema) {
  return SchemaChecker(schema).check(value, schema, "", 0);
}

}  // namespace assay::score
