// The contents of a request to transcribe or translate a sound: a form with the sound as a file.
// Pure; any thread.
#pragma once

#include <string_view>
#include <variant>

#include "endpoint/ask.h"

namespace assay::endpoint {

// `ask.boundary` is the form's. Prompt tokens: 50 a second of 16 kHz PCM, whatever the file holds.
std::variant<std::monostate, ApiError> read_sound_ask(Route route, std::string_view body, Ask& ask);

}  // namespace assay::endpoint
