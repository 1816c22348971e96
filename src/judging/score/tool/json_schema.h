// Whether a JSON value is what a JSON Schema asks for: the part of draft 2020-12 that servers take
// for structured output and tools have for their arguments. Types, enum and const, limits of
// numbers, texts, lists and objects, pattern, properties, items, prefixItems, contains,
// uniqueItems, dependentRequired, propertyNames, if/then/else, allOf, anyOf, oneOf, not, and $ref
// into the same document ("#/$defs/Name", "#"). `format` and unknown words assert nothing, as the
// draft has it. Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace assay::score {

// 1 and 1.0 are equal, and members may stand in any order.
bool equal_json(const Json& a, const Json& b);

// "" where it is; else what is wrong first, with its place: "/size: 300 is above 255". An error:
// the schema itself cannot be used.
Result<std::string> schema_fault(const Json& value, const Json& schema);

}  // namespace assay::score
