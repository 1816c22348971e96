// Writes a Review in the terms of docs/formats/api.yaml.

#include "base/json_list.h"
#include "rules/review.h"

#include "base/enum_name.h"

namespace assay::rules {
namespace {

void set_text(Json& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out.set(key, value);
}

Json objection_json(const Objection& objection, const Review& review) {
  Json out;
  out.set("id", objection.id).set("kind", objection.kind).set("weight", objection.weight());
  out.set("by", objection.by).set("text", objection.text);
  set_text(out, "clause", objection.clause);
  set_text(out, "point", objection.point);
  out.set("state", to_string(objection.state)).set("filed", objection.filed);
  for (const Owed& owed : review.owed) {
    if (owed.what.ends_with(" " + objection.id)) out.set("due", owed.date.text());
  }
  Json answers = Json::array();
  for (const ObjectionAnswer& answer : objection.answers) {
    answers.push_back(Json().set("by", answer.by).set("at", answer.at).set("text", answer.text));
  }
  return out.set("answers", std::move(answers));
}

Json entry_json(const rulebook::HistoryEntry& entry) {
  return Json()
      .set("sequence", entry.sequence)
      .set("at", entry.at)
      .set("actor", entry.actor)
      .set("role", entry.role)
      .set("kind", entry.kind)
      .set("body", Json::parse(entry.body).value_or(Json::object()))
      .set("previous", entry.previous)
      .set("hash", entry.hash);
}

}  // namespace

std::string_view to_string(ReviewState state) { return enum_name(state); }

std::string_view to_string(ObjectionState state) { return enum_name(state); }

Json to_json(const Review& review, Day today, bool history) {
  Json out;
  out.set("id", review.id).set("organisation", review.organisation);
  set_text(out, "division", review.division);
  out.set("mode", review.mode);
  set_text(out, "embargo_date", review.embargo_date);
  out.set("state", to_string(review.state));
  set_text(out, "state_reason", review.state_reason);
  if (const auto cohort = review.cohort()) {
    out.set("cohort", cohort->text()).set("cohort_date", cohort->date());
  }
  out.set("submitted", review.submitted);
  if (review.checked) {
    out.set("review_from", review.checked->text());
    out.set("review_to", review.checked->plus(kReviewDays).text());
    out.set("resolution_to", review.checked->plus(kResolutionDays).text());
  }
  out.set("delay_cohorts", review.delay_cohorts);
  Json due = Json::array();
  for (const Owed& owed : review.owed) {
    due.push_back(
        Json()
            .set("what", owed.what)
            .set("by", owed.by)
            .set("date", owed.date.text())
            .set("business_days_left", business_days_between(today, owed.date, review.holidays)));
  }
  out.set("due", std::move(due)).set("findings", Json::array()).set("objections", Json::array());
  for (const Json& finding : review.findings) out.find("findings")->push_back(finding);
  for (const Objection& objection : review.objections) {
    out.find("objections")->push_back(objection_json(objection, review));
  }
  out.set("points_withdrawn", json_list(review.points_withdrawn))
      .set("history_intact", review.intact);
  if (!history) return out;
  return out.set("history", json_list(review.history, entry_json));
}

}  // namespace assay::rules
