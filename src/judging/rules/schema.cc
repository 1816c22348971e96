#include "rules/schema.h"

#include <cmath>

#include "base/format.h"
#include "base/text.h"
#include "rules/document.h"

namespace assay::rules {
namespace {

bool fits(const Json& value, Shape shape) {
  switch (shape) {
    case Shape::any:
      return true;
    case Shape::text:
      return value.is_string();
    case Shape::integer:
      return value.is_number() && std::trunc(value.as_double()) == value.as_double();
    case Shape::seed:
      return value.is_integer() && (value.as_uint(0) != 0 || value.as_int(-1) == 0);
    case Shape::digits:
      return value.is_integer() || (value.is_string() && parse_uint(value.as_string()));
    case Shape::number:
      return value.is_number() && std::isfinite(value.as_double());
    case Shape::boolean:
      return value.is_bool();
    case Shape::on_off:
      return value.is_bool() || value.is_integer();
    case Shape::list:
      return value.is_array();
    case Shape::map:
      return value.is_object();
    case Shape::text_or_map:
      return value.is_string() || value.is_object();
    case Shape::text_or_number:
      return value.is_string() || value.is_number();
  }
  return false;
}

std::string_view name_of(Shape shape) {
  switch (shape) {
    case Shape::any:
      return "a value";
    case Shape::text:
      return "text";
    case Shape::integer:
      return "an integer";
    case Shape::seed:
      return "an unsigned 64-bit integer";
    case Shape::digits:
      return "an integer";
    case Shape::number:
      return "a number";
    case Shape::boolean:
      return "true or false";
    case Shape::on_off:
      return "true, false or an integer";
    case Shape::list:
      return "a list";
    case Shape::map:
      return "a map";
    case Shape::text_or_map:
      return "text or a map";
    case Shape::text_or_number:
      return "text or a number";
  }
  return "";
}

}  // namespace

void check_fields(const Json& json, std::string_view base, std::span<const Field> fields,
                  std::vector<Issue>& issues) {
  for (const Field& field : fields) {
    const std::string pointer = std::string(base) + std::string(field.pointer);
    const Json* value = find(json, field.pointer);
    if (value == nullptr || value->is_null()) {
      if (field.required) {
        issues.push_back({pointer, format("{} is missing", spoken(field.pointer)),
                          format("{}", name_of(field.shape))});
      }
      continue;
    }
    if (!fits(*value, field.shape)) {
      issues.push_back({pointer, format("{} is {}", spoken(field.pointer), said(*value)),
                        format("{}", name_of(field.shape))});
      continue;
    }
    const double number = value->is_number() ? value->as_double() : field.min;
    if (number < field.min || number > field.max) {
      issues.push_back({pointer, format("{} is {}", spoken(field.pointer), said(*value)),
                        std::isinf(field.max) ? format("{} or more", field.min)
                                              : format("{} to {}", field.min, field.max)});
    }
  }
}

}  // namespace assay::rules
