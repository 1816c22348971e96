#include "rules/write_report.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/json_list.h"
#include "base/markup.h"
#include "base/text.h"
#include "base/version.h"
#include "rules/catalogue.h"
#include "rules/inference/rule.h"

namespace assay::rules {
namespace {

std::string where_of(const Finding& finding) {
  if (finding.where.file.empty()) return ".";
  return finding.where.line > 0 ? format("{}:{}", finding.where.file, finding.where.line)
                                : finding.where.file;
}

std::string_view sarif_level(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "none";
}

// Writes a path as a URI reference: escapes what RFC 3986 does not allow.
std::string uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Json sarif_result(const Finding& finding, std::size_t rule_index) {
  Json location;
  location.set("artifactLocation",
               Json().set("uri", uri(finding.where.file)).set("uriBaseId", "SUBMISSION"));
  if (finding.where.line > 0) {
    location.set("region", Json().set("startLine", finding.where.line));
  }
  Json result;
  result.set("ruleId", finding.rule)
      .set("ruleIndex", rule_index)
      .set("level", sarif_level(finding.severity))
      .set("message", Json().set("text", message_of(finding) + ". " + finding.fix));
  Json places = Json::array();
  if (!finding.where.file.empty()) {
    places.push_back(Json().set("physicalLocation", std::move(location)));
  }
  return result.set("locations", std::move(places));
}

std::vector<Rule> all_of(bool of_inference) {
  if (!of_inference) return catalogue();
  std::vector<Rule> out;
  for (const inference::InferenceRule& one : inference::catalogue()) out.push_back(one.rule);
  return out;
}

Json rule_json(const Rule& rule) {
  return Json()
      .set("rule", rule.id)
      .set("group", rule.group)
      .set("severity", to_string(rule.severity))
      .set("action", to_string(rule.action))
      .set("clause", rule.clause)
      .set("demand", rule.demand)
      .set("fix", rule.fix);
}

// Findings that differ only in their place, ordered by it.
using Sameness = std::vector<const Finding*>;

// In the order of each one's first file; within a file as they were found.
std::vector<Sameness> same_findings(const CheckReport& report, bool strict, bool quiet) {
  std::vector<const Finding*> shown;
  for (const Finding& finding : report.findings) {
    const bool wanted = finding.severity == Severity::error ||
                        (finding.severity == Severity::warning && (strict || !quiet));
    if (wanted) shown.push_back(&finding);
  }
  std::ranges::stable_sort(shown, {}, [](const Finding* one) { return one->where.file; });
  std::vector<Sameness> out;
  std::map<std::string, std::size_t> seen;
  for (const Finding* const one : shown) {
    // No finding's text has a line's end.
    const std::string what = format("{}\n{}\n{}\n{}\n{}\n{}", one->rule, to_string(one->severity),
                                    one->found, one->expected, one->fix, one->clause);
    const auto [it, first] = seen.try_emplace(what, out.size());
    if (first) out.emplace_back();
    out[it->second].push_back(one);
  }
  return out;
}

std::string other_places(const Sameness& findings) {
  constexpr std::size_t kNamed = 4;
  std::string out;
  for (std::size_t i = 1; i < findings.size() && i <= kNamed; ++i) {
    out += (i > 1 ? ", " : "") + where_of(*findings[i]);
  }
  if (findings.size() > kNamed + 1) out += format(" and {} more", findings.size() - kNamed - 1);
  return out;
}

}  // namespace

std::string message_of(const Finding& finding) {
  return finding.expected.empty() ? finding.found
                                  : finding.found + "; expected: " + finding.expected;
}

std::string report_text(const CheckReport& report, bool strict, bool quiet) {
  std::string out;
  for (const Sameness& one : same_findings(report, strict, quiet)) {
    const Finding& finding = *one.front();
    out += format("{}: {}: {} [{}]\n", where_of(finding), to_string(finding.severity),
                  finding.found, finding.rule);
    if (one.size() > 1) out += format("    also in:  {}\n", other_places(one));
    if (!finding.expected.empty()) out += format("    expected: {}\n", finding.expected);
    if (!finding.fix.empty()) out += format("    fix:      {}\n", finding.fix);
    out += format("    clause:   {}\n", finding.clause);
  }
  if (!out.empty()) out += "\n";
  int asked = 0;
  for (const RuleOutcome& outcome : report.rules) asked += outcome.asked > 0 ? 1 : 0;
  out += format("{}: {}, {}, {}; {} of {} rules of {} {} applied\n", report.path,
                counted(report.systems, "system"),
                counted(report.curves, report.inference ? "model" : "curve"),
                counted(report.points, report.inference ? "result" : "point"), asked,
                report.rules.size(), report.inference ? "round" : "edition", report.edition);
  out += format("{}: {}, {}\n", report.clean(strict) ? "clean" : "not clean",
                counted(report.count(Severity::error), "error"),
                counted(report.count(Severity::warning), "warning"));
  return out;
}

Json report_json(const CheckReport& report, bool strict) {
  Json results = Json::array();
  for (const Finding& finding : report.findings) {
    results.push_back(Json()
                          .set("rule", finding.rule)
                          .set("message", message_of(finding))
                          .set("severity", to_string(finding.severity))
                          .set("path", finding.where.file)
                          .set("spec_ref", finding.clause)
                          .set("line", finding.where.line)
                          .set("found", finding.found)
                          .set("expected", finding.expected)
                          .set("fix", finding.fix)
                          .set("action", to_string(finding.action)));
  }
  Json rules = Json::array();
  for (const RuleOutcome& outcome : report.rules) {
    rules.push_back(Json()
                        .set("rule", outcome.rule->id)
                        .set("group", outcome.rule->group)
                        .set("asked", outcome.asked)
                        .set("errors", outcome.errors)
                        .set("warnings", outcome.warnings)
                        .set("infos", outcome.infos));
  }
  return Json()
      .set("submission_path", report.path)
      .set("edition", report.edition)
      .set("assay_version", version())
      .set("clean", report.clean(strict))
      .set("strict", strict)
      .set("errors", report.count(Severity::error))
      .set("warnings", report.count(Severity::warning))
      .set("systems", report.systems)
      .set("curves", report.curves)
      .set("points", report.points)
      .set("results", std::move(results))
      .set("rules", std::move(rules));
}

Json report_sarif(const CheckReport& report) {
  std::map<std::string_view, std::size_t> indices;
  Json rules = Json::array();
  for (const Rule& rule : all_of(report.inference)) {
    indices[rule.id] = rules.size();
    rules.push_back(
        Json()
            .set("id", rule.id)
            .set("shortDescription", Json().set("text", rule.demand))
            .set("help", Json().set("text", rule.fix))
            .set("defaultConfiguration", Json().set("level", sarif_level(rule.severity)))
            .set("properties", Json()
                                   .set("clause", rule.clause)
                                   .set("action", to_string(rule.action))
                                   .set("tags", Json().push_back(rule.group))));
  }
  Json results = Json::array();
  for (const Finding& finding : report.findings) {
    results.push_back(sarif_result(finding, indices[finding.rule]));
  }
  Json driver;
  driver.set("name", "assay check").set("version", version()).set("rules", std::move(rules));
  Json run;
  run.set("tool", Json().set("driver", std::move(driver)))
      .set("originalUriBaseIds",
           Json().set("SUBMISSION",
                      Json().set("description", Json().set("text", "the submission's root"))))
      .set("columnKind", "unicodeCodePoints")
      .set("results", std::move(results));
  return Json()
      .set("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      .set("version", "2.1.0")
      .set("runs", Json().push_back(std::move(run)));
}

std::string report_junit(const CheckReport& report, bool strict) {
  std::map<std::string_view, std::string> failures;
  std::map<std::string_view, std::string> remarks;
  for (const Finding& finding : report.findings) {
    const bool fails =
        finding.severity == Severity::error || (strict && finding.severity == Severity::warning);
    (fails ? failures : remarks)[finding.rule] +=
        format("{}: {}: {}\n", where_of(finding), to_string(finding.severity), message_of(finding));
  }
  int failed = 0;
  int skipped = 0;
  std::string cases;
  for (const RuleOutcome& outcome : report.rules) {
    const Rule& rule = *outcome.rule;
    cases += format("    <testcase classname=\"assay.check.{}\" name=\"{}\">\n",
                    markup_text(rule.group), markup_text(rule.id));
    if (const auto failure = failures.find(rule.id); failure != failures.end()) {
      ++failed;
      cases += format("      <failure message=\"{}\">{}</failure>\n", markup_text(rule.demand),
                      markup_text(failure->second));
    } else if (outcome.asked == 0) {
      ++skipped;
      cases += "      <skipped message=\"nothing in the tree for this rule\"/>\n";
    }
    if (const auto remark = remarks.find(rule.id); remark != remarks.end()) {
      cases += format("      <system-out>{}</system-out>\n", markup_text(remark->second));
    }
    cases += "    </testcase>\n";
  }
  const std::string counts = format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
                                    report.rules.size(), failed, skipped);
  return format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n{2}  </testsuite>\n</testsuites>\n",
      counts, markup_text("assay check " + report.path), cases);
}

std::string rules_markdown(bool of_inference) {
  std::string out;
  std::string_view group;
  for (const Rule& rule : all_of(of_inference)) {
    if (rule.group != group) {
      group = rule.group;
      out += format(
          "{}### {}\n\n| Rule | Worst | The rules' action | Demands | Fix "
          "|\n|---|---|---|---|---|\n",
          out.empty() ? "" : "\n", group);
    }
    out +=
        format("| `{}` | {} | {} | {} | {} |\n", rule.id, to_string(rule.severity),
               rule.action == Action::none ? "–" : to_string(rule.action), rule.demand, rule.fix);
  }
  return out;
}

Json rules_json(bool of_inference) { return json_list(all_of(of_inference), rule_json); }

}  // namespace assay::rules
