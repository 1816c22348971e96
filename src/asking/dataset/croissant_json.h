// JSON-LD in the form of Croissant files: keys with or without their prefix, single values or
// lists, texts plain or as objects. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay::dataset::croissant {

// Removes the prefix: "cr:recordSet" and "http://mlcommons.org/croissant/recordSet" give recordSet.
std::string_view bare(std::string_view key);
// Returns the member with that key, whatever its prefix, or a null value with static lifetime.
const Json& get(const Json& object, std::string_view name);
// Returns a list's items, or a single value as a list; an empty list for null.
std::vector<const Json*> list_of(const Json& value);
// Returns the text of a string, of {"@value": text}, or of {"@id": id}.
std::string text_of(const Json& value);
std::vector<std::string> texts_of(const Json& value);
// Returns what a file's containedIn names: references, or from 1.1 sources. An empty reference
// names nothing, as if it were not there; a source without a file gives "".
std::vector<std::string> containers_of(const Json& resource);
// Returns "@id", else "name".
std::string id_of(const Json& object);
bool is_type(const Json& object, std::string_view type);

}  // namespace assay::dataset::croissant
