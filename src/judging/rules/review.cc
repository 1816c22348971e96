#include "rules/review.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::rules {
namespace {

// Applies one entry to the review; only dates here, the calendar's effects come later.
class Folding {
 public:
  Folding(Review& review, const Holidays& holidays) : review_(review), holidays_(holidays) {}

  void take(const rulebook::HistoryEntry& entry) {
    const Json body = Json::parse(entry.body).value_or(Json());
    const Day day = Day::parse(entry.at).value_or(Day{});
    age(day);
    const std::string& kind = entry.kind;
    if (kind == "submitted") return open(entry, body);
    if (kind == "check_passed") {
      review_.checked = day;
      review_.state = ReviewState::review_pending;
    } else if (kind == "check_failed") {
      end(ReviewState::rejected, text_of(body));
    } else if (kind == "objection") {
      review_.objections.push_back({.id = format("{}", entry.sequence),
                                    .kind = std::string(body["objection_kind"].as_string()),
                                    .by = entry.actor,
                                    .text = text_of(body),
                                    .clause = std::string(body["clause"].as_string()),
                                    .point = std::string(body["point"].as_string()),
                                    .filed = entry.at,
                                    .waiting_since = day});
    } else if (kind == "finding") {
      review_.findings.push_back(Json()
                                     .set("rule", body["rule"].as_string())
                                     .set("severity", body["severity"].as_string("info"))
                                     .set("message", text_of(body))
                                     .set("clause", body["clause"].as_string()));
    } else if (kind == "withdraw_point") {
      review_.points_withdrawn.emplace_back(body["point"].as_string());
    } else if (kind == "embargo") {
      review_.mode = "embargo";
      review_.embargo_date = body["date"].as_string();
    } else if (kind == "finalize") {
      review_.state = ReviewState::finalized;
      review_.finalized = day;
    } else {
      take_word(kind, entry, body, day);
    }
  }

  // Applies the calendar up to `day`: retractions by silence, penalties, expired terms.
  void age(Day day) {
    if (!under_review()) return;
    for (Objection& objection : review_.objections) {
      if (objection.state != ObjectionState::answered) continue;
      const int silent = business_days_between(objection.waiting_since, day, holidays_);
      if (silent > kSilenceBusinessDays) objection.state = ObjectionState::retracted;
    }
    for (const Objection& objection : review_.objections) {
      if (objection.state == ObjectionState::open && lateness(objection, day) >= kLateWithdrawn) {
        end(ReviewState::withdrawn, format("objection {} was not answered", objection.id));
        return;
      }
    }
    if (!review_.checked || review_.state == ReviewState::disputed) return;
    const int age = day.number - review_.checked->number;
    if (age > kResolutionDays && blocked()) {
      review_.state = ReviewState::disputed;
      review_.state_reason = "objections were open after six weeks";
    } else if (age > kReviewDays && blocked()) {
      review_.state = ReviewState::resolution;
    }
  }

  // Counts penalties for objections that are still open.
  void count_open(Day today) {
    for (const Objection& objection : review_.objections) {
      if (objection.state == ObjectionState::open) {
        review_.delay_cohorts += penalty(lateness(objection, today));
      }
    }
  }

  bool under_review() const {
    return review_.state == ReviewState::compliance_checking ||
           review_.state == ReviewState::review_pending ||
           review_.state == ReviewState::resolution || review_.state == ReviewState::disputed;
  }

 private:
  static std::string text_of(const Json& body) { return std::string(body["text"].as_string()); }
  static int penalty(int late) { return late >= 6 ? 2 : late >= 3 ? 1 : 0; }

  int lateness(const Objection& objection, Day day) const {
    const Day due = plus_business_days(objection.waiting_since, kAnswerBusinessDays, holidays_);
    return std::max(0, business_days_between(due, day, holidays_));
  }
  bool blocked() const { return std::ranges::any_of(review_.objections, &Objection::blocks); }

  void open(const rulebook::HistoryEntry& entry, const Json& body) {
    review_.id = entry.submission;
    review_.organisation = body["organisation"].as_string();
    review_.division = body["division"].as_string();
    review_.mode = body["mode"].as_string("confidential");
    review_.embargo_date = body["embargo_date"].as_string();
    review_.submitted = entry.at;
  }
  void end(ReviewState state, std::string reason) {
    review_.state = state;
    review_.state_reason = std::move(reason);
  }

