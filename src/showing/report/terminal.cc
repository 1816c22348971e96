#include "report/terminal.h"

#include <algorithm>
#include <span>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::report {
namespace {

constexpr std::size_t kNameColumns = 12;
constexpr std::size_t kCellColumns = 10;
constexpr std::string_view kIndent = "  ";
constexpr std::size_t kFullColumns = 76;   // four numbers and six figures of a series side by side
constexpr std::size_t kLeastColumns = 56;  // a narrower terminal breaks lines by itself

// Text beside a name, wrapped in its column.
std::string fact_lines(std::string_view name, std::string_view text, std::size_t columns) {
  const std::string indent(kIndent.size() + kNameColumns, ' ');
  std::string out = wrap(text, columns, indent);
  const std::string head = std::string(kIndent) + pad_right(name, kNameColumns);
  if (display_width(head) > indent.size()) return head + "\n" + out + "\n";
  return out.replace(0, indent.size(), head) + "\n";
}

std::string title_line(const Content& content, const TerminalStyle& style) {
  const std::string command = "assay " + content.command;
  const std::size_t indent = std::max(kIndent.size() + kNameColumns, display_width(command) + 1);
  std::string rest(indent - display_width(command), ' ');
  const std::string load = fit(content.load, (style.columns - indent) / 2);
  const std::size_t room = style.columns - indent - display_width(load) - 2;
  rest += fit(content.target, room);
  if (!load.empty())
    rest = pad_right(rest, style.columns - display_width(load) - display_width(command)) + load;
  rest.erase(rest.find_last_not_of(' ') + 1);
  return paint(style, Ink::strong, command) + rest + "\n";
}

std::string warnings(const Content& content, const TerminalStyle& style) {
  std::string out;
  for (const std::string& warning : content.warnings) {
    std::string lines =
        wrap(warning, style.columns, std::string(kIndent.size() + kNameColumns, ' '));
    const std::string head = std::string(kIndent) + pad_right("! warning", kNameColumns);
    lines.erase(0, display_width(head));
    out += paint(style, Ink::warning, head) + lines + "\n";
  }
  return out.empty() ? out : out + "\n";
}

// Names, values and doubts of headlines side by side; a doubt may take several lines.
std::string headline_row(std::span<const Headline> row, std::size_t cell,
                         const TerminalStyle& style) {
  std::string names(kIndent);
  std::string values(kIndent);
  std::vector<std::string> doubts;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const Headline& headline = row[i];
    const std::string value = headline.value + (headline.unit.empty() ? "" : " " + headline.unit);
    const bool bad = headline.name == "failed" && headline.value != "0";
    // The last column is not padded: nothing follows it.
    const std::size_t width = i + 1 < row.size() ? cell : 0;
    names += paint(style, Ink::faint, pad_right(headline.label, width));
    values += paint(style, bad ? Ink::bad : Ink::strong, pad_right(value, width));
    if (headline.doubt.empty()) continue;
    const std::string wrapped = wrap(headline.doubt, cell - 2, "");
    const std::vector<std::string_view> lines = split(wrapped, '\n');
    doubts.resize(std::max(doubts.size(), lines.size()), std::string(kIndent));
    for (std::size_t k = 0; k < lines.size(); ++k) {
      doubts[k] = pad_right(doubts[k], kIndent.size() + i * cell) + std::string(lines[k]);
    }
  }
  std::string out = names + "\n" + values + "\n";
  for (const std::string& line : doubts) out += paint(style, Ink::warning, line) + "\n";
  return out + "\n";
}

// The four numbers, side by side where there is room, else two and two.
std::string headlines(const Content& content, const TerminalStyle& style) {
  const std::span<const Headline> all = content.headlines;
  const std::size_t room = style.columns - kIndent.size();
  if (style.columns >= kFullColumns) return headline_row(all, room / all.size(), style);
  const std::size_t half = all.size() / 2;
  return headline_row(all.first(half), room / half, style) +
         headline_row(all.subspan(half), room / half, style);
}

