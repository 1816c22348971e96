// Filters, tests, methods of strings and dicts, and global functions for templates. Names and
// results are Jinja2's and Python's. Throws Fault.
#pragma once

#include <string_view>

#include "text/jinja_value.h"

namespace assay::text::jinja {

// Called by filters and tests that take the name of another filter or test (map, select …).
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Value filter(std::string_view name, const Value& value, Call& call) = 0;
  virtual bool test(std::string_view name, const Value& value, Call& call) = 0;
};

Value apply_filter(Engine& engine, std::string_view name, const Value& value, Call& call);
bool apply_test(std::string_view name, const Value& value, Call& call);
// Evaluates value.name as Jinja does: a dict's key or method, a string's method; else undefined.
Value attribute(const Value& value, std::string_view name);
// Evaluates value[key].
Value item(const Value& value, const Value& key);
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);
Value binary(std::string_view op, const Value& left, const Value& right);
bool contains(const Value& container, const Value& value);
Value make_range(Call& call);

}  // namespace assay::text::jinja
