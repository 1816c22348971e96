// Review: the state of a submission on a given day, computed from its history. The history is a
// list of acts, each with the hash of the one before. All other facts come from it and from the
// calendar. So a past act cannot be changed, and two readers always see the same state.
//
// The rules' terms (MLPerf Endpoints v1.0 draft, 1.6 to 1.8): a week for the automatic checks; 21
// days from their success for review and objections; 42 for their resolution, then dispute. A
// submitter answers within 3 business days, the objector reacts within 2, and silence for more than
// 3 is a retraction. Answers that are 3, 6 and 10 business days late cost one cohort, two cohorts,
// and the submission. After day 21 only availability, validity and division are open to objections.
//
// If texts of the rules disagree, a comment at the constant names the choice. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rulebook/history_entry.h"
#include "rules/calendar.h"

namespace assay::rules {

inline constexpr int kCheckDays = 7;
inline constexpr int kReviewDays = 21;
inline constexpr int kResolutionDays = 42;
inline constexpr int kAnswerBusinessDays = 3;
inline constexpr int kReactionBusinessDays = 2;
inline constexpr int kSilenceBusinessDays = 3;  // one text has 2: the later date counts
inline constexpr int kLateWithdrawn = 10;
inline constexpr int kEmbargoDaysMax = 60;

enum class ReviewState : std::uint8_t {
  compliance_checking,
  review_pending,
  resolution,
  disputed,
  finalized,
  published,
  rejected,
  withdrawn,
  invalidated,
};
std::string_view to_string(ReviewState state);

enum class ObjectionState : std::uint8_t { open, answered, accepted, retracted, dismissed, upheld };
std::string_view to_string(ObjectionState state);

struct ObjectionAnswer {
  std::string by{};
  std::string at{};
  std::string text{};
};

struct Objection {
  std::string id{};  // "3": the sequence number of its entry
  std::string kind{};
  std::string by{};
  std::string text{};
  std::string clause{};
  std::string point{};
  std::string filed{};
  ObjectionState state = ObjectionState::open;
  Day waiting_since{};  // for an answer while open, for a reaction while answered
  std::vector<ObjectionAnswer> answers{};

  std::string_view weight() const;  // high, medium, low
  // True if an answer or a reaction is still due, and the objection is not only cosmetic.
  bool blocks() const;
};

struct Owed {
  std::string what{};
  std::string by{};
  Day date{};
};

struct Review {
  std::string id{};
  std::string organisation{};
  std::string division{};
  std::string mode = "confidential";
  std::string embargo_date{};
  std::string submitted{};
  ReviewState state = ReviewState::compliance_checking;
  std::string state_reason{};
  std::optional<Day> checked{};  // review_from
  std::optional<Day> finalized{};
  int delay_cohorts = 0;
  std::vector<Objection> objections{};
  std::vector<Json> findings{};  // schema Finding
  std::vector<std::string> points_withdrawn{};
  std::vector<Owed> owed{};  // soonest first
  std::vector<rulebook::HistoryEntry> history{};
  bool intact = true;   // every hash is correct, and the sequence has no gap
  Holidays holidays{};  // days that its deadlines skip

  std::optional<rulebook::Cohort> cohort() const;
};

// REQUIRES: the entries belong to one submission and are in order; at least one.
Review fold_review(std::span<const rulebook::HistoryEntry> entries, Day today,
                   const Holidays& holidays = {});

struct Actor {
  std::string role{};  // submitter, reviewer, chair
  std::string organisation{};
};

// Opens a submission. `told`: id, organisation, division, mode, embargo_date, note.
Result<rulebook::HistoryEntry> open_submission(const Json& told, const Actor& actor,
                                               const std::string& at);
// The entry for one act, or why this actor cannot do it now. `act`: the API's schema Act.
Result<rulebook::HistoryEntry> make_act(const Review& review, const Json& act, const Actor& actor,
                                        const std::string& at);
// Returns the kinds that this actor may do now.
std::vector<std::string_view> allowed_acts(const Review& review, const Actor& actor, Day today);

std::string hash_of(const rulebook::HistoryEntry& entry);
inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

// Schema Submission without `curves` and `allowed`; `history`: include the history.
Json to_json(const Review& review, Day today, bool history);

}  // namespace assay::rules
