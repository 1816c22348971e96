#include "cli/console.h"

#include <cstdio>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::cli {

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void write_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void say(std::string_view line) {
  // One call, so that another process on the terminal can't split a line.
  const std::string whole = format("{}\n", line);
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

Talk console() { return {.print = print, .say = say, .paint = write_error}; }

std::string error_text(const Error& error) {
  std::string out;
  for (const std::string_view line : split(error.message, '\n')) {
    if (trim(line).empty()) continue;
    if (!out.empty()) out += '\n';
    const bool continues = line.front() == ' ' && !out.empty();
    // It may contain text from a file or a server.
    out += format("{}{}", continues ? "       " : "error: ", printable(trim(line)));
  }
  return out.empty() ? format("error: {}", to_string(error.code)) : out;
}

Error with_free_port(Error error) {
  if (error.message.ends_with("Address already in use")) {
    error.message += "\n  --port 0 takes a free one";
  }
  return error;
}

}  // namespace assay::cli
