// JSON-LD as Croissant files use it: keys with or without their prefix, values alone or in lists,
// texts plain or as objects. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::dataset::croissant {

// "cr:recordSet", "http://mlcommons.org/croissant/recordSet": recordSet.
std::string_view bare(std::string_view key);
// The member of that bare key, or a null value that lives for ever.
const Json& get(const Json& object, std::string_view name);
// A list's items, or the value alone; nothing of null.
std::vector<const Json*> list_of(const Json& value);
// A text, {"@value": text}, or {"@id": id}.
std::string text_of(const Json& value);
std::vector<std::string> texts_of(const Json& value);
// "@id", else "name".
std::string id_of(const Json& object);
bool is_type(const Json& object, std::string_view type);

}  // namespace assay::dataset::croissant
