#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/compared_repeats.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/results/compare_flags.h"
#include "report/noise.h"

namespace assay::cli {
namespace {

struct NoiseFlags {
  std::vector<std::string> folders{};
  std::string tokenizer{};
  std::string changes = "2%,5%,10%";
  double power_percent = 90;
  bool json = false;
  CompareFlags compare{};
};

void add_flags(Flags& flags, NoiseFlags& typed) {
  flags.add("RUNS", &typed.folders, "runs of one thing: run folders, or a folder of several")
      .required();
  flags.add("--change", &typed.changes, "of which size a change is to be found").value("LIST");
  flags.add("--power", &typed.power_percent, "how often it is to be found").value("PERCENT");
  flags.add("--metrics", &typed.compare.metric_list, "which: ttft_p95,tpot_p90,system_tps, …")
      .value("LIST");
  flags
      .add("--regression", &typed.compare.regression_percent,
           "the margin of assay compare: a harm up to this is no regression")
      .value("PERCENT");
  flags.add("--confidence", &typed.compare.confidence_percent, "of all metrics together")
      .value("PERCENT");
  flags
      .add("--tokenizer", &typed.tokenizer,
           "count the runs' tokens anew: the model's tokenizer, a folder or a file")
      .value("DIR");
  flags.add("--allow-client-limited", &typed.compare.options.allow_client_limited,
            "take also runs whose own client was the bottleneck");
  flags.add("--json", &typed.json, "print the answer as JSON");
  flags.example(
      "for i in 1 2 3 4 5 6; do assay run --config run.yaml --report-dir runs/equal/$i; done");
  flags.example("assay noise runs/equal --change 5%");
}

Result<std::vector<double>> changes_in(const std::string& list) {
  std::vector<double> out;
  for (const std::string_view part : split(list, ',')) {
    std::string_view text = trim(part);
    if (text.ends_with('%')) text = trim(text.substr(0, text.size() - 1));
    const auto percent = parse_double(text);
    if (!percent || !(*percent > 0 && *percent <= 1000)) {
      return invalid(
          format("--change: '{}' is no change in percent; written as 5% or 2%,5%,10%", trim(part)));
    }
    out.push_back(*percent / 100);
  }
  return out;
}

}  // namespace

Result<int> cmd_noise(Args args) {
  NoiseFlags typed;
  Flags flags("noise", "how far equal runs differ, and how many runs show a change");
  add_flags(flags, typed);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  TRY(typed.compare.understand());
  ASSIGN_OR_RETURN(const std::vector<double> changes, changes_in(typed.changes));
  if (!(typed.power_percent >= 50 && typed.power_percent <= 99.9)) {
    return invalid("--power: must be from 50 to 99.9 percent");
  }
  std::vector<std::string> runs;
  for (const std::string& folder : typed.folders) {
    const std::vector<std::string> found = campaign::runs_in(folder);
    runs.insert(runs.end(), found.begin(), found.end());
  }
  if (runs.size() < 2) {
    return invalid(
        format("'{}' is one run; how far equal runs differ takes two at least, better five\n"
               "  a folder of run folders is several",
               runs.front()));
  }
  std::vector<std::string> refusals;
  ASSIGN_OR_RETURN(const campaign::LoadedRepeats loaded,
                   campaign::load_repeats(typed.folders.front(), runs, typed.tokenizer,
                                          typed.compare.options, nullptr, refusals));
  const compare::NoiseAnswer answer = compare::noise_answer(
      loaded.repeats, changes, typed.power_percent / 100, typed.compare.options, refusals);
  print(typed.json ? compare::noise_json(answer).dump(2) + "\n"
                   : report::noise_report(answer, report::terminal_style(1)));
  return exit_code(answer.refusals.empty() ? ExitCode::done : ExitCode::not_comparable);
}

}  // namespace assay::cli
