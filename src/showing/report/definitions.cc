#include "report/definitions.h"

#include <algorithm>
#include <string_view>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "report/quantity.h"

namespace assay::report {
namespace {

using metrics::DefinedPoint;
using metrics::DefinedSeries;
using metrics::Definition;

constexpr std::size_t kDefinitionNameColumns = 16;
constexpr std::size_t kDefinitionColumns = 9;

std::string cell(const DefinedSeries& series, double value) {
  if (series.count == 0) return pad_left("–", kDefinitionColumns);
  return pad_left(value == 0 ? "0" : quantity_text(Quantity::duration, value), kDefinitionColumns);
}

struct Block {
  std::string_view title{};
  DefinedSeries DefinedPoint::*series = nullptr;
  std::string_view Definition::*rule = nullptr;
};

// The rule beside the numbers where it fits, else on its own lines.
std::string rule_lines(const std::string& line, std::string_view rule, const TerminalStyle& style) {
  const std::size_t room = style.columns - std::min(style.columns, display_width(line) + 2);
  if (room >= display_width(rule)) {
    return line + "  " + paint(style, Ink::faint, std::string(rule)) + "\n";
  }
  return line + "\n" +
         paint(style, Ink::faint,
               wrap(rule, style.columns, std::string(kDefinitionNameColumns + 2, ' '))) +
         "\n";
}

std::string block_lines(const Block& block, const std::vector<DefinedPoint>& points,
                        const TerminalStyle& style) {
  std::string head = pad_right(block.title, kDefinitionNameColumns);
  for (const std::string_view name : {"mean", "P50", "P90", "P99"}) {
    head += pad_left(name, kDefinitionColumns);
  }
  std::string out = paint(style, Ink::strong, head) + "\n";
  for (const DefinedPoint& point : points) {
    const DefinedSeries& series = point.*block.series;
    std::string line = "  " + pad_right(point.definition->name, kDefinitionNameColumns - 2);
    line += cell(series, series.mean);
    for (std::size_t i = 0; i < 3; ++i) line += cell(series, series.percentiles[i]);
    out += rule_lines(line, point.definition->*block.rule, style);
  }
  return out + "\n";
}

std::string_view window_text(metrics::WindowRule rule) {
  switch (rule) {
    case metrics::WindowRule::run:
      return "start of the measured phase to its last end";
    case metrics::WindowRule::requests:
      return "first request's start to the last one's end";
    case metrics::WindowRule::successes:
      return "first successful request's start to the last one's end";
    case metrics::WindowRule::none:
      return "no rate is defined";
  }
  return "";
}

std::string_view percentile_text(metrics::PercentileRule rule) {
  switch (rule) {
    case metrics::PercentileRule::lower:
      return "a value that occurred, the lower one";
    case metrics::PercentileRule::linear:
      return "linear between neighbours (numpy)";
    case metrics::PercentileRule::inverse:
      return "the least value that reaches the share";
    case metrics::PercentileRule::buckets:
      return "within histogram buckets that double";
  }
  return "";
}

std::string rate_cell(bool known, double value) {
  return pad_left(known ? three_digits(value) : "–", kDefinitionColumns);
}

std::string rates_block(const std::vector<DefinedPoint>& points, const TerminalStyle& style) {
  std::string head = pad_right("throughput", kDefinitionNameColumns);
  for (const std::string_view name : {"query/s", "tok/s", "window", "failed"}) {
    head += pad_left(name, kDefinitionColumns);
  }
  std::string out = paint(style, Ink::strong, head) + "\n";
  for (const DefinedPoint& point : points) {
    const bool rates = point.window.ns > 0;
    std::string line = "  " + pad_right(point.definition->name, kDefinitionNameColumns - 2);
    line += rate_cell(rates, point.qps);
    line += rate_cell(rates && point.tokens_known, point.tps);
    line += pad_left(rates ? human_duration(point.window) : "–", kDefinitionColumns);
    line += pad_left(with_thousands(static_cast<std::int64_t>(point.failed)), kDefinitionColumns);
    out += rule_lines(
        line,
        format("{}; failures: {}; percentiles: {}; tokens by {}",
               window_text(point.definition->window), point.definition->failures,
               percentile_text(point.definition->percentiles), metrics::token_basis_text(point)),
        style);
  }
  return out + "\n";
}

}  // namespace

std::string definitions_report(const std::vector<DefinedPoint>& points,
                               const TerminalStyle& given) {
  TerminalStyle style = given;
  style.columns = std::max<std::size_t>(style.columns, 76);
  const Block blocks[] = {
      {"TTFT", &DefinedPoint::ttft, &Definition::ttft},
      {"TPOT", &DefinedPoint::tpot, &Definition::tpot},
      {"ITL", &DefinedPoint::itl, &Definition::itl},
      {"latency", &DefinedPoint::latency, &Definition::latency},
  };
  std::string out;
  for (const Block& block : blocks) out += block_lines(block, points, style);
  out += rates_block(points, style);
  out += paint(style, Ink::strong, "read from") + "\n";
  for (const DefinedPoint& point : points) {
    out += wrap(format("{}: {}", point.definition->name, point.definition->source), style.columns,
                "  ") +
           "\n";
  }
  return out;
}

}  // namespace assay::report
