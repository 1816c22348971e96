#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/accuracy.h"
#include "cli/console.h"
#include "cli/results/compare_flags.h"
#include "report/accuracy_comparison.h"
#include "score/sample_scores.h"

namespace assay::cli {
namespace {

Result<std::vector<score::SampleScores>> scores_of(const std::string& folder) {
  const std::filesystem::path file = campaign::sample_scores_file(folder);
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) {
    return Error{Code::not_found, format("'{}': no such folder", folder)};
  }
  if (!std::filesystem::exists(file, ignored)) {
    return invalid(
        format("'{}' has no scores by samples ({})\n  assay score {} makes them from the recorded "
               "replies",
               folder, file.filename().string(), folder));
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(file));
  auto scores = score::read_sample_scores(text);
  if (!scores) return scores.error().within(file.string());
  return scores;
}

}  // namespace

Result<int> compare_accuracy_of(const std::string& a, const std::string& b,
                                const CompareFlags& flags) {
  if (!flags.junit.empty()) return invalid("--junit: does not go with --accuracy");
  if (flags.github) return invalid("--github: does not go with --accuracy");
  if (!flags.metric_list.empty()) return invalid("--metrics: does not go with --accuracy");
  compare::AccuracyOptions options = flags.accuracy_options;
  if (flags.accuracy_points) {
    if (!(*flags.accuracy_points > 0 && *flags.accuracy_points <= 100)) {
      return invalid("--accuracy-margin: must be above 0 and at most 100 percentage points");
    }
    options.margin_points = *flags.accuracy_points;
  }
  ASSIGN_OR_RETURN(const auto left, scores_of(a));
  ASSIGN_OR_RETURN(const auto right, scores_of(b));
  const auto comparison = compare::compare_accuracy(left, right, options);
  print(flags.json ? accuracy_comparison_json(comparison, a, b, options).dump(2) + "\n"
                   : report::accuracy_comparison_text(comparison, a, b, options));
  if (!comparison.comparable()) return exit_code(ExitCode::not_comparable);
  const bool fail = comparison.worse() || (flags.strict && comparison.unresolved());
  return exit_code(fail ? ExitCode::worse : ExitCode::done);
}

}  // namespace assay::cli
