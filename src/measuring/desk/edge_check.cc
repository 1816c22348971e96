#include "desk/edge_check.h"

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "desk/edge_round.h"

namespace assay::desk {

// A run's folder of an edge round: its own few rules.
Result<int> show_edge_round(const EdgeCheck& options, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto findings, check_edge_round(options.tree));
  Json list = Json::array();
  std::string text;
  bool passed = true;
  for (const EdgeFinding& one : findings) {
    passed = passed && one.passed;
    list.push_back(
        Json().set("name", one.name).set("passed", one.passed).set("detail", one.detail));
    if (one.passed && options.quiet) continue;
    text += format("[{}] {}: {}\n", one.passed ? "PASS" : "FAIL", one.name, one.detail);
  }
  text += format("OVERALL: {}\n", passed ? "PASS" : "FAIL");
  if (options.output != "text" && options.output != "json") {
    return invalid("--output: an edge round's run has text and json");
  }
  const std::string json = Json().set("passed", passed).set("checks", list).dump(2) + "\n";
  const std::string written = options.output == "json" ? json : text;
  if (options.file.empty()) {
    talk.print(written);
  } else {
    TRY(write_file_atomic(options.file, written));
    talk.print(text);
  }
  talk.say(
      "for a person to see: the server runs without reasoning, with a context of 32768 tokens");
  return exit_code(passed ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::desk
