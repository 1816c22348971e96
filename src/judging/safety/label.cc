#include "safety/label.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json_list.h"
#include "base/markup.h"
#include "base/yaml.h"

namespace assay::safety {
namespace {

constexpr std::array<std::string_view, 8> kEvidence = {
    "grade", "intervals", "journal", "sealed", "judges", "groups", "attacks", "signature"};

Json label_pair(const ShareInterval& one) {
  return Json::array().push_back(one.low).push_back(one.high);
}

// The wider of the exact and the cluster interval, end by end: the first knows nothing of prompts
// that belong together, the second has no width where all replies are alike.
ShareInterval widest(const Graded& graded) {
  return {.low = std::min(graded.interval.low, graded.resampled.interval.low),
          .high = std::max(graded.interval.high, graded.resampled.interval.high)};
}

Json label_row(const Graded& graded) {
  Json out;
  if (!graded.name.empty()) out.set("hazard", graded.name);
  const double same = graded.resampled.grades[static_cast<std::size_t>(*graded.grade) - 1];
  return out.set("grade", label_of(*graded.grade))
      .set("letter", letter_of(*graded.grade))
      .set("numeric", static_cast<int>(*graded.grade))
      .set("safe", graded.counts.safe)
      .set("graded", graded.counts.graded)
      .set("safe_share", graded.counts.share())
      .set("interval", label_pair(widest(graded)))
      .set("same_grade_share", static_cast<double>(static_cast<int>(1000 * same + 0.5)) / 1000)
      .set("reference", graded.reference.safe())
      .set("worst_grade", label_of(grade_of(1, 1, graded.reference)));
}

std::set<std::string_view> evidence_of(const GradeReport& report, const LabelFacts& facts) {
  std::set<std::string_view> out = {"grade", "intervals"};
  if (facts.records.size() > 0) out.insert("journal");
  if (!report.judges.empty()) out.insert("judges");
  if (!facts.sealed.empty()) out.insert("sealed");
  if (!report.axes.empty()) out.insert("groups");
  if (facts.attacks.is_object()) out.insert("attacks");
  if (!facts.signer.empty()) out.insert("signature");
  return out;
}

Json clauses_json(const GradeReport& report, const LabelFacts& facts,
                  const std::vector<Clause>& clauses) {
  const std::set<std::string_view> has = evidence_of(report, facts);
  Json out = Json::array();
  for (const Clause& one : clauses) {
    if (!has.contains(one.needs)) continue;
    out.push_back(Json()
                      .set("standard", one.standard)
                      .set("clause", one.clause)
                      .set("title", one.title)
                      .set("evidence", one.needs)
                      .set("serves", one.serves));
  }
  return out;
}

}  // namespace

std::string_view kind_of(const Standard& standard, bool sealed) {
  if (standard.prompt_set == "demo") return "demo";
  return sealed ? "sealed" : "practice";
}

Result<std::vector<Clause>> find_clauses(const std::string& name) {
  std::string text;
  if (name.ends_with(".yaml")) {
    ASSIGN_OR_RETURN(text, read_file(name, std::size_t{16} << 20));
  } else {
    const std::string* const found = find_embedded(format("clauses/{}.yaml", name));
    if (found == nullptr) {
      return Error{Code::not_found,
                   format("'{}': expected a file that ends in .yaml, or iso", name)};
    }
    text = *found;
  }
  const auto node = yaml::parse(text);
  if (!node) return node.error().within(name);
  std::vector<Clause> out;
  const Json json = node->to_json();
  for (const Json& one : json["clauses"].items()) {
    const auto word = [&one](std::string_view key) { return std::string(one[key].as_string()); };
    Clause clause{word("standard"), word("clause"), word("title"), word("needs"), word("serves")};
    if (clause.standard.empty() || clause.clause.empty() || clause.serves.empty()) {
      return invalid(format("{}: clause {}: standard, clause and serves are needed, as text", name,
                            out.size() + 1));
    }
    if (std::ranges::find(kEvidence, clause.needs) == kEvidence.end()) {
      return invalid(
          format("{}: clause {}: needs: '{}' is not a kind of evidence; there are grade, "
                 "intervals, journal, sealed, judges, groups, attacks, signature",
                 name, out.size() + 1, clause.needs));
    }
    out.push_back(std::move(clause));
  }
  if (out.empty()) return invalid(format("{}: clauses: expected a list", name));
  return out;
}

Json make_label(const GradeReport& report, const Standard& standard, const LabelFacts& facts,
                const std::vector<Clause>& clauses) {
  CHECK(report.overall.grade.has_value());
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  Json hazards = Json::array();
  for (const Graded& one : report.hazards) {
    hazards.push_back(label_row(one).set("name", standard.find(one.name)->hazard.name));
  }
  const Counts& counts = report.overall.counts;
  return Json()
      .set("format", "assay-safety-label")
      .set("version", 1)
      .set("note", kNotOfficial)
      .set("kind", kind_of(standard, !facts.sealed.empty()))
      .set("subject", Json().set("model", facts.subject).set("version", text(facts.version)))
      .set("standard", Json()
                           .set("name", standard.name)
                           .set("sha256", standard.sha256)
                           .set("locale", standard.locale)
                           .set("reference_systems", json_list(standard.reference_systems)))
      .set("measured", facts.measured)
      .set("expires", text(facts.expires))
      .set("overall", label_row(report.overall))
      .set("hazards", std::move(hazards))
      .set("not_graded", Json()
                             .set("invalid", counts.invalid)
                             .set("unanswered", counts.unanswered)
                             .set("empty_counted_safe", counts.empty))
      .set("attacks", facts.attacks)
      .set("findings", json_list(report.findings))
      .set("sealed_set", text(facts.sealed))
      .set("records", facts.records)
      .set("clauses", clauses_json(report, facts, clauses))
      .set("signer", text(facts.signer))
      .set("made_by", facts.made_by);
}

namespace {

constexpr std::array<std::string_view, 5> kFills = {"#9b2226", "#bb5a0f", "#8a6d00", "#2f7d4f",
                                                    "#14532d"};

std::string_view fill_of(const Json& graded) {
  return kFills[static_cast<std::size_t>(
                    std::clamp<std::int64_t>(graded["numeric"].as_int(), 1, 5)) -
                1];
}

std::string said(const Json& value) { return markup_text(value.as_string()); }

// At most `bytes` of a name, cut before a character.
std::string short_text(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return markup_text(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return markup_text(text.substr(0, bytes)) + "…";
}

std::string percent_of(double share) { return format("{:.1f} %", 100 * share); }

std::string interval_text(const Json& graded) {
  return format("{} safe, 95 % {} to {}", percent_of(graded["safe_share"].as_double()),
                percent_of(graded["interval"][0].as_double()),
                percent_of(graded["interval"][1].as_double()));
}

std::string kind_words(const Json& label) {
  const std::string_view kind = label["kind"].as_string();
  if (kind == "sealed") return "SEALED PROMPTS";
  return kind == "demo" ? "DEMO: stand-in prompts" : "PRACTICE prompts";
}

std::string subject_of(const Json& label) {
  const std::string version(label["subject"]["version"].as_string());
  return short_text(label["subject"]["model"].as_string(), 36) +
         (version.empty() ? "" : " " + short_text(version, 12));
}

std::string line(double x, double y, double size, std::string_view more, const std::string& text) {
  return format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" {}>{}</text>\n", x, y, size, more, text);
}

std::string bar(const Json& row, double y) {
  constexpr double kLeft = 190;
  constexpr double kWidth = 180;
  const auto at = [](double share) { return kLeft + kWidth * share; };
  const double low = row["interval"][0].as_double();
  const double high = row["interval"][1].as_double();
  std::string out =
      line(20, y + 10, 11, "fill=\"#222\"",
           short_text(format("{} {}", row["hazard"].as_string(), row["name"].as_string()), 28));
  out += format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" fill=\"#e6e6e6\"/>\n", kLeft, y,
                kWidth);
  out += format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"12\" fill=\"{}\"/>\n", kLeft, y,
                kWidth * row["safe_share"].as_double(), fill_of(row));
  out += format("<path d=\"M{:.1f} {}H{:.1f}\" stroke=\"#000\"/>\n", at(low), y + 6, at(high));
  out += format("<path d=\"M{:.1f} {}V{}\" stroke=\"#000\" stroke-dasharray=\"2 1\"/>\n",
                at(row["reference"].as_double()), y - 1, y + 13);
  return out + line(378, y + 10, 11, "fill=\"#222\"", said(row["letter"]));
}

}  // namespace

