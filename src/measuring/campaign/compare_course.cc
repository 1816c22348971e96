#include "campaign/compare_course.h"

#include <string>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/text.h"
#include "campaign/compared_repeats.h"
#include "campaign/curve/curve_folder.h"
#include "report/comparison.h"

namespace assay::campaign {

Result<void> CompareAsked::understand() {
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
  LoadedRepeats a{};
  LoadedRepeats b{};
  compare::ComparedRun one{};
  compare::ComparedRun two{};
  compare::Comparison result{};
};

// One run a side: by the bootstrap within each.
Result<void> compare_two(const std::string& tokenizer, const compare::CompareOptions& options,
                         DoneComparison& out) {
  ASSIGN_OR_RETURN(out.a.first, load_compared(out.a.repeats.name, tokenizer));
  ASSIGN_OR_RETURN(out.b.first, load_compared(out.b.repeats.name, tokenizer));
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
  ASSIGN_OR_RETURN(out.a, load_repeats(left, a, tokenizer, options, nullptr, refusals));
  out.one = out.a.first->compared(left);
  ASSIGN_OR_RETURN(out.b, load_repeats(right, b, tokenizer, options, &out.one, refusals));
  out.two = out.b.first->compared(right);
  LoadedRepeats equal;
  if (!noise.empty()) {
    ASSIGN_OR_RETURN(equal, load_repeats("--noise", noise, tokenizer, options, &out.one, refusals));
  }
  if (refusals.empty()) {
    compare::compare_repeats(out.a.repeats, out.b.repeats, equal.repeats, options, out.result);
  }
  return {};
}

Result<DoneComparison> compare_sides(const std::string& a, const std::string& b,
                                     const CompareAsked& flags, const std::string& tokenizer) {
  DoneComparison out;
  out.a.repeats.name = a;
  out.b.repeats.name = b;
  const std::vector<std::string> left = runs_in(a);
  const std::vector<std::string> right = runs_in(b);
  std::vector<std::string> noise;
  for (const std::string& folder : flags.noise) {
    const std::vector<std::string> runs = runs_in(folder);
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

Result<int> compare_folders(const std::string& a, const std::string& b, const CompareAsked& flags,
                            const std::string& tokenizer, const Talk& talk) {
  ASSIGN_OR_RETURN(const DoneComparison done, compare_sides(a, b, flags, tokenizer));
  const compare::Comparison& comparison = done.result;
  const compare::ComparedRun& one = done.one;
  const compare::ComparedRun& two = done.two;
  if (!flags.junit.empty()) {
    TRY(write_file_atomic(flags.junit, report::comparison_junit(comparison, one, two)));
  }
  if (flags.json) {
    talk.print(compare::comparison_json(comparison, one, two, flags.options).dump(2) + "\n");
  } else {
    talk.print(
        report::comparison_report(comparison, one, two, flags.options, report::terminal_style(1)));
  }
  if (flags.github) {
    const std::string text = report::comparison_github(comparison, one, two);
    flags.json ? talk.paint(text) : talk.print(text);
  }
  if (!comparison.comparable()) return exit_code(ExitCode::not_comparable);
  const bool fail = comparison.worse() || (flags.strict && comparison.unresolved());
  return exit_code(fail ? ExitCode::worse : ExitCode::done);
}

Result<int> compare_sides_of(const std::string& a, const std::string& b, CompareAsked& compare,
                             const SafetyCompare& safety, const std::string& tokenizer,
                             const Talk& talk) {
  TRY(compare.understand());
  if (safety.wanted()) return compare_safety_of(a, b, compare, safety, talk);
  for (const std::string& folder : {a, b}) {
    if (!CurveFolder::is_curve(folder)) continue;
    return invalid(
        format("'{}' is a curve, and compare takes two runs\n  assay decide {} {} --slo "
               "'ttft_p90<=2s' says which of two curves serves more users\n  --safety compares "
               "their safety runs, prompt by prompt",
               folder, a, b));
  }
  if (compare.accuracy || compare.accuracy_points) return compare_accuracy_of(a, b, compare, talk);
  return compare_folders(a, b, compare, tokenizer, talk);
}

}  // namespace assay::campaign
