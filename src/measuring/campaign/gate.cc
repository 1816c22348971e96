#include "campaign/gate.h"

#include "audit/loaded_run.h"
#include "base/display.h"
#include "base/files.h"
#include "base/format.h"
#include "base/result.h"

namespace assay::campaign {

Result<void> Gate::understand() {
  ASSIGN_OR_RETURN(requirements_, compare::parse_requirements(texts));
  if (!junit.empty() && requirements_.empty()) {
    return invalid("--junit: has a test case for each --require, and none is given");
  }
  return {};
}

void Gate::judge(std::string name, const metrics::Point& point) {
  if (asked()) judged_.push_back({std::move(name), compare::judge(requirements_, point)});
}

Result<void> Gate::judge_folder(std::string name, const std::filesystem::path& folder) {
  if (!asked()) return {};
  ASSIGN_OR_RETURN(const audit::LoadedRun run, audit::load_run(folder));
  judge(std::move(name), run.point);
  return {};
}

Result<void> Gate::judge_points(const CurveFolder& folder) {
  for (std::size_t i = 0; i < folder.points().size(); ++i) {
    if (!folder.points()[i].finished) continue;
    TRY(judge_folder(folder.settings().plan.points[i].name, folder.point_folder(i)));
  }
  return {};
}

Result<void> Gate::finish(std::string_view suite, Ending& ending, Json* result) const {
  if (!asked()) return {};
  std::size_t missed = 0;
  Json all = Json::array();
  for (const compare::Judged& one : judged_) {
    for (const compare::RequirementVerdict& verdict : one.verdicts) missed += verdict.met ? 0 : 1;
    Json entry = Json::object();
    all.push_back(entry.set("name", one.name).set("verdicts", compare::to_json(one.verdicts)));
  }
  if (judged_.empty()) ending.add(ExitCode::worse, "nothing was measured that could be required");
  if (missed > 0) {
    ending.add(ExitCode::worse, missed == 1 ? std::string("a requirement is not met")
                                            : format("{} requirements are not met", missed));
  }
  if (result != nullptr) result->set("requirements", std::move(all));
  if (junit.empty()) return {};
  return write_file_atomic(junit, compare::requirements_junit(suite, judged_));
}

std::string Gate::text() const {
  std::string out;
  for (const compare::Judged& one : judged_) {
    for (const compare::RequirementVerdict& verdict : one.verdicts) {
      const std::string name = judged_.size() > 1 ? printable(one.name) + ": " : "";
      out += format("  require {}{}\n", name, compare::to_string(verdict));
    }
  }
  return out;
}

}  // namespace assay::campaign