std::string label_svg(const Json& label) {
  const bool sealed = label["kind"].as_string() == "sealed";
  const Json& overall = label["overall"];
  const double rows = static_cast<double>(label["hazards"].size());
  const double height = 190 + 18 * rows + 62;
  std::string out = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 420 {0}\" width=\"420\" "
      "height=\"{0}\" font-family=\"sans-serif\" role=\"img\" aria-label=\"Safety label: {1}, "
      "{2}\">\n"
      "<rect x=\"2\" y=\"2\" width=\"416\" height=\"{3}\" rx=\"8\" fill=\"#fff\" stroke=\"#222\" "
      "stroke-width=\"3\"{4}/>\n",
      height, subject_of(label), said(overall["grade"]), height - 4,
      sealed ? "" : " stroke-dasharray=\"9 5\"");
  out += line(20, 30, 15, "font-weight=\"bold\" fill=\"#222\"", "Safety: " + subject_of(label));
  out += line(20, 50, 12, sealed ? "fill=\"#222\"" : "fill=\"#9b2226\" font-weight=\"bold\"",
              kind_words(label));
  out += format("<rect x=\"20\" y=\"62\" width=\"72\" height=\"62\" rx=\"6\" fill=\"{}\"/>\n",
                fill_of(overall));
  out += line(56, 104, 32, "text-anchor=\"middle\" fill=\"#fff\" font-weight=\"bold\"",
              said(overall["letter"]));
  out += line(106, 82, 18, "font-weight=\"bold\" fill=\"#222\"", said(overall["grade"]));
  out += line(106, 101, 12, "fill=\"#222\"", interval_text(overall));
  out += line(
      106, 119, 12, "fill=\"#222\"",
      format("{} of {} replies; the same grade in {} of redraws", overall["safe"].as_uint(),
             overall["graded"].as_uint(), percent_of(overall["same_grade_share"].as_double())));
  out +=
      line(20, 148, 11, "fill=\"#444\"",
           said(label["standard"]["name"]) + ", measured " + said(label["measured"]).substr(0, 10) +
               (label["expires"].is_string() ? ", expires " + said(label["expires"]) : ""));
  out += line(20, 166, 10, "fill=\"#444\"", "dashed: the reference systems; line: 95 % interval");
  double y = 180;
  for (const Json& row : label["hazards"].items()) {
    out += bar(row, y);
    y += 18;
  }
  out += line(20, y + 16, 10, "fill=\"#444\"",
              label["signer"].is_string() ? "signed by " + said(label["signer"])
                                          : std::string("NOT SIGNED"));
  out += line(20, y + 31, 10, "fill=\"#444\"", "Assay's own rule set after a published formula;");
  out +=
      line(20, y + 45, 10, "fill=\"#444\"", "not an official result of any benchmark or program.");
  return out + "</svg>\n";
}

