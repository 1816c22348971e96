#include "base/exit_code.h"
#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "report/explanation.h"
#include "report/terminal_style.h"

namespace assay::cli {

Result<int> cmd_explain(Args args) {
  report::ExplainAsked asked;
  Flags flags("explain",
              "what a finding, a verdict, a cause or an exit code means, and what to do");
  flags.add("CODE", &asked.code, "as it was printed: src-dir, suspected, timed_out, 4");
  flags.add("--list", &asked.list, "print every code and stop");
  flags.add("--json", &asked.json, "print as JSON");
  flags.example("assay explain suspected");
  flags.example("assay explain metric-consistency-duration");
  PARSE_OR_RETURN(flags, args);
  asked.columns = report::terminal_style(1).columns;
  ASSIGN_OR_RETURN(const std::string text, report::explain(asked));
  print(text);
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