std::string distribution_line(std::string_view name, const std::vector<std::string>& cells) {
  std::string out = std::string(kIndent) + pad_right(name, kNameColumns);
  for (const std::string& cell : cells) out += pad_left(cell, kCellColumns);
  return out;
}

// A narrow terminal has no room for the last percentile and the mean.
std::string distributions_lines(const Content& content, const TerminalStyle& style) {
  if (content.distributions.empty()) return {};
  const bool full = style.columns >= kFullColumns;
  const std::span<const double> percentiles =
      std::span(kShownPercentiles).first(kShownPercentiles.size() - (full ? 0 : 1));
  std::vector<std::string> heads;
  for (const double p : percentiles) heads.push_back(percentile_name(p));
  if (full) heads.emplace_back("mean");
  heads.emplace_back("max");
  std::string out = paint(style, Ink::faint, distribution_line("", heads)) + "\n";
  for (const DistributionRow& row : content.distributions) {
    std::vector<std::string> cells;
    for (const double p : percentiles) cells.push_back(percentile_cell(row, p));
    if (full) cells.push_back(value_cell(row, row.series->mean));
    cells.push_back(value_cell(row, row.series->max));
    const std::string unit = row.quantity == Quantity::count ? " tokens" : "";
    out += distribution_line((row.part ? "  " : "") + row.name + unit, cells) + "\n";
  }
  if (has_few_values(content)) {
    out += paint(style, Ink::faint, wrap(kFewValuesNote, style.columns, kIndent)) + "\n";
  }
  return out + "\n";
}

std::string failures(const Content& content, const TerminalStyle& style) {
  std::string out;
  for (const FailureRow& row : content.failures) {
    const std::string head =
        format("{} × {}", with_thousands(static_cast<std::int64_t>(row.count)), row.outcome);
    std::string text = format("{} ({}): {}", head, share_text(row.share), row.about);
    if (!row.example.empty())
      text += format(". For example {}: {}", row.where, fit(row.example, 160));
    out += fact_lines(out.empty() ? "failed" : "", text, style.columns);
  }
  return out;
}

std::string files(const RunContext& context, const TerminalStyle& style) {
  if (context.folder.empty()) return {};
  std::string names;
  for (const ReportFile& file : context.files) {
    names += (names.empty() ? "" : ", ") + path_in_folder(context, file);
  }
  std::string out = fact_lines("files", printable(context.folder), style.columns);
  if (!names.empty()) out += fact_lines("", names, style.columns);
  return out;
}

}  // namespace

std::string terminal_report(const metrics::Point& point, const RunContext& context,
                            const TerminalStyle& given) {
  TerminalStyle style = given;
  style.columns = std::max(style.columns, kLeastColumns);
  const Content content = make_content(point, context);
  std::string out = title_line(content, style);
  if (content.simulated) {
    out += std::string(kIndent) + paint(style, Ink::warning, "simulated") +
           ": computed by a model, not measured\n";
  }
  out += "\n" + paint(style, Ink::strong, wrap(content.verdict + ".", style.columns, kIndent)) +
         "\n\n" + warnings(content, style);
  for (const Fact& fact : content.test) out += fact_lines(fact.name, fact.text, style.columns);
  if (!content.test.empty()) out += "\n";
  out += headlines(content, style) + distributions_lines(content, style);
  const std::string failed = failures(content, style);
  out += failed + (failed.empty() ? "" : "\n");
  out += paint(style, Ink::faint, std::string(kIndent) + "in detail") + "\n";
  for (const Fact& fact : content.basis) out += fact_lines(fact.name, fact.text, style.columns);
  out += files(context, style);
  for (const NextStep& next : content.next) {
    out += format("{}{}{}\n", kIndent, pad_right("next", kNameColumns),
                  paint(style, Ink::strong, next.what));
    out += fact_lines("", next.why, style.columns);
  }
  return out;
}

}  // namespace assay::report
