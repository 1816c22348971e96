// The function calls of a reply, and whether they are the ones that were asked for, as the Berkeley
// Function Calling Leaderboard (v4, single turn) checks them: names, required and known parameters,
// types, and for each parameter one of the values that its answer key allows. Strings are compared
// without case, spaces and , . / - _ * ^. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "score/scorer.h"

namespace assay::score {

struct FunctionCall {
  std::string name{};
  Json arguments{};  // an object
};

// What the row calls: its tool calls; else its content as JSON ([{"name", "arguments"}], or
// OpenAI's list); else the calls that stand in it as Python spells them ("[f(a=1), g('x')]").
std::vector<FunctionCall> function_calls(const Row& row);
// Calls as Python spells them, in order; what is no call is passed over.
std::vector<FunctionCall> python_calls(std::string_view text);

enum class CallLanguage : std::uint8_t { python, java, javascript };

// `functions`: their descriptions, [{"name", "parameters": {"properties", "required"}}], or
// OpenAI's tools. `possible`: [{name: {parameter: [value, …]}}], "" among the values: may be left
// out. `in_parallel`: any order; else there is one call.
bool calls_match(const std::vector<FunctionCall>& calls, const Json& functions,
                 const Json& possible, CallLanguage language, bool in_parallel);

// A Java or JavaScript argument, which is the source text of its value, as the type's value; the
// text itself where it is none. `nested`: the type of its elements, or "".
Json java_value(std::string_view text, std::string_view type, std::string_view nested);
Json javascript_value(std::string_view text, std::string_view type, std::string_view nested);

}  // namespace assay::score
