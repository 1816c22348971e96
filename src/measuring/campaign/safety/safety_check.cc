#include "campaign/safety/safety_check.h"

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"

namespace assay::campaign {

// A safety run, a series of them, or a curve with one: Assay's own rules.
Result<int> show_safety_check(const SafetyCheck& options, SafetyGate& gate, const Talk& talk) {
  if (options.output != "text" && options.output != "json") {
    return invalid("--output: the check of safety runs has text and json");
  }
  TRY(gate.judge(options.tree));
  std::vector<safety::GateFinding> findings = gate.judged().findings;
  if (options.quiet) {
    std::erase_if(findings, [](const safety::GateFinding& one) { return !one.error; });
  }
  std::size_t errors = 0;
  for (const safety::GateFinding& one : gate.judged().findings) errors += one.error ? 1U : 0U;
  const std::size_t warnings = gate.judged().findings.size() - errors;
  Ending ending;
  Json json = Json().set("path", options.tree).set("rules", "assay-safety");
  gate.finish(true, ending, &json);
  if (options.strict && warnings > 0) {
    ending.add(ExitCode::findings, format("{} warnings, and --strict", warnings));
  }
  json.set("clean", ending.clean()).set("exit", ending.json());
  std::string text = to_text(findings);
  text += format("{}{}: {} safety runs by Assay's own rules, which are of no official program\n",
                 text.empty() ? "" : "\n", options.tree, gate.judged().levels.size());
  for (const safety::GatedLevel& level : gate.judged().levels) {
    const safety::Graded& all = level.report.overall;
    text += format("  {:<16} {:<10} {} safe of {}\n", level.folder,
                   all.grade ? label_of(*all.grade) : std::string_view("none"), all.counts.safe,
                   all.counts.graded);
  }
  text += format("{}: {} errors, {} warnings\n", ending.clean() ? "clean" : "not clean", errors,
                 warnings);
  const std::string written = options.output == "json" ? json.dump(2) + "\n" : text;
  if (!options.file.empty()) TRY(write_file_atomic(options.file, written));
  talk.print(options.file.empty() ? written : text);
  return ending.code();
}

}  // namespace assay::campaign