  void take_word(const std::string& kind, const rulebook::HistoryEntry& entry, const Json& body,
                 Day day) {
    if (kind == "publish") return end(ReviewState::published, text_of(body));
    if (kind == "reject") return end(ReviewState::rejected, text_of(body));
    if (kind == "dispute") return end(ReviewState::disputed, text_of(body));
    if (kind == "invalidate") return end(ReviewState::invalidated, text_of(body));
    if (kind == "withdraw") return end(ReviewState::withdrawn, text_of(body));
    const auto objection =
        std::ranges::find(review_.objections, body["objection"].as_string(), &Objection::id);
    if (objection == review_.objections.end()) return;
    if (kind == "answer" || kind == "accept") {
      if (objection->state == ObjectionState::open) {
        review_.delay_cohorts += penalty(lateness(*objection, day));
      }
      objection->state = kind == "accept" ? ObjectionState::accepted : ObjectionState::answered;
    } else if (kind == "reply") {
      objection->state = ObjectionState::open;
    } else if (kind == "retract") {
      objection->state = ObjectionState::retracted;
    } else if (kind == "rule") {
      objection->state =
          body["upheld"].as_bool() ? ObjectionState::upheld : ObjectionState::dismissed;
    }
    objection->waiting_since = day;
    objection->answers.push_back({entry.actor, entry.at, text_of(body)});
  }

  Review& review_;
  const Holidays& holidays_;
};

void list_owed(Review& review, const Holidays& holidays) {
  if (review.state == ReviewState::compliance_checking) {
    const Day from = Day::parse(review.submitted).value_or(Day{});
    review.owed.push_back({"automatic checks", "chair", from.plus(kCheckDays)});
  }
  for (const Objection& objection : review.objections) {
    const bool open = objection.state == ObjectionState::open;
    if (!open && objection.state != ObjectionState::answered) continue;
    const std::string what = open ? "answer to objection " : "reaction to the answer on objection ";
    review.owed.push_back(
        {what + objection.id, open ? review.organisation : objection.by,
         plus_business_days(objection.waiting_since,
                            open ? kAnswerBusinessDays : kReactionBusinessDays, holidays)});
  }
  std::ranges::stable_sort(review.owed, {}, &Owed::date);
}

}  // namespace

std::string_view Objection::weight() const {
  if (kind == "cosmetic") return "low";
  const bool medium = kind == "division" || kind == "availability" || kind == "suspect";
  return medium ? "medium" : "high";
}

bool Objection::blocks() const {
  return (state == ObjectionState::open || state == ObjectionState::answered) && kind != "cosmetic";
}

std::optional<rulebook::Cohort> Review::cohort() const {
  if (state == ReviewState::rejected || state == ReviewState::withdrawn ||
      state == ReviewState::invalidated || !checked) {
    return std::nullopt;
  }
  const Day ready = finalized               ? *finalized
                    : mode == "provisional" ? *checked
                                            : checked->plus(kReviewDays);
  rulebook::Cohort cohort = cohort_after(ready);
  cohort.number += delay_cohorts;
  if (const auto embargo = Day::parse(embargo_date)) {
    // Embargoes in old histories had no limit and may name any day; but no cohort has a year of
    // five digits.
    for (auto day = Day::parse(cohort.date()); day && *day < *embargo;) {
      ++cohort.number;
      day = Day::parse(cohort.date());
    }
  }
  return cohort;
}

std::string hash_of(const rulebook::HistoryEntry& entry) {
  std::string text;
  const std::string sequence = format("{}", entry.sequence);
  for (const std::string* part : {&entry.submission, &sequence, &entry.at, &entry.actor,
                                  &entry.role, &entry.kind, &entry.body, &entry.previous}) {
    text += format("{}:", part->size()) + *part;
  }
  return sha256_hex(text);
}

Review fold_review(std::span<const rulebook::HistoryEntry> entries, Day today,
                   const Holidays& holidays) {
  CHECK(!entries.empty());
  Review review;
  review.holidays = holidays;
  Folding folding(review, holidays);
  std::string previous(kNoHash);
  std::int64_t sequence = 0;
  for (const rulebook::HistoryEntry& entry : entries) {
    const bool right =
        entry.previous == previous && entry.hash == hash_of(entry) && entry.sequence == ++sequence;
    review.intact = review.intact && right;
    previous = entry.hash;
    folding.take(entry);
    review.history.push_back(entry);
  }
  folding.age(today);
  if (folding.under_review()) {
    folding.count_open(today);
    list_owed(review, holidays);
  }
  return review;
}

}  // namespace assay::rules
