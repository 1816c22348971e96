#include "report/markdown.h"

#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/text.h"
#include "report/score_table.h"

namespace assay::report {
namespace {

// A fence that the text inside can't close.
std::string fenced(std::string_view language, std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool ends = text.ends_with('\n');
  return format("{}{}\n{}{}{}\n", fence, language, text, ends ? "" : "\n", fence);
}

std::string markdown_headlines(const Content& content) {
  std::string names = "|";
  std::string rule = "|";
  std::string values = "|";
  for (const Headline& headline : content.headlines) {
    names += " " + headline.label + " |";
    rule += " --- |";
    values +=
        format(" **{}**{}{} |", headline.value, headline.unit.empty() ? "" : " ", headline.unit);
    if (!headline.doubt.empty()) values.insert(values.size() - 2, " (" + headline.doubt + ")");
  }
  // Labels are ours, with underscores that markdown leaves alone inside a word.
  return names + "\n" + rule + "\n" + values + "\n";
}

std::string distributions(const Content& content) {
  if (content.distributions.empty()) return {};
  std::string out = "\n## Distributions\n\n| |";
  std::string rule = "| --- |";
  for (const double p : kShownPercentiles) {
    out += " " + percentile_name(p) + " |";
    rule += " ---: |";
  }
  out += " mean | max | values |\n" + rule + " ---: | ---: | ---: |\n";
  for (const DistributionRow& row : content.distributions) {
    const bool tokens = row.quantity == Quantity::count;
    out += format("| {}{}{} |", row.part ? "… " : "", row.name, tokens ? " tokens" : "");
    for (const double p : kShownPercentiles) {
      std::string cell = percentile_cell(row, p);
      // Two tildes in a line would strike out the text between them.
      if (cell.starts_with('~')) cell.insert(0, "\\");
      out += " " + cell + " |";
    }
    out += format(" {} | {} | {} |\n", value_cell(row, row.series->mean),
                  value_cell(row, row.series->max), count_text(row.series->count));
  }
  if (has_few_values(content)) out += format("\n\\{}\n", kFewValuesNote);
  return out;
}

std::string fact_table(std::string_view title, const std::vector<Fact>& facts) {
  if (facts.empty()) return {};
  std::string out = format("\n## {}\n\n| | |\n| --- | --- |\n", title);
  for (const Fact& fact : facts) {
    out += format("| {} | {} |\n", markdown_escape(fact.name), markdown_escape(fact.text));
  }
  return out;
}

std::string markdown_scores(const Json& accuracy) {
  const ScoreTable table = score_table(accuracy);
  if (table.scores.empty()) return {};
  std::string out =
      "\n## Scores\n\n| dataset | figure | score | interval | samples | replies |\n"
      "| --- | --- | ---: | --- | ---: | --- |\n";
  for (const ScoreRow& row : table.scores) {
    out += format("| {} | {}{} | {} | {} | {} | {} |\n", markdown_escape(row.dataset),
                  row.part ? "… " : "", markdown_escape(row.figure), markdown_escape(row.score),
                  markdown_escape(row.interval), row.samples, row.replies);
  }
  for (const std::string& note : table.notes) out += format("\n{}\n", markdown_escape(note));
  if (table.demands.empty()) return out;
  out += format("\n{}:\n\n| metric | value | demanded | verdict |\n| --- | ---: | --- | --- |\n",
                markdown_escape(table.demanded_by));
  for (const DemandRow& row : table.demands) {
    out += format("| {} | {} | {} | {} |\n", markdown_escape(row.metric), row.value,
                  markdown_escape(row.demand), row.verdict);
  }
  return out;
}

std::string markdown_failures(const Content& content) {
  if (content.failures.empty()) return {};
  std::string out =
      "\n## Failures\n\n| class | count | share | meaning | example |\n"
      "| --- | ---: | ---: | --- | --- |\n";
  for (const FailureRow& row : content.failures) {
    const std::string example = row.example.empty() ? "" : row.where + ": " + row.example;
    out += format("| {} | {} | {} | {} | {} |\n", row.outcome, count_text(row.count),
                  share_text(row.share), row.about, markdown_escape(example));
  }
  return out;
}

std::string markdown_files(const RunContext& context) {
  if (context.files.empty()) return {};
  std::string out = format(
      "\n## Files\n\nIn {}:\n\n| file | what | size | sha256 |\n| --- | --- | ---: | --- |\n",
      markdown_escape(context.folder));
  for (const ReportFile& file : context.files) {
    out += format("| {} | {} | {} | `{}` |\n", markdown_escape(path_in_folder(context, file)),
                  markdown_escape(file.about), human_bytes(file.bytes), file.sha256);
  }
  return out;
}

}  // namespace

std::string markdown_escape(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_{}[]()#+!|~>").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown_report(const metrics::Point& point, const RunContext& context) {
  const Content content = make_content(point, context);
  std::string out = "# assay " + content.command;
  if (!content.target.empty()) out += ": " + markdown_escape(content.target);
  out += "\n\n";
  if (content.simulated) out += "*Simulated: computed by a model, not measured.*\n\n";
  out += markdown_escape(content.verdict) + ".\n\n";
  for (const std::string& warning : content.warnings) {
    out += format("> **Warning:** {}\n>\n", markdown_escape(warning));
  }
  if (!content.warnings.empty()) out.replace(out.size() - 2, 2, "\n");
  for (const Fact& fact : content.test) {
    out += format("- **{}:** {}\n", markdown_escape(fact.name), markdown_escape(fact.text));
  }
  if (!content.test.empty()) out += "\n";
  out += markdown_headlines(content);
  out += distributions(content);
  out += fact_table("What the numbers rest on", content.basis);
  out += markdown_scores(context.accuracy);
  out += markdown_failures(content);
  out += fact_table("The run", content.about);
  if (!context.config_yaml.empty()) {
    out += "\n## Config\n\n" + fenced("yaml", context.config_yaml);
  }
  out += markdown_files(context);
  return out;
}

}  // namespace assay::report
