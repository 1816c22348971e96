#include "campaign/noise_course.h"

#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/compared_repeats.h"
#include "report/noise.h"

namespace assay::campaign {
namespace {

Result<std::vector<double>> changes_in(const std::string& list) {
  std::vector<double> out;
  for (const std::string_view part : split(list, ',')) {
    std::string_view text = trim(part);
    if (text.ends_with('%')) text = trim(text.substr(0, text.size() - 1));
    const auto percent = parse_double(text);
    if (!percent || !(*percent > 0 && *percent <= 1000)) {
      return invalid(format("--change: '{}' is not a change in percent; written as 5% or 2%,5%,10%",
                            trim(part)));
    }
    out.push_back(*percent / 100);
  }
  return out;
}

}  // namespace

Result<int> show_noise(NoiseAsked typed, const Talk& talk) {
  TRY(typed.compare.understand());
  ASSIGN_OR_RETURN(const std::vector<double> changes, changes_in(typed.changes));
  if (!(typed.power_percent >= 50 && typed.power_percent <= 99.9)) {
    return invalid("--power: must be from 50 to 99.9 percent");
  }
  std::vector<std::string> runs;
  for (const std::string& folder : typed.folders) {
    const std::vector<std::string> found = runs_in(folder);
    runs.insert(runs.end(), found.begin(), found.end());
  }
  if (runs.size() < 2) {
    return invalid(
        format("'{}' is one run; how far equal runs differ takes two at least, better five\n"
               "  a folder of run folders is several",
               runs.front()));
  }
  std::vector<std::string> refusals;
  ASSIGN_OR_RETURN(const LoadedRepeats loaded,
                   load_repeats(typed.folders.front(), runs, typed.tokenizer, typed.compare.options,
                                nullptr, refusals));
  const compare::NoiseAnswer answer = compare::noise_answer(
      loaded.repeats, changes, typed.power_percent / 100, typed.compare.options, refusals);
  talk.print(typed.json ? compare::noise_json(answer).dump(2) + "\n"
                        : report::noise_report(answer, report::terminal_style(1)));
  return exit_code(answer.refusals.empty() ? ExitCode::done : ExitCode::not_comparable);
}

}  // namespace assay::campaign
