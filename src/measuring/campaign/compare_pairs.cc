#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/result.h"
#include "base/talk.h"
#include "campaign/accuracy.h"
#include "campaign/compare_course.h"
#include "campaign/safety/safety_sides.h"
#include "report/accuracy_comparison.h"
#include "report/safety_page.h"
#include "score/sample_scores.h"

namespace assay::campaign {
namespace {

Result<std::vector<score::SampleScores>> scores_of(const std::string& folder) {
  const std::filesystem::path file = sample_scores_file(folder);
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
                                const CompareAsked& flags, const Talk& talk) {
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
  talk.print(flags.json ? accuracy_comparison_json(comparison, a, b, options).dump(2) + "\n"
                        : report::accuracy_comparison_text(comparison, a, b, options));
  if (!comparison.comparable()) return exit_code(ExitCode::not_comparable);
  const bool fail = comparison.worse() || (flags.strict && comparison.unresolved());
  return exit_code(fail ? ExitCode::worse : ExitCode::done);
}

Result<int> compare_safety_of(const std::string& a, const std::string& b, const CompareAsked& flags,
                              const SafetyCompare& safety, const Talk& talk) {
  if (!flags.junit.empty()) return invalid("--junit: does not go with --safety");
  if (flags.github) return invalid("--github: does not go with --safety");
  if (!flags.metric_list.empty()) return invalid("--metrics: does not go with --safety");
  if (flags.accuracy || flags.accuracy_points) {
    return invalid("--accuracy: does not go with --safety");
  }
  std::optional<double> margin;
  if (safety.margin_points) {
    if (!(*safety.margin_points > 0 && *safety.margin_points <= 100)) {
      return invalid("--safety-margin: must be above 0 and at most 100 percentage points");
    }
    margin = *safety.margin_points / 100;
  }
  ASSIGN_OR_RETURN(const auto key, safety.inputs.key());
  ASSIGN_OR_RETURN(const SafetySide left, load_safety_side(a, key));
  ASSIGN_OR_RETURN(const SafetySide right, load_safety_side(b, key));
  const auto done = assay::safety::compare_safety(left.side, right.side, margin);
  talk.print(
      flags.json
          ? assay::safety::safety_comparison_json(done, left.side, right.side, margin).dump(2) +
                "\n"
          : assay::safety::safety_comparison_text(done, left.side, right.side, margin));
  if (!done.comparable()) return exit_code(ExitCode::not_comparable);
  if (!safety.html.empty()) {
    TRY(write_file_atomic(
        safety.html,
        report::safety_page(
            {{a, left.side.precision, &left.curve}, {b, right.side.precision, &right.curve}},
            assay::safety::kNotOfficial, assay::safety::safety_sentences(done, margin))));
  }
  const bool open = done.any(assay::safety::SafetyVerdict::unresolved) || done.grade_falls();
  const bool fail = done.any(assay::safety::SafetyVerdict::worse) || (flags.strict && open);
  return exit_code(fail ? ExitCode::worse : ExitCode::done);
}

}  // namespace assay::campaign
