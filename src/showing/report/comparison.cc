#include "report/comparison.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/markup.h"
#include "base/text.h"
#include "report/quantity.h"

namespace assay::report {
namespace {

using compare::Comparison;
using compare::MetricComparison;
using compare::MetricVerdict;
using compare::RepeatCounts;

constexpr std::size_t kMetricNameColumns = 14;
constexpr std::size_t kValueColumns = 11;

std::string value_text(const MetricComparison& m, double value) {
  if (compare::higher_is_better(m.metric)) return three_digits(value) + "/s";
  return quantity_text(Quantity::duration, value);
}

std::string signed_percent(double share) { return format("{:+.1f} %", 100 * share); }

std::string interval_text(const MetricComparison& m) {
  return format("{:+.1f} … {:+.1f} %", 100 * m.low, 100 * m.high);
}

Ink ink_of(MetricVerdict verdict) {
  switch (verdict) {
    case MetricVerdict::better:
      return Ink::good;
    case MetricVerdict::same:
      return Ink::plain;
    case MetricVerdict::unresolved:
      return Ink::warning;
    case MetricVerdict::worse:
      return Ink::bad;
  }
  return Ink::plain;
}

std::string metric_line(const MetricComparison& m, const TerminalStyle& style) {
  return "  " + pad_right(to_string(m.metric), kMetricNameColumns) +
         pad_left(value_text(m, m.a), kValueColumns) + pad_left(value_text(m, m.b), kValueColumns) +
         pad_left(signed_percent(m.effect), 10) + pad_left(interval_text(m), 18) + "  " +
         paint(style, ink_of(m.verdict), std::string(to_string(m.verdict))) + "\n";
}

std::string verdict_sentence(const Comparison& c, const compare::CompareOptions& options) {
  if (!c.comparable()) {
    return format("not comparable, for the {} above",
                  c.refusals.size() == 1 ? "reason" : "reasons");
  }
  std::string worse;
  for (const MetricComparison& m : c.metrics) {
    if (m.verdict != MetricVerdict::worse) continue;
    worse += (worse.empty() ? "" : ", ") + std::string(to_string(m.metric));
  }
  if (!worse.empty()) {
    return format("B is worse by more than {:.1f} %: {}", 100 * options.regression_margin, worse);
  }
  if (c.unresolved()) {
    return format(
        "B is not shown to be worse; some intervals are wider than ±{:.1f} %, so more "
        "{} would be needed to call it the same",
        100 * options.equivalence_margin, c.repeats ? "runs" : "queries");
  }
  return "B is the same or better";
}

std::string basis_sentence(const Comparison& c) {
  if (c.pairs > 0) {
    return format(
        "Intervals hold for all metrics together (bootstrap of {} pairs of blocks, measured in "
        "turns). Each block is drained before the next, so rates are lower than in a run of one "
        "endpoint.",
        c.pairs);
  }
  if (c.repeats) {
    return format(
        "Intervals hold for all metrics together, by how far equal runs differ: {} of A, {} of "
        "B{}; "
        "{:g} degrees of freedom. The figures are geometric means.",
        c.repeats->a, c.repeats->b,
        c.repeats->noise > 0 ? format(", {} to learn the noise", c.repeats->noise) : "",
        c.repeats->degrees);
  }
  return "Intervals hold for all metrics together (block bootstrap of streams in time). Drift "
         "between the two runs is in the effect and not in the interval.";
}

std::string metric_message(const MetricComparison& m) {
  return format("{} {} -> {}, {} ({}), {}", to_string(m.metric), value_text(m, m.a),
                value_text(m, m.b), signed_percent(m.effect), interval_text(m),
                p_text(m.verdict == MetricVerdict::better ? m.p_better : m.p_worse));
}

// Escapes the characters that a workflow command's message and properties can't hold.
std::string github_text(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\n') {
      out += "%0A";
    } else if (c == '\r') {
      out += "%0D";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string comparison_report(const Comparison& comparison, const compare::ComparedRun& a,
                              const compare::ComparedRun& b, const compare::CompareOptions& options,
                              const TerminalStyle& given) {
  TerminalStyle style = given;
  style.columns = std::max<std::size_t>(style.columns, 80);
  const auto count = [](const compare::ComparedRun& run) {
    return with_thousands(static_cast<std::int64_t>(run.point->counts.completed));
  };
  const auto source = [](const compare::ComparedRun& run) {
    return printable(metrics::token_source_text(run.point->tokens));
  };
  const auto runs = [&comparison](std::size_t RepeatCounts::*side) {
    const std::size_t n = comparison.repeats ? (*comparison.repeats).*side : 1;
    return n == 1 ? std::string() : format("{} runs, the first has ", n);
  };
  std::string out =
      format("A  {}  ({}{} queries; tokens: {})\nB  {}  ({}{} queries; tokens: {})\n\n",
             printable(a.name), runs(&RepeatCounts::a), count(a), source(a), printable(b.name),
             runs(&RepeatCounts::b), count(b), source(b));
  for (const std::string& refusal : comparison.refusals) {
    out += paint(style, Ink::bad, wrap("! " + refusal, style.columns, "  ")) + "\n";
  }
  for (const std::string& note : comparison.notes) {
    out += paint(style, Ink::warning, wrap("note: " + note, style.columns, "  ")) + "\n";
  }
  if (comparison.comparable()) {
    const std::string head = "  " + pad_right("", kMetricNameColumns) +
                             pad_left("A", kValueColumns) + pad_left("B", kValueColumns) +
                             pad_left("B / A", 10) +
                             pad_left(format("{:.0f} % interval", 100 * (1 - options.alpha)), 18);
    out += paint(style, Ink::faint, head) + "\n";
    for (const MetricComparison& m : comparison.metrics) out += metric_line(m, style);
  }
  out += "\n" +
         paint(style, Ink::strong, wrap(verdict_sentence(comparison, options), style.columns, "")) +
         "\n";
  if (!comparison.comparable()) return out;
  return out + paint(style, Ink::faint, wrap(basis_sentence(comparison), style.columns, "")) + "\n";
}

std::string comparison_junit(const Comparison& comparison, const compare::ComparedRun& a,
                             const compare::ComparedRun& b) {
  std::string cases;
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (const MetricComparison& m : comparison.metrics) {
    cases += format("  <testcase classname=\"assay.compare\" name=\"{}\">\n", to_string(m.metric));
    const std::string message = markup_text(metric_message(m));
    if (m.verdict == MetricVerdict::worse) {
      ++failures;
      cases += format("    <failure message=\"{}\"/>\n", message);
    } else if (m.verdict == MetricVerdict::unresolved) {
      ++skipped;
      cases += format("    <skipped message=\"unresolved: {}\"/>\n", message);
    } else {
      cases += format("    <system-out>{}: {}</system-out>\n", to_string(m.verdict), message);
    }
    cases += "  </testcase>\n";
  }
  for (const std::string& refusal : comparison.refusals) {
    cases += format(
        "  <testcase classname=\"assay.compare\" name=\"comparable\">\n"
        "    <error message=\"{}\"/>\n  </testcase>\n",
        markup_text(refusal));
  }
  return format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"assay compare {} {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\">\n{}</testsuite>\n",
      markup_text(a.name), markup_text(b.name),
      comparison.metrics.size() + comparison.refusals.size(), failures, comparison.refusals.size(),
      skipped, cases);
}

std::string comparison_github(const Comparison& comparison, const compare::ComparedRun& a,
                              const compare::ComparedRun& b) {
  const auto line = [&](std::string_view level, std::string_view title, std::string_view text) {
    return format("::{} title={}::{}\n", level, github_text(title, true),
                  github_text(format("{} against {}: {}", printable(b.name), printable(a.name),
                                     printable(text)),
                              false));
  };
  std::string out;
  for (const std::string& refusal : comparison.refusals) {
    out += line("warning", "assay compare: not comparable", refusal);
  }
  for (const MetricComparison& m : comparison.metrics) {
    if (m.verdict == MetricVerdict::worse) {
      out += line("error", format("{} is worse", to_string(m.metric)), metric_message(m));
    }
  }
  if (out.empty()) out += line("notice", "assay compare", "the same or better");
  return out;
}

}  // namespace assay::report
