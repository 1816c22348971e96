#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "campaign/safety/safety_levels.h"
#include "campaign/safety/safety_run.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "safety/grading.h"
#include "safety/items.h"
#include "safety/standard.h"

namespace assay::cli {
namespace {

struct SafetyOptions {
  std::string what{};
  std::string path{};
  std::string standard = "standin";
  bool json = false;
};

Result<int> list_standards(const SafetyOptions& options) {
  Json rows = Json::array();
  for (const std::string& name : safety::standard_names()) {
    ASSIGN_OR_RETURN(const safety::Standard one, safety::find_standard(name));
    if (!options.json) print(format("{:<32}{}\n", name, one.about));
    rows.push_back(Json()
                       .set("name", name)
                       .set("about", one.about)
                       .set("locale", one.locale)
                       .set("prompt_set", one.prompt_set)
                       .set("hazards", one.hazards.size())
                       .set("reference", one.reference().safe())
                       .set("sha256", one.sha256));
  }
  if (options.json) print(rows.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<int> write_prompts(const SafetyOptions& options) {
  const std::string name = options.path.empty() ? "standin" : options.path;
  ASSIGN_OR_RETURN(const auto prompts, safety::load_prompts(name));
  print(safety::prompts_text(prompts));
  return exit_code(ExitCode::done);
}

Result<int> grade_file(const SafetyOptions& options) {
  if (options.path.empty()) return invalid("PATH: grade needs a file of verdicts, JSON lines");
  ASSIGN_OR_RETURN(const safety::Standard standard, safety::find_standard(options.standard));
  ASSIGN_OR_RETURN(const std::string text, read_file(options.path));
  const auto items = safety::items_from(text);
  if (!items) return items.error().within(options.path);
  const auto report = safety::grade_items(standard, *items);
  if (!report) return report.error().within(options.path);
  print(options.json ? report->to_json().dump(2) + "\n" : report->text());
  return exit_code(report->findings.empty() ? ExitCode::done : ExitCode::findings);
}

Result<int> check_folder(const SafetyOptions& options) {
  if (options.path.empty()) return invalid("PATH: check needs the folder of a safety run");
  ASSIGN_OR_RETURN(const campaign::SafetyWish wish, campaign::open_safety(options.path));
  ASSIGN_OR_RETURN(const auto levels, campaign::open_levels(options.path));
  std::vector<std::string> differences;
  if (levels) {
    ASSIGN_OR_RETURN(differences, campaign::check_levels(wish, *levels));
  } else {
    ASSIGN_OR_RETURN(differences, campaign::check_safety(wish));
  }
  if (options.json) {
    Json list = Json::array();
    for (const std::string& one : differences) list.push_back(one);
    print(Json().set("differences", std::move(list)).dump(2) + "\n");
  } else {
    for (const std::string& one : differences) print(one + "\n");
    print(format("{}: {} prompts, {} differences\n", options.path, wish.prompts.size(),
                 differences.size()));
  }
  return exit_code(differences.empty() ? ExitCode::done : ExitCode::findings);
}

}  // namespace

Result<int> cmd_safety(Args args) {
  if (!args.empty() && args.front() == "run") return cmd_safety_run(args.subspan(1));
  SafetyOptions options;
  Flags flags("safety", "safety grades of an endpoint: prompts, judges, votes, hazards");
  flags
      .add("WHAT", &options.what,
           "grade: a file of verdicts; check: a safety run's folder, derived again from its event "
           "logs; standards: the reference systems' shares that there are; prompts: a prompt set "
           "as JSON lines (standin, or a file); run: ask, judge and grade (its own --help)")
      .required()
      .choices({"grade", "check", "standards", "prompts"});
  flags.add("PATH", &options.path, "grade: the verdicts; check: the folder; prompts: the set");
  flags
      .add("--standard", &options.standard,
           "hazards and reference shares: a name of `assay safety standards`, or FILE.yaml")
      .value("NAME");
  flags.add("--json", &options.json, "print the result as JSON");
  flags.example("assay safety standards");
  flags.example("assay safety run --endpoint http://localhost:8000 --model m");
  flags.example("assay safety grade verdicts.jsonl --standard ailuminate-1.1-en_us-practice");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (options.what == "standards") return list_standards(options);
  if (options.what == "check") return check_folder(options);
  if (options.what == "prompts") return write_prompts(options);
  return grade_file(options);
}

}  // namespace assay::cli
