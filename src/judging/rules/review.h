// Review: what a submission's history comes to on a given day. The history is a list of acts, each
// with the hash of the one before; everything else is derived from it and from the calendar, so
// that nothing can be changed after the fact and two people always see the same.
//
// The rules' clocks (MLPerf Endpoints v1.0 draft, 1.6 to 1.8): a week for the automatic checks; 21
// days from their success for review and objections; 42 for their resolution, then dispute. A
// submitter answers within 3 business days, the objector reacts within 2, and silence for more than
// 3 is a retraction. Answers that are 3, 6 and 10 business days late cost one cohort, two, and the
// submission. After day 21 only availability, validity and division may be objected to.
//
// Where texts of the rules disagree, what was taken stands at the constant. Pure; any thread.
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
inline constexpr int kSilenceBusinessDays = 3;  // one text says 2: the later is kinder and decides
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
  // Somebody still owes something, and it is not merely cosmetic.
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
  bool intact = true;   // every hash is right, and the sequence has no gap
  Holidays holidays{};  // that its deadlines step over

  std::optional<rulebook::Cohort> cohort() const;
};

// REQUIRES: the entries are of one submission and in order; at least one.
Review fold_review(std::span<const rulebook::HistoryEntry> entries, Day today,
                   const Holidays& holidays = {});

struct Actor {
  std::string role{};  // submitter, reviewer, chair
  std::string organisation{};
};

// The entry that opens a submission. `told`: id, organisation, division, mode, embargo_date, note.
Result<rulebook::HistoryEntry> open_submission(const Json& told, const Actor& actor,
                                               const std::string& at);
// The entry for one act, or why this actor cannot do it now. `act` as the API's schema Act.
Result<rulebook::HistoryEntry> make_act(const Review& review, const Json& act, const Actor& actor,
                                        const std::string& at);
// Kinds that this actor may do now.
std::vector<std::string_view> allowed_acts(const Review& review, const Actor& actor, Day today);

std::string hash_of(const rulebook::HistoryEntry& entry);
inline constexpr std::string_view kNoHash =
    "0000000000000000000000000000000000000000000000000000000000000000";

// Schema Submission without `curves` and `allowed`; with the history only where it is asked for.
Json to_json(const Review& review, Day today, bool history);

}  // namespace assay::rules
