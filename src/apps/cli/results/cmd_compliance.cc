// `assay loadgen compliance`: the compliance tests of MLPerf Inference over run folders.
#include <optional>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/flags.h"
#include "campaign/scenario/compliance_run.h"
#include "campaign/scenario/compliance_series.h"
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
  std::optional<double> least{};
  std::optional<double> most{};
  bool config = false;
  bool json = false;
};

void add_flags(Flags& flags, ComplianceOptions& options) {
  std::vector<std::string> tests;
  for (const std::string_view test : loadgen::compliance_tests()) tests.emplace_back(test);
  flags.add("TEST", &options.wish.test, "which test").required().choices(std::move(tests));
  flags.add("RUN", &options.run,
            "the folder of the run with the test's audit.config; of TEST06, TEST08 and TEST09 also "
            "a folder of LoadGen's logs");
  flags.add("--audit-config", &options.config, "print the test's audit.config instead");
  flags.add("--model=NAME", &options.model,
            "the model's name in configuration files, for that file and TEST09's lengths");
  flags.add("--rows=N", &options.rows, "for TEST09's: how many rows the dataset has (6396)");
  flags.add("--reference=RUN", &options.reference, "TEST01, TEST04: the run without that file");
  flags.add("--accuracy=RUN", &options.accuracy,
            "TEST01, TEST08: the run with the accuracy answers; TEST08 also their "
            "mlperf_log_accuracy.json");
  flags.add("--eos=TEXT", &options.wish.eos,
            "TEST06: the end token's text, if replies may show it");
  flags.add("--eos-id=ID", &options.wish.eos_id, "TEST06 of LoadGen's logs: the end token's id");
  flags.add("--tokenizer=DIR", &options.wish.tokenizer,
            "TEST06, TEST09: count the answers by this one, not as the run did");
  flags.add("--least=TOKENS", &options.least,
            "TEST09: the least mean length; without it that of --model (gpt-oss-120b)");
  flags.add("--most=TOKENS", &options.most, "TEST09: the greatest");
  flags.add("--out=DIR", &options.out, "write the verification files there");
  flags.add("--json", &options.json, "print the verdict as JSON");
  flags.example("assay loadgen compliance TEST04 --audit-config > audit.config");
  flags.example("assay loadgen compliance TEST04 runs/audit --reference runs/plain --out TEST04");
}

}  // namespace

Result<int> cmd_compliance(Args args) {
  ComplianceOptions options;
  Flags flags("loadgen compliance", "MLPerf Inference's compliance tests, over run folders");
  add_flags(flags, options);
  PARSE_OR_RETURN(flags, args);
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
  wish.length = loadgen::length_limits(options.model).value_or(loadgen::LengthLimits{});
  wish.length.least = options.least.value_or(wish.length.least);
  wish.length.most = options.most.value_or(wish.length.most);
  wish.reference = options.reference;
  wish.accuracy = options.accuracy;
  campaign::TestVerdict verdict{.test = wish.test};
  ASSIGN_OR_RETURN(verdict.files, campaign::check_compliance(wish));
  if (!options.out.empty()) TRY(campaign::write_verdicts(verdict.files, options.out));
  print(options.json ? verdict.to_json().dump(2) + "\n" : verdict.text());
  return exit_code(verdict.passed() ? ExitCode::done : ExitCode::findings);
}

}  // namespace assay::cli
