#include "report/noise.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "report/quantity.h"

namespace assay::report {
namespace {

using compare::MetricNoise;
using compare::NoiseAnswer;

constexpr std::size_t kNoiseNameColumns = 15;
constexpr std::size_t kFigureColumns = 11;
constexpr std::size_t kChangeColumns = 10;

std::string needed_text(const std::optional<std::size_t>& runs) {
  return runs ? with_thousands(static_cast<std::int64_t>(*runs)) : "–";
}

std::string change_text(double change) { return format("{:g} %", 100 * change); }

std::string line_of(const MetricNoise& one) {
  const std::string typical = compare::higher_is_better(one.metric)
                                  ? three_digits(one.typical) + "/s"
                                  : quantity_text(Quantity::duration, one.typical);
  std::string out = "  " + pad_right(to_string(one.metric), kNoiseNameColumns) +
                    pad_left(typical, kFigureColumns) +
                    pad_left(format("±{:.2g} %", 100 * one.spread.deviation), kFigureColumns) +
                    pad_left(format("±{:.2g} %", 100 * one.spread.within), kFigureColumns);
  for (const auto& runs : one.runs) out += pad_left(needed_text(runs), kChangeColumns);
  return out + "\n";
}

// The most runs that any metric asks for, as a sentence.
std::string sentence(const NoiseAnswer& answer, std::size_t change) {
  const std::string size = change_text(answer.changes[change]);
  const auto asks = [change](const MetricNoise& one) {
    return one.runs[change].value_or(compare::kRunsMax + 1);
  };
  const auto most = std::ranges::max_element(answer.metrics, {}, asks);
  if (!most->runs[change]) {
    return format("A change of {} in {} is shown by no number of such runs up to {}.", size,
                  to_string(most->metric), with_thousands(compare::kRunsMax));
  }
  const std::size_t runs = *most->runs[change];
  return format(
      "A change of {} in any of them is shown by {} {} of each side{}.", size, needed_text(runs),
      runs == 1 ? "run" : "runs",
      runs == 1 ? std::string() : format("; {} asks for the most", to_string(most->metric)));
}

}  // namespace

std::string noise_report(const NoiseAnswer& answer, const TerminalStyle& given) {
  TerminalStyle style = given;
  style.columns = std::max<std::size_t>(style.columns, 80);
  std::string out = format("{}: {} runs\n\n", printable(answer.name), answer.runs);
  for (const std::string& refusal : answer.refusals) {
    out += paint(style, Ink::bad, wrap("! " + refusal, style.columns, "  ")) + "\n";
  }
  if (!answer.refusals.empty()) return out + "\nnot equal runs, for the reasons above\n";
  for (const std::string& note : answer.notes) {
    out += paint(style, Ink::warning, wrap("note: " + note, style.columns, "  ")) + "\n";
  }
  std::string head = "  " + pad_right("", kNoiseNameColumns) + pad_left("typical", kFigureColumns) +
                     pad_left("from run", kFigureColumns) + pad_left("within", kFigureColumns);
  std::string under = "  " + pad_right("", kNoiseNameColumns) + pad_left("", kFigureColumns) +
                      pad_left("to run", kFigureColumns) + pad_left("a run", kFigureColumns);
  for (const double change : answer.changes) {
    head += pad_left("runs for", kChangeColumns);
    under += pad_left(change_text(change), kChangeColumns);
  }
  out += paint(style, Ink::faint, head) + "\n" + paint(style, Ink::faint, under) + "\n";
  for (const MetricNoise& one : answer.metrics) out += line_of(one);
  out += "\n";
  for (std::size_t i = 0; i < answer.changes.size() && !answer.metrics.empty(); ++i) {
    out += paint(style, Ink::strong, wrap(sentence(answer, i), style.columns, "")) + "\n";
  }
  out += paint(style, Ink::faint,
               wrap(format("Runs of each side with which assay compare calls it worse in {:g} of "
                           "100 cases (margin {:g} %, confidence {:g} % of all metrics together), "
                           "if the two are measured in turns and with --noise of these runs. ± is "
                           "one standard deviation.",
                           100 * answer.power, 100 * answer.margin, 100 * (1 - answer.alpha)),
                    style.columns, "")) +
         "\n";
  return out;
}

}  // namespace assay::report
