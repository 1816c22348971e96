#include "cli/results/compare_flags.h"

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/compared_repeats.h"
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

namespace {

// A comparison with what its reports need. The runs stay as long as it does.
struct DoneComparison {
  campaign::LoadedRepeats a{};
  campaign::LoadedRepeats b{};
  compare::ComparedRun one{};
  compare::ComparedRun two{};
  compare::Comparison result{};
};

// One run a side: by the bootstrap within each.
Result<void> compare_two(const std::string& tokenizer, const compare::CompareOptions& options,
                         DoneComparison& out) {
  ASSIGN_OR_RETURN(out.a.first, campaign::load_compared(out.a.repeats.name, tokenizer));
  ASSIGN_OR_RETURN(out.b.first, campaign::load_compared(out.b.repeats.name, tokenizer));
  out.one = out.a.first->compared(out.a.repeats.name);
  out.two = out.b.first->compared(out.b.repeats.name);
  out.result = compare::compare_runs(out.one, out.two, options);
  return {};
}

Result<void> compare_many(const std::vector<std::string>& a, const std::vector<std::string>& b,
                          const std::vector<std::string>& noise, const std::string& tokenizer,
                          const compare::CompareOptions& options, DoneComparison& out) {
  std::vector<std::string>& refusals = out.result.refusals;
  const std::string left = out.a.repeats.name;
  const std::string right = out.b.repeats.name;
  ASSIGN_OR_RETURN(out.a, campaign::load_repeats(left, a, tokenizer, options, nullptr, refusals));
  out.one = out.a.first->compared(left);
  ASSIGN_OR_RETURN(out.b, campaign::load_repeats(right, b, tokenizer, options, &out.one, refusals));
  out.two = out.b.first->compared(right);
  campaign::LoadedRepeats equal;
  if (!noise.empty()) {
    ASSIGN_OR_RETURN(
        equal, campaign::load_repeats("--noise", noise, tokenizer, options, &out.one, refusals));
  }
  if (refusals.empty()) {
    compare::compare_repeats(out.a.repeats, out.b.repeats, equal.repeats, options, out.result);
  }
  return {};
}

Result<DoneComparison> compare_sides(const std::string& a, const std::string& b,
                                     const CompareFlags& flags, const std::string& tokenizer) {
  DoneComparison out;
  out.a.repeats.name = a;
  out.b.repeats.name = b;
  const std::vector<std::string> left = campaign::runs_in(a);
  const std::vector<std::string> right = campaign::runs_in(b);
  std::vector<std::string> noise;
  for (const std::string& folder : flags.noise) {
    const std::vector<std::string> runs = campaign::runs_in(folder);
    noise.insert(noise.end(), runs.begin(), runs.end());
  }
  if (left.size() == 1 && right.size() == 1 && noise.empty()) {
    TRY(compare_two(tokenizer, flags.options, out));
    return out;
  }
  if (left.size() == 1 && right.size() == 1 && noise.size() == 1) {
    return invalid(
        format("--noise: '{}' is one run; how far equal runs differ takes two at least, better "
               "five\n  a folder of run folders is several",
               noise.front()));
  }
  TRY(compare_many(left, right, noise, tokenizer, flags.options, out));
  return out;
}

}  // namespace

Result<int> compare_folders(const std::string& a, const std::string& b, const CompareFlags& flags,
                            const std::string& tokenizer) {
  ASSIGN_OR_RETURN(const DoneComparison done, compare_sides(a, b, flags, tokenizer));
  const compare::Comparison& comparison = done.result;
  const compare::ComparedRun& one = done.one;
  const compare::ComparedRun& two = done.two;
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
