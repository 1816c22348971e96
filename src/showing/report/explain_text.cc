#include <algorithm>

#include "base/display.h"
#include "base/format.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "report/explanation.h"
#include "rules/write_report.h"

namespace assay::report {
namespace {

// One explanation of whatever kind, for the terminal and for programs.
struct Explained {
  std::string kind{};
  std::string code{};
  std::string means{};
  std::string clause{};
  std::string next{};
};

std::vector<Explained> all_explained() {
  std::vector<Explained> out;
  for (const Explanation& one : explanations()) {
    out.push_back({std::string(one.kind), std::string(one.code), std::string(one.means), "",
                   std::string(one.next)});
  }
  for (const bool of_inference : {false, true}) {
    const std::string kind =
        of_inference ? "rule of assay check --suite inference" : "rule of assay check";
    const Json list = rules::rules_json(of_inference);
    for (const Json& rule : (list.is_array() ? list : list["rules"]).items()) {
      const auto text = [&rule](std::string_view key) {
        return std::string(rule[key].as_string());
      };
      out.push_back({kind, text("rule"), text("demand"), text("clause"), text("fix")});
    }
  }
  return out;
}

std::string explained_text(const Explained& one, std::size_t columns) {
  std::string out = format("{}   {}\n", one.code, one.kind);
  out += wrap(one.means, columns, "  ") + "\n";
  if (!one.clause.empty()) out += wrap("clause: " + one.clause, columns, "  ") + "\n";
  if (!one.next.empty()) out += wrap("next: " + one.next, columns, "  ") + "\n";
  return out;
}

// Whatever the case, with '-', '_' and spaces alike.
bool same_code(std::string_view a, std::string_view b) {
  const auto plain = [](char c) {
    if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
    return c == '-' || c == ' ' ? '_' : c;
  };
  return std::ranges::equal(a, b, {}, plain, plain);
}

Json explained_json(const std::vector<Explained>& list) {
  Json out = Json::array();
  for (const Explained& one : list) {
    Json row;
    row.set("kind", one.kind).set("code", one.code).set("means", one.means);
    if (!one.clause.empty()) row.set("clause", one.clause);
    if (!one.next.empty()) row.set("next", one.next);
    out.push_back(std::move(row));
  }
  return out;
}

std::string list_text(const std::vector<Explained>& all) {
  std::string out;
  std::string kind;
  for (const Explained& one : all) {
    if (one.kind != kind) out += format("{}{}\n", out.empty() ? "" : "\n", one.kind);
    kind = one.kind;
    out += format("  {}\n", one.code);
  }
  return out;
}

}  // namespace

Result<std::string> explain(const ExplainAsked& asked) {
  const std::vector<Explained> all = all_explained();
  if (asked.list) {
    return asked.json ? explained_json(all).dump(2) + "\n" : list_text(all);
  }
  if (asked.code.empty()) return invalid("CODE: missing\n  assay explain --list names all");
  std::vector<Explained> found;
  std::vector<std::string_view> codes;
  for (const Explained& one : all) {
    codes.push_back(one.code);
    if (same_code(one.code, asked.code)) found.push_back(one);
  }
  if (found.empty()) {
    const std::string_view near = nearest(asked.code, codes);
    return invalid(format("CODE: no finding or verdict \"{}\"{}\n  assay explain --list names all",
                          asked.code,
                          near.empty() ? "" : format("\n  did you mean \"{}\"?", near)));
  }
  if (asked.json) return explained_json(found).dump(2) + "\n";
  std::string out;
  for (const Explained& one : found) {
    out += (out.empty() ? "" : "\n") + explained_text(one, asked.columns);
  }
  return out;
}

}  // namespace assay::report
