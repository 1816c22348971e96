// Checks who may do which act and when, and makes the entries.
#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/text.h"
#include "rules/review.h"

namespace assay::rules {
namespace {

constexpr std::size_t kActTextMax = 20'000;
constexpr std::size_t kNameMax = 200;
constexpr std::array<std::string_view, 8> kObjectionKinds = {
    "compliance", "methodology",  "reproducibility", "validity",
    "division",   "availability", "suspect",         "cosmetic"};
constexpr std::array<std::string_view, 3> kLateKinds = {"availability", "validity", "division"};
constexpr std::array<std::string_view, 19> kActs = {
    "check_passed", "check_failed", "objection",      "answer",   "reply",    "retract", "accept",
    "rule",         "finding",      "comment",        "finalize", "publish",  "reject",  "dispute",
    "invalidate",   "withdraw",     "withdraw_point", "embargo",  "submitted"};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// Returns the role for an act; "" for acts that are not done by hand.
std::string_view role_for(std::string_view kind) {
  if (is_one_of(kind, {"check_passed", "check_failed", "rule", "finalize", "publish", "reject",
                       "dispute", "invalidate"})) {
    return "chair";
  }
  if (is_one_of(kind, {"answer", "accept", "withdraw", "withdraw_point", "embargo"})) {
    return "submitter";
  }
  if (is_one_of(kind, {"objection", "reply", "retract", "finding"})) return "reviewer";
  return kind == "comment" ? "anybody" : "";
}

bool under_review(ReviewState state) {
  return state == ReviewState::review_pending || state == ReviewState::resolution ||
         state == ReviewState::disputed;
}

bool final_state(ReviewState state) {
  return state == ReviewState::finalized || state == ReviewState::published;
}

bool fits_state(std::string_view kind, ReviewState state) {
  const bool checking = state == ReviewState::compliance_checking;
  if (is_one_of(kind, {"check_passed", "check_failed"})) return checking;
  if (kind == "publish") return state == ReviewState::finalized;
  if (kind == "invalidate") return final_state(state);
  if (kind == "objection") return under_review(state) || final_state(state);
  if (is_one_of(kind, {"withdraw", "embargo", "reject"})) return checking || under_review(state);
  if (kind == "finding") return checking || under_review(state);
  if (kind == "comment") return true;
  return under_review(state);
}

Error refused(std::string message) { return {Code::refused, std::move(message)}; }

Result<void> check_role(const Review& review, std::string_view kind, const Actor& actor) {
  const std::string_view role = role_for(kind);
  if (role.empty()) return invalid(format("kind: '{}' is not an act that can be done", kind));
  if (actor.role == "reader" || actor.role.empty()) {
    return refused("reading needs no role; writing needs a personal token");
  }
  if (role == "anybody") return {};
  if (actor.role != role) return refused(format("'{}' is for the role {}", kind, role));
  if (role == "submitter" && actor.organisation != review.organisation) {
    return refused(format("this submission belongs to {}, and you to {}", review.organisation,
                          actor.organisation));
  }
  if (kind == "objection" && actor.organisation == review.organisation) {
    return refused("you cannot object to your own submission; withdraw it or its points");
  }
  return {};
}

Result<const Objection*> objection_of(const Review& review, const Json& act) {
  const auto found =
      std::ranges::find(review.objections, act["objection"].as_string(), &Objection::id);
  if (found == review.objections.end()) {
    return invalid(format("objection: there is no objection '{}'", act["objection"].as_string()));
  }
  return &*found;
}

Result<void> check_objection(const Review& review, std::string_view kind, const Json& act,
                             const Actor& actor) {
  ASSIGN_OR_RETURN(const Objection* const objection, objection_of(review, act));
  const ObjectionState state = objection->state;
  const bool alive = state == ObjectionState::open || state == ObjectionState::answered;
  if (!alive) return refused(format("objection {} is {}", objection->id, to_string(state)));
  if (kind == "reply" && state != ObjectionState::answered) {
    return refused(format("objection {} has no answer yet", objection->id));
  }
  if (is_one_of(kind, {"reply", "retract"}) && actor.organisation != objection->by) {
    return refused(format("objection {} is {}'s", objection->id, objection->by));
  }
  return {};
}

Result<void> check_new_objection(const Review& review, const Json& act, Day day) {
  const std::string_view kind = act["objection_kind"].as_string();
  if (std::ranges::find(kObjectionKinds, kind) == kObjectionKinds.end()) {
    return invalid(
        format("objection_kind: '{}' is none of compliance, methodology, "
               "reproducibility, validity, division, availability, suspect, cosmetic",
               kind));
  }
  if (act["text"].as_string().empty()) return invalid("text: an objection says what is wrong");
  const bool late =
      final_state(review.state) || (review.checked && day > review.checked->plus(kReviewDays));
  if (late && std::ranges::find(kLateKinds, kind) == kLateKinds.end()) {
    return refused("three weeks have passed: only availability, validity and division are left");
  }
  return {};
}

// Returns the act's own fields, without other fields of the request.
Json body_of(const Json& act) {
  Json out = Json::object();
  for (const char* key :
       {"objection", "objection_kind", "text", "clause", "point", "rule", "severity", "date"}) {
    if (act[key].is_string()) out.set(key, act[key]);
  }
  if (act["upheld"].is_bool()) out.set("upheld", act["upheld"]);
  return out;
}

Result<void> check_sizes(const Json& body) {
  for (const auto& [key, value] : body.members()) {
    const std::size_t most = key == "text" || key == "note" ? kActTextMax : kNameMax;
    if (value.as_string().size() > most) return invalid(format("{}: at most {} bytes", key, most));
  }
  return {};
}

rulebook::HistoryEntry entry_after(const Review& review, std::string_view kind, const Json& body,
                                   const Actor& actor, const std::string& at) {
  rulebook::HistoryEntry entry{
      .submission = review.id,
      .sequence = static_cast<std::int64_t>(review.history.size()) + 1,
      .at = at,
      .actor = actor.organisation.empty() ? actor.role : actor.organisation,
      .role = actor.role,
      .kind = std::string(kind),
      .body = body.dump()};
  entry.previous = review.history.empty() ? std::string(kNoHash) : review.history.back().hash;
  entry.hash = hash_of(entry);
  return entry;
}

Result<void> check_embargo(const Review& review, const Json& act, Day day) {
  const auto date = Day::parse(act["date"].as_string());
  if (!date) return invalid("date: written 2026-11-20");
  const Day review_end = (review.checked ? *review.checked : day).plus(kReviewDays);
  if (*date > review_end.plus(kEmbargoDaysMax)) {
    return invalid(format("date: at most {} days after the review, {}", kEmbargoDaysMax,
                          review_end.plus(kEmbargoDaysMax).text()));
  }
  return {};
}

}  // namespace

Result<rulebook::HistoryEntry> open_submission(const Json& told, const Actor& actor,
                                               const std::string& at) {
  const std::string id(told["id"].as_string());
  const std::string organisation(told["organisation"].as_string());
  if (id.empty() || organisation.empty()) return invalid("id, organisation: both are needed");
  if (!is_plain_id(id)) return invalid(format("id: {}", kPlainId));
  const bool own = actor.role == "submitter" && actor.organisation == organisation;
  if (!own && actor.role != "chair") {
    return refused(format("only {} and the chair may submit for {}", organisation, organisation));
  }
  const std::string_view mode = told["mode"].as_string("confidential");
  if (!is_one_of(mode, {"confidential", "embargo", "provisional"})) {
    return invalid("mode: confidential, embargo or provisional");
  }
  const std::string_view embargo = told["embargo_date"].as_string();
  if (!embargo.empty() && !Day::parse(embargo)) return invalid("embargo_date: written 2026-11-20");
  // The same date as in check_embargo, if the checks had taken all their time.
  const Day latest =
      Day::parse(at).value_or(Day{}).plus(kCheckDays + kReviewDays + kEmbargoDaysMax);
  if (!embargo.empty() && *Day::parse(embargo) > latest) {
    return invalid(format("embargo_date: at most {} days after the review, {}", kEmbargoDaysMax,
                          latest.text()));
  }
  Json body;
  body.set("id", id).set("organisation", organisation).set("mode", mode);
  for (const char* key : {"division", "embargo_date", "note"}) {
    if (told[key].is_string()) body.set(key, told[key]);
  }
  TRY(check_sizes(body));
  Review none{.id = id};
  return entry_after(none, "submitted", body, actor, at);
}

Result<rulebook::HistoryEntry> make_act(const Review& review, const Json& act, const Actor& actor,
                                        const std::string& at) {
  const std::string_view kind = act["kind"].as_string();
  const Day day = Day::parse(at).value_or(Day{});
  TRY(check_role(review, kind, actor));
  if (!fits_state(kind, review.state)) {
    return refused(format("a submission that is {} takes no '{}'", to_string(review.state), kind));
  }
  const Json body = body_of(act);
  TRY(check_sizes(body));
  if (kind == "objection") TRY(check_new_objection(review, act, day));
  if (is_one_of(kind, {"answer", "reply", "retract", "accept", "rule"})) {
    TRY(check_objection(review, kind, act, actor));
  }
  if (is_one_of(kind, {"answer", "reply", "comment", "finding"}) &&
      act["text"].as_string().empty()) {
    return invalid("text: say it in words");
  }
  if (kind == "finding" && !is_one_of(act["severity"].as_string(), {"error", "warning", "info"})) {
    return invalid("severity: error, warning or info");
  }
  if (kind == "rule" && !act["upheld"].is_bool()) return invalid("upheld: true or false");
  if (kind == "withdraw_point" && act["point"].as_string().empty()) return invalid("point: which?");
  if (kind == "embargo") TRY(check_embargo(review, act, day));
  if (kind == "finalize" && std::ranges::any_of(review.objections, &Objection::blocks)) {
    return refused("objections are open: they are answered, retracted or ruled on first");
  }
  return entry_after(review, kind, body, actor, at);
}

std::vector<std::string_view> allowed_acts(const Review& review, const Actor& actor, Day) {
  std::vector<std::string_view> out;
  const bool any_alive = std::ranges::any_of(review.objections, [](const Objection& objection) {
    return objection.state == ObjectionState::open || objection.state == ObjectionState::answered;
  });
  const bool blocked = std::ranges::any_of(review.objections, &Objection::blocks);
  for (const std::string_view kind : kActs) {
    if (role_for(kind).empty() || !check_role(review, kind, actor)) continue;
    if (!fits_state(kind, review.state)) continue;
    const bool about = is_one_of(kind, {"answer", "reply", "retract", "accept", "rule"});
    if ((about && !any_alive) || (kind == "finalize" && blocked)) continue;
    out.push_back(kind);
  }
  return out;
}

}  // namespace assay::rules
