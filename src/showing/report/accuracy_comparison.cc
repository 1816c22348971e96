#include "report/accuracy_comparison.h"

#include "base/format.h"
#include "base/text.h"

namespace assay::report {
namespace {

using compare::AccuracyComparison;
using compare::AccuracyOptions;
using compare::AccuracyTest;
using compare::AccuracyVerdict;

std::string verdict_words(const AccuracyComparison& c, const AccuracyOptions& options) {
  const bool has_margin = options.margin_points.has_value();
  const std::string margin =
      has_margin ? format(" (margin {:.4g} points)", *options.margin_points) : std::string();
  switch (c.verdict) {
    case AccuracyVerdict::better:
      return "B is better";
    case AccuracyVerdict::as_good:
      return "B is as good" + margin;
    case AccuracyVerdict::worse:
      return "B is worse" + margin;
    case AccuracyVerdict::unresolved:
      return has_margin ? "not resolved: B is not shown to be as good, nor to be worse" + margin
                        : "not resolved: no difference is shown; whether B is as good needs "
                          "--accuracy-margin";
  }
  return {};
}

std::string basis_words(const AccuracyComparison& c) {
  switch (c.test) {
    case AccuracyTest::mcnemar_exact:
      return format("exact McNemar, {} samples: only A is right on {}, only B on {}", c.samples,
                    c.only_a, c.only_b);
    case AccuracyTest::paired_t:
      return format("paired t test, {} samples", c.samples);
    case AccuracyTest::paired_bootstrap:
      return format("paired bootstrap, {} samples", c.samples);
  }
  return {};
}

}  // namespace

std::string accuracy_comparison_text(const compare::AccuracyComparisons& comparison,
                                     std::string_view a, std::string_view b,
                                     const AccuracyOptions& options) {
  std::string out = format("A  {}\nB  {}\n\n", a, b);
  if (!comparison.comparable()) {
    out += "not comparable: the two scores are not of the same work\n";
    for (const std::string& one : comparison.refusals) out += format("  {}\n", one);
    return out;
  }
  for (const AccuracyComparison& c : comparison.figures) {
    out += format("  {}, {}: {}\n", c.dataset, c.figure, verdict_words(c, options));
    out += format("    A {:.4g}, B {:.4g}: difference {:+.2f} points", c.a, c.b, c.difference);
    if (c.low && c.high) {
      out += format(" ({:g} % interval {:+.2f} to {:+.2f})", 100 * (1 - options.alpha), *c.low,
                    *c.high);
    }
    out += format(", {} ({})\n", p_text(c.p), basis_words(c));
  }
  return out + "\n  A difference above 0 is better. Intervals hold for all figures together.\n";
}

}  // namespace assay::report
