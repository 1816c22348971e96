#include "cli/results/compare_flags.h"

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/compared_side.h"
#include "cli/console.h"
#include "report/comparison.h"

namespace assay::cli {
void CompareFlags::add_to(Flags& flags) {
  flags.add("--metrics", &metric_list, "which: ttft_p95,tpot_p90,itl_p99,system_tps, …")
      .value("LIST");
  const std::string_view margins = "Margins, in percent";
  flags.add("--regression", &regression_percent, "a harm up to this is no regression")
      .value("PERCENT")
      .group(margins);
  flags.add("--equivalence", &equivalence_percent, "an interval within ± this is the same")
      .value("PERCENT")
      .group(margins);
  flags.add("--lengths", &length_percent, "by how much mean ISL and OSL may differ")
      .value("PERCENT")
      .group(margins);
  flags.add("--errors", &errors_percent, "by how much the failed shares may differ")
      .value("PERCENT")
      .group(margins);
  flags.add("--confidence", &confidence_percent, "of all metrics together")
      .value("PERCENT")
      .group(margins);
  flags.add("--strict", &strict, "exit 5 also when it is not shown that B is no worse");
  flags.add("--junit", &junit, "write JUnit XML, a test case a metric").value("FILE");
  flags.add("--github", &github, "print annotations for GitHub Actions");
  flags.add("--json", &json, "print the comparison as JSON");
}

Result<void> CompareFlags::understand() {
  struct Margin {
    std::string_view flag{};
    double typed = 0;
    double* to = nullptr;
  };
  double confidence_share = 0;
  for (const Margin& margin :
       {Margin{"--regression", regression_percent, &options.regression_margin},
        Margin{"--equivalence", equivalence_percent, &options.equivalence_margin},
        Margin{"--lengths", length_percent, &options.length_margin},
        Margin{"--errors", errors_percent, &options.error_margin},
        Margin{"--confidence", confidence_percent, &confidence_share}}) {
    if (!(margin.typed >= 0 && margin.typed <= 100)) {
      return invalid(format("{}: must be from 0 to 100 percent", margin.flag));
    }
    *margin.to = margin.typed / 100;
  }
  if (confidence_share <= 0.5 || confidence_share > 0.9999) {
    return invalid("--confidence: must be above 50 and at most 99.99 percent");
  }
  options.alpha = 1 - confidence_share;
  accuracy_options.alpha = options.alpha;
  if (metric_list.empty()) return {};
  options.metrics.clear();
  for (const std::string_view name : split(metric_list, ',')) {
    const auto metric = compare::compared_metric_from(trim(name));
    if (!metric) {
      return invalid(format("--metrics: no metric \"{}\"\n  there are {}", trim(name),
                            compare::compared_metric_names()));
    }
    options.metrics.push_back(*metric);
  }
  return {};
}

Result<int> compare_folders(const std::string& a, const std::string& b, const CompareFlags& flags,
                            const std::string& tokenizer) {
  ASSIGN_OR_RETURN(const auto left, campaign::load_compared(a, tokenizer));
  ASSIGN_OR_RETURN(const auto right, campaign::load_compared(b, tokenizer));
  const compare::ComparedRun one = left->compared(a);
  const compare::ComparedRun two = right->compared(b);
  const compare::Comparison comparison = compare::compare_runs(one, two, flags.options);
  if (!flags.junit.empty()) {
    TRY(write_file_atomic(flags.junit, report::comparison_junit(comparison, one, two)));
  }
  if (flags.json) {
    print(compare::comparison_json(comparison, one, two, flags.options).dump(2) + "\n");
  } else {
    print(
        report::comparison_report(comparison, one, two, flags.options, report::terminal_style(1)));
  }
  if (flags.github) {
    const std::string text = report::comparison_github(comparison, one, two);
    flags.json ? write_error(text) : print(text);
  }
  if (!comparison.comparable()) return exit_code(ExitCode::not_comparable);
  const bool fail = comparison.worse() || (flags.strict && comparison.unresolved());
  return exit_code(fail ? ExitCode::worse : ExitCode::done);
}

}  // namespace assay::cli
