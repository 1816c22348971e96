// Methods of Python's str and dict that templates use, and text functions that filters share with
// them.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja_value.h"

namespace assay::text::jinja {

// Returns the method, bound to its value; undefined if no method has that name.
Value method_of(const Value& value, std::string_view name);

// str.strip(chars), .lstrip, .rstrip; `chars` None: white space.
std::string strip(std::string_view text, const Value& chars, bool left, bool right);
// Does the same as std::string's find, in linear time for every pattern.
std::size_t find_text(std::string_view text, std::string_view what, std::size_t from);
std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    std::int64_t times_max);
std::string capitalize(std::string_view text);
std::string title(std::string_view text, bool jinja);

}  // namespace assay::text::jinja
