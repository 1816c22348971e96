#include "base/display.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/results/explanation.h"
#include "report/terminal_style.h"
#include "rules/write_report.h"

namespace assay::cli {
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

Result<int> cmd_explain(Args args) {
  std::string code;
  bool list = false;
  bool json = false;
  Flags flags("explain",
              "what a finding, a verdict, a cause or an exit code means, and what to do");
  flags.add("CODE", &code, "as it was printed: src-dir, suspected, timed_out, 4");
  flags.add("--list", &list, "print every code and stop");
  flags.add("--json", &json, "print as JSON");
  flags.example("assay explain suspected");
  flags.example("assay explain metric-consistency-duration");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  const std::vector<Explained> all = all_explained();
  if (list) {
    print(json ? explained_json(all).dump(2) + "\n" : list_text(all));
    return exit_code(ExitCode::done);
  }
  if (code.empty()) return invalid("CODE: missing\n  assay explain --list names all");
  std::vector<Explained> found;
  std::vector<std::string_view> codes;
  for (const Explained& one : all) {
    codes.push_back(one.code);
    if (same_code(one.code, code)) found.push_back(one);
  }
  if (found.empty()) {
    const std::string_view near = nearest(code, codes);
    return invalid(format("CODE: no finding or verdict \"{}\"{}\n  assay explain --list names all",
                          code, near.empty() ? "" : format("\n  did you mean \"{}\"?", near)));
  }
  if (json) {
    print(explained_json(found).dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  std::string out;
  for (const Explained& one : found) {
    out += (out.empty() ? "" : "\n") + explained_text(one, report::terminal_style(1).columns);
  }
  print(out);
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
