#include "cli/results/compare_flags.h"

namespace assay::cli {

void add_compare_flags(Flags& flags, campaign::CompareAsked& asked) {
  flags.add("--metrics=LIST", &asked.metric_list, "which: ttft_p95,tpot_p90,itl_p99,system_tps, …");
  flags.group("Margins, in percent");
  flags.add("--regression=PERCENT", &asked.regression_percent,
            "a harm up to this is no regression");
  flags.add("--equivalence=PERCENT", &asked.equivalence_percent,
            "an interval within ± this is the same");
  flags.add("--lengths=PERCENT", &asked.length_percent, "by how much mean ISL and OSL may differ");
  flags.add("--errors=PERCENT", &asked.errors_percent, "by how much the failed shares may differ");
  flags.add("--confidence=PERCENT", &asked.confidence_percent, "of all metrics together");
  flags.group("");
  flags.add("--strict", &asked.strict, "exit 5 also when it is not shown that B is no worse");
  flags.add("--junit=FILE", &asked.junit, "write JUnit XML, a test case a metric");
  flags.add("--github", &asked.github, "print annotations for GitHub Actions");
  flags.add("--json", &asked.json, "print the comparison as JSON");
}

}  // namespace assay::cli
