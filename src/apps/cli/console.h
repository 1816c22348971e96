// The two streams of a command: results go to standard output, messages to standard error.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/talk.h"

namespace assay::cli {

// Writes to standard output, unchanged.
void print(std::string_view text);
// Writes to standard error, unchanged.
void write_error(std::string_view text);
// Writes to standard error, with a line end.
void say(std::string_view line);

// The two streams, for a room's course of work.
Talk console();

// The error as a person reads it. Each line of the message that starts at the margin is a separate
// error; a line that starts with a space continues the one above and is indented under its text:
//
//     error: config.yaml:14: type: unknown value "concurency"
//            did you mean "concurrency"?
std::string error_text(const Error& error);
// Adds advice to the error of a command that listens when its --port is taken.
Error with_free_port(Error error);

}  // namespace assay::cli
