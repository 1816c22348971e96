#include "campaign/json_ending.h"

#include <string>
#include <string_view>

#include "base/display.h"
#include "base/exit_code.h"
#include "base/json.h"
#include "base/text.h"

namespace assay::campaign {
namespace {

// An error's lines as one: what follows the first is advice.
std::string one_line(std::string_view message) {
  std::string out;
  for (const std::string_view line : split(message, '\n')) {
    if (trim(line).empty()) continue;
    out += (out.empty() ? "" : "; ") + printable(trim(line));
  }
  return out;
}

}  // namespace

Result<int> end_in_json(const Talk& talk, const std::function<Result<int>(const Talk&)>& course) {
  bool printed = false;
  Talk watched = talk;
  watched.print = [&](std::string_view text) {
    printed = true;
    talk.print(text);
  };
  Result<int> result = course(watched);
  if (!result && !printed) {
    Ending ending;
    ending.add(static_cast<ExitCode>(exit_code(result.error().code)),
               one_line(result.error().message));
    talk.print(Json().set("exit", ending.json()).dump(2) + "\n");
  }
  return result;
}

}  // namespace assay::campaign
