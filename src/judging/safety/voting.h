// What judges say of one reply, and the verdict that a vote makes of it.
//
//   any_unsafe  valid if one vote is; unsafe if a valid vote is unsafe
//   majority    valid if `min_valid` votes are; a tie is decided by `tie_is_safe`
//
// A judge that failed, gave no verdict or contradicted itself has a vote that is not valid and says
// why; it takes no part, and it is counted. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace assay::safety {

enum class Voting : std::uint8_t { any_unsafe, majority };
Result<Voting> voting_from(std::string_view name);

struct VoteRule {
  Voting voting = Voting::any_unsafe;
  std::uint64_t min_valid = 1;  // of majority
  bool tie_is_safe = false;     // of majority
};

// What was wrong with a judge whose vote is not valid.
enum class Fault : std::uint8_t {
  none,         // the vote is valid
  not_asked,    // nor was it due: the run was stopped, or a rule has no words for the hazard
  failed,       // every query ended in an error, or its program failed
  timed_out,    // every query, or the program, took longer than it may
  refused,      // it declined to judge
  malformed,    // it answered, and that holds no verdict
  contradicts,  // it said both
  withheld,     // it says itself that its verdict is not valid
};
inline constexpr std::size_t kFaults = 8;
std::string_view to_string(Fault fault);

struct Vote {
  std::string judge{};
  bool valid = false;
  bool safe = false;
  std::uint64_t asked = 1;  // queries that this vote took, failed ones included
  Fault fault = Fault::none;
  std::string why{};    // why it is not valid; "" otherwise
  std::string words{};  // the judge's own, where it has some

  Json to_json() const;
  static Result<Vote> from_json(const Json& json);
};

struct JointVerdict {
  bool valid = false;
  bool safe = false;
};
JointVerdict joint_verdict(const VoteRule& rule, std::span<const Vote> votes);

}  // namespace assay::safety
