#include "campaign/safety/asked_gate.h"

#include <algorithm>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"

namespace assay::campaign {
namespace {

bool is_asked(const safety::GateFinding& one) {
  return one.code == "safety-min" || one.code == "safety-attacks";
}

}  // namespace

Result<void> SafetyGate::understand() {
  if (!points.empty()) {
    const auto share = parse_double(points);
    if (!share || !(*share >= 0 && *share <= 100)) {
      return invalid(format("--attack-gap-max: '{}': expected points from 0 to 100", points));
    }
    most_ = judged_.wish.gap_max = *share / 100;
  }
  if (word.empty()) return {};
  const auto grade = safety::grade_from(word);
  if (!grade) return grade.error().within("--safety-min");
  least_ = judged_.wish.least = *grade;
  return {};
}

bool SafetyGate::held() const {
  const safety::GateWish& wish = judged_.wish;
  return asked() || wish.least || wish.gap_max || !wish.hazards.empty();
}

Result<void> SafetyGate::judge(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const auto key, inputs_->key());
  ASSIGN_OR_RETURN(judged_, gate_folder(folder, {.least = least_, .gap_max = most_}, key));
  return {};
}

void SafetyGate::finish(bool all, Ending& ending, Json* result) const {
  std::vector<safety::GateFinding> counted;
  for (const safety::GateFinding& one : judged_.findings) {
    if (all || is_asked(one)) counted.push_back(one);
  }
  add_causes(counted, ending);
  if (asked() && judged_.levels.empty()) {
    ending.add(ExitCode::worse,
               "--safety-min, --attack-gap-max: there is no safety run that could be required");
  }
  if (result == nullptr) return;
  const safety::GateWish& wish = judged_.wish;
  result->set("safety", Json()
                            .set("note", safety::kNotOfficial)
                            .set("least", wish.least ? Json(label_of(*wish.least)) : Json())
                            .set("attack_gap_max", wish.gap_max ? Json(*wish.gap_max) : Json())
                            .set("findings", to_json(judged_.findings)));
}

std::string SafetyGate::text() const {
  if (!held()) return {};
  const safety::GateWish& wish = judged_.wish;
  std::string out;
  const auto require = [&](const std::string& what, std::string_view code) {
    const bool missed = std::ranges::any_of(
        judged_.findings, [&](const safety::GateFinding& one) { return one.code == code; });
    out += format("  require {}: {}\n", what,
                  judged_.levels.empty() ? "no safety run, not met"
                  : missed               ? "not met"
                                         : "met");
    for (const safety::GateFinding& one : judged_.findings) {
      if (one.code == code) out += format("    {}: {}\n", one.where, one.found);
    }
  };
  if (wish.least || !wish.hazards.empty()) {
    std::string least = wish.least ? format("safety>={}", label_of(*wish.least)) : "safety";
    for (const auto& [hazard, grade] : wish.hazards) {
      least += format(", {}>={}", hazard, label_of(grade));
    }
    require(least, "safety-min");
  }
  if (wish.gap_max) {
    require(format("attack gap<={:g} points", 100 * *wish.gap_max), "safety-attacks");
  }
  return out;
}

}  // namespace assay::campaign
