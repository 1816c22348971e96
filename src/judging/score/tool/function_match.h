// Whether function calls are the requested ones, by the rules of the Berkeley Function Calling
// Leaderboard (v4, single turn): names, required and known parameters, types, and for each
// parameter one of the values that its answer key allows. Strings are compared without case, spaces
// and , . / - _ * ^. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "score/answer/function_call.h"

namespace assay::score {

enum class CallLanguage : std::uint8_t { python, java, javascript };

// `functions`: their descriptions, [{"name", "parameters": {"properties", "required"}}], or
// OpenAI's tools. `possible`: [{name: {parameter: [value, …]}}]; the value "" means that it may be
// left out. `in_parallel`: any order; else there is one call.
bool calls_match(const std::vector<FunctionCall>& calls, const Json& functions,
                 const Json& possible, CallLanguage language, bool in_parallel);

// Converts a Java or JavaScript argument, the source text of a value, to the type's value; returns
// the text itself if it is none. `nested`: the type of its elements, or "".
Json java_value(std::string_view text, std::string_view type, std::string_view nested);
Json javascript_value(std::string_view text, std::string_view type, std::string_view nested);

}  // namespace assay::score