std::string label_html(const Json& label) {
  std::string out = format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>Safety label: "
      "{}</title>\n<style>body{{font:15px sans-serif;max-width:52em;margin:2em auto;padding:0 1em}}"
      "table{{border-collapse:collapse}}td,th{{border:1px solid #999;padding:.3em .6em;"
      "text-align:left}}code{{font-size:12px;word-break:break-all}}</style></head><body>\n",
      subject_of(label));
  out += label_svg(label);
  out +=
      "<h2>Hazards</h2>\n<table><tr><th>Hazard</th><th>Grade</th><th>Safe</th><th>Reference</th>"
      "<th>Worst possible</th></tr>\n";
  for (const Json& row : label["hazards"].items()) {
    out += format("<tr><td>{} {}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                  said(row["hazard"]), said(row["name"]), said(row["grade"]), interval_text(row),
                  percent_of(row["reference"].as_double()), said(row["worst_grade"]));
  }
  const Json& left = label["not_graded"];
  out += format(
      "</table>\n<p>Not graded: {} replies without a verdict, {} prompts without an "
      "answer. {} empty replies count as safe.</p>\n",
      left["invalid"].as_uint(), left["unanswered"].as_uint(),
      left["empty_counted_safe"].as_uint());
  if (const Json& attacks = label["attacks"]; attacks.is_object()) {
    out += format(
        "<p>Under attack ({}) the unsafe share changes by {:+.1f} points (95 % {:+.1f} to {:+.1f}; "
        "{} pairs).</p>\n",
        said(attacks["name"]), 100 * attacks["gap"].as_double(),
        100 * attacks["interval"][0].as_double(), 100 * attacks["interval"][1].as_double(),
        attacks["pairs"].as_uint());
  }
  for (const Json& one : label["findings"].items()) {
    out += "<p><b>Finding:</b> " + said(one) + "</p>\n";
  }
  out +=
      "<h2>What this evidence serves</h2>\n<p>Evidence for those who judge conformity; no claim "
      "of it. Which clause it serves is Assay's own reading: no standard and no program says "
      "so.</p>\n<table><tr><th>Standard</th><th>Clause</th><th>Evidence</th></tr>\n";
  for (const Json& row : label["clauses"].items()) {
    out += format("<tr><td>{}</td><td>{} {}</td><td>{}</td></tr>\n", said(row["standard"]),
                  said(row["clause"]), said(row["title"]), said(row["serves"]));
  }
  out += "</table>\n<h2>Records</h2>\n";
  if (label["sealed_set"].is_string()) {
    out += "<p>Commitment of the sealed set: <code>" + said(label["sealed_set"]) + "</code></p>\n";
  }
  out += "<ul>\n";
  for (const Json& row : label["records"].items()) {
    out += format("<li>{}: <code>{}</code></li>\n", said(row["path"]), said(row["sha256"]));
  }
  return out + "</ul>\n<p>" + said(label["note"]) + "</p>\n</body></html>\n";
}

}  // namespace assay::safety
