#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "loadgen/builtin_conf.h"
#include "loadgen/settings.h"
#include "loadgen/show_plan.h"

namespace assay::cli {
namespace {

std::vector<std::string> words_of(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

Result<int> cmd_loadgen(Args args) {
  if (!args.empty() && args.front() == "compliance") return cmd_compliance(args.subspan(1));
  loadgen::ShownTest options;
  std::vector<std::string> editions = words_of(loadgen::conf_editions());
  editions.emplace_back(loadgen::kNoBuiltIn);
  Flags flags("loadgen", "what an MLPerf LoadGen test asks, and the verdict on it");
  flags
      .add("WHAT", &options.what,
           "plan: the settings in force, and the queries in their order and at their times; "
           "summary: the verdict on a test, and its mlperf_log_summary.txt; compliance TESTnn: the "
           "compliance tests over run folders (its own --help)")
      .required()
      .choices({"plan", "summary"});
  flags.add("RECORD", &options.record, "summary: what was measured, as JSON");
  flags.add("--config=FILE", &options.config, "the user's configuration file (user.conf)");
  flags.add("--audit=FILE", &options.audit, "an audit's configuration file (audit.config)");
  flags
      .add("--edition", &options.edition,
           "whose built-in file (mlperf.conf) is read first; none: no such file")
      .choices(std::move(editions));
  flags.add("--model=NAME", &options.model, "the model's name in configuration keys");
  flags.add("--scenario", &options.scenario, "which of LoadGen's scenarios")
      .choices(words_of(loadgen::scenario_names()));
  flags.add("--mode", &options.mode, "the test's mode, in place of the files'")
      .choices(words_of(loadgen::mode_names()));
  flags.add("--samples=N", &options.samples, "how many samples the dataset has").required();
  flags.add("--loaded=N", &options.loaded,
            "how many samples fit in memory together; without it, all of them");
  flags.add("--queries=N", &options.queries, "how many queries of each series are listed");
  flags.add("--json", &options.json, "print the plan as JSON");
  flags.example(
      "assay loadgen plan --model llama3_1-8b --scenario Server --config user.conf --samples "
      "13368");
  flags.example("assay loadgen summary measured.json --scenario Offline --samples 24576");
  PARSE_OR_RETURN(flags, args);
  return loadgen::show_test(options, console());
}

}  // namespace assay::cli
