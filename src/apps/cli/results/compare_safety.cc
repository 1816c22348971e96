#include "cli/results/compare_safety.h"

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "campaign/safety/safety_sides.h"
#include "cli/console.h"
#include "report/safety_page.h"

namespace assay::cli {

SafetyCompare::SafetyCompare(Flags& flags) {
  static constexpr const char* kGroup = "Safety, in pairs";
  flags
      .add(
          "--safety", &asked_,
          "compare the safety runs of two curves (or of two series) at each concurrency, prompt by "
          "prompt, instead: bf16 and fp8")
      .group(kGroup);
  flags
      .add(
          "--safety-margin", &margin_points_,
          "B is as safe where its unsafe share is shown to be less than this above A's: percentage "
          "points")
      .value("POINTS")
      .group(kGroup);
  flags.add("--html", &html_, "write grades, failures and speed of both curves as one page")
      .value("FILE")
      .group(kGroup);
  add_seal_key(flags, inputs_, "of safety runs over sealed prompts: the key of the set")
      .group(kGroup);
}

Result<int> SafetyCompare::compare(const std::string& a, const std::string& b,
                                   const CompareFlags& flags) const {
  if (!flags.junit.empty()) return invalid("--junit: does not go with --safety");
  if (flags.github) return invalid("--github: does not go with --safety");
  if (!flags.metric_list.empty()) return invalid("--metrics: does not go with --safety");
  if (flags.accuracy || flags.accuracy_points) {
    return invalid("--accuracy: does not go with --safety");
  }
  std::optional<double> margin;
  if (margin_points_) {
    if (!(*margin_points_ > 0 && *margin_points_ <= 100)) {
      return invalid("--safety-margin: must be above 0 and at most 100 percentage points");
    }
    margin = *margin_points_ / 100;
  }
  ASSIGN_OR_RETURN(const auto key, inputs_.key());
  ASSIGN_OR_RETURN(const campaign::SafetySide left, campaign::load_safety_side(a, key));
  ASSIGN_OR_RETURN(const campaign::SafetySide right, campaign::load_safety_side(b, key));
  const auto done = safety::compare_safety(left.side, right.side, margin);
  print(flags.json
            ? safety::safety_comparison_json(done, left.side, right.side, margin).dump(2) + "\n"
            : safety::safety_comparison_text(done, left.side, right.side, margin));
  if (!done.comparable()) return exit_code(ExitCode::not_comparable);
  if (!html_.empty()) {
    TRY(write_file_atomic(
        html_, report::safety_page(
                   {{a, left.side.precision, &left.curve}, {b, right.side.precision, &right.curve}},
                   safety::kNotOfficial, safety::safety_sentences(done, margin))));
  }
  const bool open = done.any(safety::SafetyVerdict::unresolved) || done.grade_falls();
  const bool fail = done.any(safety::SafetyVerdict::worse) || (flags.strict && open);
  return exit_code(fail ? ExitCode::worse : ExitCode::done);
}

}  // namespace assay::cli
