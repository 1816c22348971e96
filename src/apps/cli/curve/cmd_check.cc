#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/safety/safety_check.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/shared_flags.h"
#include "desk/edge_check.h"
#include "desk/edge_round.h"
#include "rules/check_tree.h"
#include "rules/inference/check.h"
#include "rules/write_report.h"

namespace assay::cli {
namespace {

struct CheckOptions {
  std::string tree{};
  std::string suite = "endpoints";
  std::string edition{};
  std::string submitter{};
  std::string seed_sets{};
  std::string drafters{};
  std::string output = "text";
  std::string file{};
  bool strict = false;
  bool quiet = false;
  bool no_review = false;
  bool no_plausibility = false;
  bool list = false;
  bool json = false;
};

std::string in_form(const rules::CheckReport& report, const CheckOptions& options) {
  if (options.output == "json") return rules::report_json(report, options.strict).dump(2) + "\n";
  if (options.output == "sarif") return rules::report_sarif(report).dump(2) + "\n";
  if (options.output == "junit") return rules::report_junit(report, options.strict);
  return rules::report_text(report, options.strict, options.quiet);
}

// What one suite has and the other has not.
Result<void> check_flags(CheckOptions& options, bool of_inference, const Flags& flags) {
  if (options.edition.empty()) options.edition = of_inference ? "v6.1" : "v1.0";
  const bool round = options.edition >= "v5.0";
  if (round != of_inference) {
    return invalid(format("--edition {}: that is an edition of {}", options.edition,
                          round ? "MLPerf Inference: add --suite inference" : "MLPerf Endpoints"));
  }
  if (!of_inference && flags.given("--submitter")) {
    return invalid("--submitter: only with --suite inference");
  }
  for (const char* const name :
       {"--seed-sets", "--approved-drafters", "--no-review", "--no-plausibility"}) {
    if (of_inference && flags.given(name)) {
      return invalid(format("{}: not with --suite inference", name));
    }
  }
  return {};
}

Result<rules::CheckReport> check(const CheckOptions& options, bool of_inference) {
  if (of_inference) {
    return rules::inference::check_inference(
        options.tree, {.round = options.edition, .submitter = options.submitter});
  }
  return rules::check_tree(options.tree, {.edition = options.edition,
                                          .seed_sets = options.seed_sets,
                                          .drafters = options.drafters,
                                          .review = !options.no_review,
                                          .plausibility = !options.no_plausibility});
}

void add_check_flags(Flags& flags, CheckOptions& options) {
  flags.add(
      "TREE", &options.tree,
      "the folder that holds results/, docs/ and src/; of Inference closed/, open/, network/; or a "
      "run of an edge round; a safety run, or a curve that has some (safety/)");
  flags.add("--suite=SUITE", &options.suite, "whose rules: MLPerf Endpoints or MLPerf Inference")
      .choices({"endpoints", "inference"});
  flags
      .add("--edition=NAME", &options.edition,
           "the edition of the rules: v0.7, v1.0 (endpoints); v5.0 to v6.1 (inference)")
      .choices({"v0.7", "v1.0", "v5.0", "v5.1", "v6.0", "v6.1"});
  flags.add("--submitter=NAME", &options.submitter, "of Inference: this submitter's results alone");
  flags.add("--strict", &options.strict, "warnings count as errors");
  flags.add("--quiet,-q", &options.quiet, "errors only");
  flags.add("--output=FORM", &options.output, "what to print")
      .choices({"text", "json", "sarif", "junit"});
  flags.add("--json,-j", &options.json, "the same as --output json");
  flags.add("--file,-o=FILE", &options.file, "write the report there; the terminal has the text");
  flags.add("--no-review", &options.no_review, "without the aids for manual review");
  flags.add("--no-plausibility", &options.no_plausibility,
            "without the rules that are Assay's own: only what the official checker asks");
  flags.add("--seed-sets=FILE", &options.seed_sets, "a seedset.yaml instead of the edition's list");
  flags.add("--approved-drafters=FILE", &options.drafters,
            "an approved_drafters.yaml instead of the edition's list");
  flags.add("--list", &options.list, "print the rules and stop");
  flags.example("assay check submission/");
  flags.example("assay check --suite inference submission/ --edition v6.1");
  flags.example("assay check curves/m --safety-min very-good");
  flags.example("assay check submission/ --strict --output sarif --file check.sarif");
}

}  // namespace

Result<int> cmd_check(Args args) {
  CheckOptions options;
  Flags flags("check", "every rule of a submission, with the clause and the fix");
  add_check_flags(flags, options);
  campaign::SafetyGate safety;
  add_safety_gate_flags(flags, safety);
  PARSE_OR_RETURN(flags, args);
  if (options.json && flags.given("--output") && options.output != "json") {
    return invalid("--json, --output: standard output takes one form");
  }
  if (options.json) options.output = "json";
  const bool of_inference = options.suite == "inference";
  TRY(check_flags(options, of_inference, flags));
  TRY(safety.understand());
  if (options.list) {
    print(options.json ? rules::rules_json(of_inference).dump(2) + "\n"
                       : rules::rules_markdown(of_inference));
    return exit_code(ExitCode::done);
  }
  if (options.tree.empty()) return invalid("TREE: missing\n  assay check --help");

  if (campaign::holds_safety(options.tree) ||
      (safety.asked() && campaign::CurveFolder::is_curve(options.tree))) {
    return campaign::show_safety_check({.tree = options.tree,
                                        .output = options.output,
                                        .file = options.file,
                                        .strict = options.strict,
                                        .quiet = options.quiet},
                                       safety, console());
  }
  if (safety.asked()) {
    return invalid(
        format("--safety-min: '{}' holds no safety run and no curve\n  assay safety run "
               "--report-dir {} makes one",
               options.tree, options.tree));
  }
  if (desk::is_edge_round(options.tree)) {
    return desk::show_edge_round({.tree = options.tree,
                                  .output = options.output,
                                  .file = options.file,
                                  .quiet = options.quiet},
                                 console());
  }
  ASSIGN_OR_RETURN(const rules::CheckReport report, check(options, of_inference));
  const std::string written = in_form(report, options);
  if (options.file.empty()) {
    print(written);
  } else {
    TRY(write_file_atomic(options.file, written));
    print(rules::report_text(report, options.strict, options.quiet));
  }
  if (!report.usable) return exit_code(ExitCode::bad_input);
  return exit_code(report.clean(options.strict) ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::cli
