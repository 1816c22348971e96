#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/safety_gate.h"
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

// A run's folder of an edge round: its own few rules.
Result<int> check_edge(const CheckOptions& options) {
  ASSIGN_OR_RETURN(const auto findings, desk::check_edge_round(options.tree));
  Json list = Json::array();
  std::string text;
  bool passed = true;
  for (const desk::EdgeFinding& one : findings) {
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
    print(written);
  } else {
    TRY(write_file_atomic(options.file, written));
    print(text);
  }
  say("for a person to see: the server runs without reasoning, with a context of 32768 tokens");
  return exit_code(passed ? ExitCode::done : ExitCode::findings);
}

// A safety run, a series of them, or a curve with one: Assay's own rules.
Result<int> check_safety(const CheckOptions& options, SafetyGate& gate) {
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
  print(options.file.empty() ? written : text);
  return ending.code();
}

void add_check_flags(Flags& flags, CheckOptions& options) {
  flags.add(
      "TREE", &options.tree,
      "the folder that holds results/, docs/ and src/; of Inference closed/, open/, network/; or a "
      "run of an edge round; a safety run, or a curve that has some (safety/)");
  flags.add("--suite", &options.suite, "whose rules: MLPerf Endpoints or MLPerf Inference")
      .value("SUITE")
      .choices({"endpoints", "inference"});
  flags
      .add("--edition", &options.edition,
           "the edition of the rules: v0.7, v1.0 (endpoints); v5.0 to v6.1 (inference)")
      .value("NAME")
      .choices({"v0.7", "v1.0", "v5.0", "v5.1", "v6.0", "v6.1"});
  flags.add("--submitter", &options.submitter, "of Inference: this submitter's results alone")
      .value("NAME");
  flags.add("--strict", &options.strict, "warnings count as errors");
  flags.add("--quiet,-q", &options.quiet, "errors only");
  flags.add("--output", &options.output, "what to print")
      .value("FORM")
      .choices({"text", "json", "sarif", "junit"});
  flags.add("--json,-j", &options.json, "the same as --output json");
  flags.add("--file,-o", &options.file, "write the report there; the terminal has the text")
      .value("FILE");
  flags.add("--no-review", &options.no_review, "without the aids for manual review");
  flags.add("--no-plausibility", &options.no_plausibility,
            "without the rules that are Assay's own: only what the official checker asks");
  flags.add("--seed-sets", &options.seed_sets, "a seedset.yaml instead of the edition's list")
      .value("FILE");
  flags
      .add("--approved-drafters", &options.drafters,
           "an approved_drafters.yaml instead of the edition's list")
      .value("FILE");
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
  SafetyGate safety(flags);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
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
    return check_safety(options, safety);
  }
  if (safety.asked()) {
    return invalid(
        format("--safety-min: '{}' holds no safety run and no curve\n  assay safety run "
               "--report-dir {} makes one",
               options.tree, options.tree));
  }
  if (desk::is_edge_round(options.tree)) return check_edge(options);
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
