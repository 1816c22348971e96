// `assay loadgen compliance`: the compliance tests of MLPerf Inference over run folders.
#include <algorithm>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/scenario/compliance_run.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "loadgen/compliance.h"

namespace assay::cli {
namespace {

struct ComplianceOptions {
  campaign::ComplianceWish wish{};
  std::string run{};
  std::string reference{};
  std::string accuracy{};
  std::string out{};
  std::string model = "*";
  std::uint64_t rows = 0;
  bool config = false;
  bool json = false;
};

void add_flags(Flags& flags, ComplianceOptions& options) {
  std::vector<std::string> tests;
  for (const std::string_view test : loadgen::compliance_tests()) tests.emplace_back(test);
  flags.add("TEST", &options.wish.test, "which test").required().choices(std::move(tests));
  flags.add("RUN", &options.run,
            "the folder of the run with the test's audit.config; of TEST08 also a "
            "mlperf_log_accuracy.json");
  flags.add("--audit-config", &options.config, "print the test's audit.config instead");
  flags.add("--model", &options.model, "for that file: the model's name in configuration files")
      .value("NAME");
  flags.add("--rows", &options.rows, "for TEST09's: how many rows the dataset has (6396)")
      .value("N");
  flags.add("--reference", &options.reference, "TEST01, TEST04: the run without that file")
      .value("RUN");
  flags
      .add("--accuracy", &options.accuracy,
           "TEST01, TEST08: the run with the accuracy answers; TEST08 also their "
           "mlperf_log_accuracy.json")
      .value("RUN");
  flags.add("--eos", &options.wish.eos, "TEST06: the end token's text, if replies may show it")
      .value("TEXT");
  flags
      .add("--tokenizer", &options.wish.tokenizer,
           "TEST06, TEST09: count the answers by this one, not as the run did")
      .value("DIR");
  flags.add("--least", &options.wish.length.least, "TEST09: the least mean length").value("TOKENS");
  flags.add("--most", &options.wish.length.most, "TEST09: the greatest").value("TOKENS");
  flags.add("--out", &options.out, "write the verification files there").value("DIR");
  flags.add("--json", &options.json, "print the verdict as JSON");
  flags.example("assay loadgen compliance TEST04 --audit-config > audit.config");
  flags.example("assay loadgen compliance TEST04 runs/audit --reference runs/plain --out TEST04");
}

Json verdict_json(const std::string& test, const std::vector<loadgen::ComplianceVerdict>& verdicts,
                  bool passed) {
  Json files = Json::array();
  for (const loadgen::ComplianceVerdict& verdict : verdicts) {
    Json lines = Json::array();
    for (const std::string& line : verdict.lines) lines.push_back(line);
    files.push_back(Json()
                        .set("file", verdict.file)
                        .set("passed", verdict.passed)
                        .set("lines", std::move(lines)));
  }
  return Json().set("test", test).set("passed", passed).set("files", std::move(files));
}

}  // namespace

Result<int> cmd_compliance(Args args) {
  ComplianceOptions options;
  Flags flags("loadgen compliance", "MLPerf Inference's compliance tests, over run folders");
  add_flags(flags, options);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  campaign::ComplianceWish& wish = options.wish;
  if (options.config) {
    ASSIGN_OR_RETURN(const std::string text,
                     loadgen::audit_conf(wish.test, options.model, options.rows));
    print(text);
    return exit_code(ExitCode::done);
  }
  if (options.run.empty())
    return invalid("RUN: the folder of the run to look at (or --audit-config)");
  wish.run = options.run;
  wish.reference = options.reference;
  wish.accuracy = options.accuracy;
  ASSIGN_OR_RETURN(const auto verdicts, campaign::check_compliance(wish));
  const bool passed =
      std::ranges::all_of(verdicts, [](const auto& verdict) { return verdict.passed; });
  if (!options.out.empty()) TRY(campaign::write_verdicts(verdicts, options.out));
  if (options.json) {
    print(verdict_json(wish.test, verdicts, passed).dump(2) + "\n");
  } else {
    for (const loadgen::ComplianceVerdict& verdict : verdicts) {
      print(format("{}\n{}", verdict.file, verdict.text()));
    }
  }
  return exit_code(passed ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::cli
