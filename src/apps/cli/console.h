// The two streams of a command: standard output carries the result, standard error the talk.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::cli {

// To standard output, as it stands.
void print(std::string_view text);
// To standard error, as it stands.
void write_error(std::string_view text);
// To standard error, with a line end.
void say(std::string_view line);

// The error as a person reads it. Each line of the message that starts at the margin is an error of
// its own; a line that starts with a space belongs to the one above and is set under its text:
//
//     error: config.yaml:14: type: unknown value "concurency"
//            did you mean "concurrency"?
std::string error_text(const Error& error);
// Of a command that listens: where its --port is taken, with what to do.
Error with_free_port(Error error);

}  // namespace assay::cli
