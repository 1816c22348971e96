#include <algorithm>

#include "base/exit_code.h"
#include "base/flags.h"
#include "campaign/merge_ranks.h"
#include "campaign/run_folder.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "report/terminal.h"

namespace assay::cli {

Result<int> cmd_merge(Args args) {
  std::vector<std::string> folders;
  std::string out;
  bool json = false;
  campaign::MergeOptions options;
  Flags flags("merge", "one exact run of what the ranks of a run of several hosts recorded");
  flags.add("RANK", &folders, "a folder of each rank (assay run --rank)").required();
  flags.add("--output,-o=DIR", &out, "the folder of the whole run").required();
  flags.add("--allow-missing", &options.allow_missing,
            "merge although folders of some ranks are missing; the report names them");
  flags.add("--json", &json, "print the result as JSON to standard output");
  flags.example("assay merge runs/big/rank-* -o runs/big/merged");
  PARSE_OR_RETURN(flags, args);
  const std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
  ASSIGN_OR_RETURN(const auto run, campaign::merge_ranks(paths, out, options));
  if (json) {
    print(campaign::summary_json(run).dump(2) + "\n");
  } else {
    print(report::terminal_report(run.point, campaign::report_context(run),
                                  report::terminal_style(1)));
  }
  const auto scored = [](const metrics::PhaseSpan& phase) {
    return phase.kind == PhaseKind::accuracy;
  };
  if (std::ranges::any_of(run.point.phases, scored)) {
    say("note: the replies of all ranks are scored together: assay score " + out);
  }
  const bool whole = run.point.complete();
  return exit_code(whole ? ExitCode::done : ExitCode::interrupted);
}

}  // namespace assay::cli
