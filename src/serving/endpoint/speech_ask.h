// The contents of a request for speech. A field of the wrong type is an error; an unknown field is
// ignored, as in real servers. Pure; any thread.
#pragma once

#include <string_view>
#include <variant>

#include "endpoint/ask.h"

namespace assay::endpoint {

std::variant<std::monostate, ApiError> read_speech_ask(std::string_view body, Ask& ask);

}  // namespace assay::endpoint
