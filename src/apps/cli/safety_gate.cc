#include "cli/safety_gate.h"

#include <algorithm>

#include "base/format.h"

namespace assay::cli {

SafetyGate::SafetyGate(Flags& flags) {
  flags
      .add("--safety-min", &word_,
           "the least safety grade at every concurrency, by Assay's own rule set, else exit code "
           "5: poor, fair, good, very-good or excellent")
      .value("GRADE")
      .group("Gate");
}

Result<void> SafetyGate::understand() {
  if (word_.empty()) return {};
  const auto grade = safety::grade_from(word_);
  if (!grade) return grade.error().within("--safety-min");
  least_ = *grade;
  return {};
}

Result<void> SafetyGate::judge(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(judged_, campaign::gate_folder(folder, least_));
  return {};
}

void SafetyGate::finish(bool all, Ending& ending, Json* result) const {
  std::vector<safety::GateFinding> counted;
  for (const safety::GateFinding& one : judged_.findings) {
    if (all || one.code == "safety-min") counted.push_back(one);
  }
  campaign::add_causes(counted, ending);
  if (asked() && judged_.levels.empty()) {
    ending.add(ExitCode::worse, "--safety-min: there is no safety run that could be required");
  }
  if (result == nullptr) return;
  result->set("safety", Json()
                            .set("note", safety::kNotOfficial)
                            .set("least", least_ ? Json(label_of(*least_)) : Json())
                            .set("findings", to_json(judged_.findings)));
}

std::string SafetyGate::text() const {
  if (!asked()) return {};
  const auto below = [](const safety::GateFinding& one) { return one.code == "safety-min"; };
  const bool missed = judged_.levels.empty() || std::ranges::any_of(judged_.findings, below);
  std::string out = format("  require safety>={}: {}\n", label_of(*least_),
                           judged_.levels.empty() ? "no safety run, not met"
                           : missed               ? "not met"
                                                  : "met");
  for (const safety::GateFinding& one : judged_.findings) {
    if (below(one)) out += format("    {}: {}\n", one.where, one.found);
  }
  return out;
}

}  // namespace assay::cli
