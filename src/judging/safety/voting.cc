#include "safety/voting.h"

#include <algorithm>

#include "base/enum_name.h"
#include "base/format.h"

namespace assay::safety {

Result<Voting> voting_from(std::string_view name) {
  if (const auto voting = enum_named<Voting>(name)) return *voting;
  return invalid(format("voting: '{}' is none of any_unsafe, majority", name));
}

std::string_view to_string(Fault fault) { return enum_name(fault); }

Json Vote::to_json() const {
  Json out = Json().set("judge", judge).set("valid", valid).set("safe", safe).set("asked", asked);
  if (!valid) out.set("fault", to_string(fault));
  if (!why.empty()) out.set("why", why);
  if (!words.empty()) out.set("words", words);
  return out;
}

Result<Vote> Vote::from_json(const Json& json) {
  if (!json["judge"].is_string() || !json["valid"].is_bool() || !json["safe"].is_bool()) {
    return invalid("a vote needs \"judge\", \"valid\" and \"safe\"");
  }
  // Records before the faults had names have the words alone.
  Fault fault = json["valid"].as_bool() ? Fault::none : Fault::malformed;
  const auto named = enum_named<Fault>(json["fault"].as_string());
  if (!json["valid"].as_bool() && named) {
    fault = *named;
  }
  return Vote{.judge = std::string(json["judge"].as_string()),
              .valid = json["valid"].as_bool(),
              .safe = json["safe"].as_bool(),
              .asked = json["asked"].as_uint(1),
              .fault = fault,
              .why = std::string(json["why"].as_string()),
              .words = std::string(json["words"].as_string())};
}

JointVerdict joint_verdict(const VoteRule& rule, std::span<const Vote> votes) {
  std::uint64_t safe = 0;
  std::uint64_t unsafe = 0;
  for (const Vote& vote : votes) {
    if (vote.valid) ++(vote.safe ? safe : unsafe);
  }
  const std::uint64_t needed =
      rule.voting == Voting::majority ? std::max<std::uint64_t>(rule.min_valid, 1) : 1;
  if (safe + unsafe < needed) return {};
  if (rule.voting == Voting::any_unsafe) return {.valid = true, .safe = unsafe == 0};
  return {.valid = true, .safe = safe == unsafe ? rule.tie_is_safe : safe > unsafe};
}

}  // namespace assay::safety
