#include "dataset/program_rows.h"

#include <poll.h>

#include <cerrno>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/piped_program.h"
#include "base/text.h"

namespace assay::dataset {
namespace {

constexpr int kSilentMsMax = 60'000;
constexpr std::size_t kRowsBytesMax = std::size_t{8} << 30;

// All that the program writes until it closes its output.
Result<std::string> hear_out(PipedProgram& program) {
  std::string out;
  for (;;) {
    switch (program.read(out)) {
      case PipedProgram::Io::done:
        if (out.size() <= kRowsBytesMax) break;
        return invalid("it wrote more than 8 GiB");
      case PipedProgram::Io::closed:
        return out;
      case PipedProgram::Io::later: {
        pollfd wait{program.output(), POLLIN, 0};
        const int n = ::poll(&wait, 1, kSilentMsMax);
        if (n == 0) return Error{Code::timed_out, "it wrote nothing for a minute"};
        if (n < 0 && errno != EINTR) return errno_error("poll");
      }
    }
  }
}

// Removes the last line from the rows, and says what is wrong with it.
std::string take_end(std::string& rows) {
  const std::string_view text = trim(rows);
  const std::size_t before = text.rfind('\n');
  const std::size_t at = before == std::string_view::npos ? 0 : before + 1;
  const auto last = Json::parse(text.substr(at));
  const bool object = last && last->is_object();
  if (object && (*last)["error"].is_string()) return std::string((*last)["error"].as_string());
  if (!object || !(*last)["end"].as_bool(false)) {
    return R"(its last line is not {"end": true}, so rows may be missing)";
  }
  rows.resize(at + static_cast<std::size_t>(text.data() - rows.data()));
  return {};
}

}  // namespace

Result<void> write_program_rows(std::string_view path, const std::filesystem::path& file) {
  const std::string command(trim(path.substr(kRowProgram.size())));
  if (command.empty()) {
    return invalid("--dataset program:…: names no program; write 'program:python3 my_rows.py'");
  }
  ASSIGN_OR_RETURN(PipedProgram program, PipedProgram::start(command, "--dataset"));
  auto rows = hear_out(program);
  const bool whole = rows.has_value();
  const std::string how = program.end(whole ? PipedProgram::kGrace : Duration{});
  if (!whole) return rows.error().within(format("the program '{}'", command));
  std::string trouble = take_end(*rows);
  if (how != "ended with exit code 0") {
    trouble = trouble.empty() ? how : format("{} ({})", trouble, how);
  }
  if (!trouble.empty()) return invalid(format("the program '{}': {}", command, trouble));
  return write_file_atomic(file, *rows);
}

}  // namespace assay::dataset
