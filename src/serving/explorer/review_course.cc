#include "explorer/review_course.h"

#include "base/clock.h"
#include "base/display.h"
#include "base/exit_code.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_list.h"
#include "base/secret.h"
#include "explorer/access.h"
#include "explorer/board.h"
#include "explorer/head.h"
#include "explorer/verify_history.h"
#include "store/open_store.h"

namespace assay::explorer {
namespace {

std::string since_text(std::int64_t since) {
  return since == 0
             ? "nothing was appended since"
             : format("{} {} appended since", since, since == 1 ? "entry was" : "entries were");
}

Result<int> verify_reviews(store::Store& store, const std::string& where, const std::string& head,
                           bool json, const Talk& talk) {
  ASSIGN_OR_RETURN(const auto found, verify_history(store, where, head));
  const bool good = found.problems.empty();
  const int code = exit_code(good ? ExitCode::done : ExitCode::findings);
  if (json) {
    talk.print(Json()
                   .set("submissions", found.submissions)
                   .set("entries", found.entries)
                   .set("broken", json_list(found.broken))
                   .set("head", rules::to_json(found.now))
                   .set("anchor", found.anchor ? Json(*found.anchor) : Json())
                   .set("anchored", found.anchor ? Json(found.since.has_value()) : Json())
                   .set("entries_since", found.since ? Json(*found.since) : Json())
                   .set("problems", json_list(found.problems))
                   .dump(2) +
               "\n");
    return code;
  }
  for (const std::string& problem : found.problems) talk.print(problem + "\n");
  if (good) {
    talk.print(format("{} submissions, {} entries: every hash is right\n", found.submissions,
                      found.entries));
  }
  if (found.since) talk.print(format("head {}: {}\n", *found.anchor, since_text(*found.since)));
  if (!found.anchor) {
    talk.print(
        "no head is at hand: that nothing was cut off at the end cannot be proved\n"
        "  give one that was kept elsewhere (--head FILE|HASH); an export has one, "
        "data/review_head.json\n");
  }
  talk.print(format("the head is now {} entries, {}\n", found.now.count, found.now.hash));
  return code;
}

std::string review_summary(const Json& submission) {
  std::string out =
      format("{}  {}  {}", submission["id"].as_string(),
             printable(submission["organisation"].as_string()), submission["state"].as_string());
  if (submission["cohort"].is_string()) out += format("  {}", submission["cohort"].as_string());
  out += "\n";
  for (const Json& due : submission["due"].items()) {
    const std::int64_t left = due["business_days_left"].as_int();
    out += format(
        "  {} owes: {}, by {} ({})\n", printable(due["by"].as_string()), due["what"].as_string(),
        due["date"].as_string(),
        left < 0 ? format("{} business days late", -left) : format("{} business days left", left));
  }
  return out;
}

// An act and what it said: its severity, rule, objection, point and words, as far as it has them.
std::string acted(const Json& entry) {
  std::string out(entry["kind"].as_string());
  for (const char* key : {"severity", "rule", "objection", "point", "date"}) {
    if (const std::string_view word = entry["body"][key].as_string(); !word.empty()) {
      out += format(" {}", word);
    }
  }
  const std::string_view text = entry["body"]["text"].as_string();
  if (!text.empty()) out += format(": {}", text);
  return printable(out);
}

std::string review_details(const Json& submission) {
  std::string out = review_summary(submission);
  for (const Json& one : submission["objections"].items()) {
    out +=
        format("  objection {} by {}: {} ({}), {}: {}\n", one["id"].as_string(),
               printable(one["by"].as_string()), one["kind"].as_string(), one["weight"].as_string(),
               one["state"].as_string(), printable(one["text"].as_string()));
  }
  out += format("  history, {}:\n",
                submission["history_intact"].as_bool() ? "intact" : "TAMPERED WITH");
  for (const Json& entry : submission["history"].items()) {
    out += format("    {:>3}  {}  {}  {}  {}\n", entry["sequence"].as_int(),
                  entry["at"].as_string().substr(0, 19), entry["hash"].as_string().substr(0, 12),
                  printable(entry["actor"].as_string()), acted(entry));
  }
  return out;
}

Result<int> tell_submission(const std::string& document, bool json, const Talk& talk) {
  ASSIGN_OR_RETURN(const Json submission, Json::parse(document));
  talk.print(json ? submission.dump(2) + "\n" : review_details(submission));
  return exit_code(ExitCode::done);
}

Result<int> list_submissions(store::Store& store, const ReviewAsked& o, const rules::Actor& actor,
                             const Talk& talk) {
  ASSIGN_OR_RETURN(
      const std::string document,
      submissions_document(store, {.organisation = o.organisation}, actor, o.holidays));
  ASSIGN_OR_RETURN(const Json all, Json::parse(document));
  if (o.json) {
    talk.print(all.dump(2) + "\n");
  } else {
    for (const Json& one : all["items"].items()) talk.print(review_summary(one));
    if (all["total"].as_int() == 0) talk.say("no submissions; `assay review submit ID` makes one");
  }
  return exit_code(ExitCode::done);
}

Result<int> make_board_token(store::Store& store, const ReviewAsked& o, const Talk& talk) {
  ASSIGN_OR_RETURN(const Role role, role_named(o.role));
  const bool of_organisation = role == Role::submitter || role == Role::reviewer;
  if (of_organisation && o.organisation.empty()) {
    return invalid("--organisation: a submitter or reviewer needs one");
  }
  const std::string token = random_secret();
  TRY(store.put_token({.hash = sha256_hex(token),
                       .role = o.role,
                       .organisation = o.organisation,
                       .name = o.name,
                       .created = rfc3339(wall_now())}));
  talk.say("this token is shown once and kept nowhere; only its digest is");
  talk.print(o.json ? Json().set("token", token).set("role", o.role).dump() + "\n" : token + "\n");
  return exit_code(ExitCode::done);
}

Result<int> revoke_board_token(store::Store& store, const ReviewAsked& o, const Talk& talk) {
  if (o.id.size() < 8) return invalid("ID: the token, or at least 8 digits of its digest");
  ASSIGN_OR_RETURN(const auto tokens, store.tokens());
  for (store::TokenRecord token : tokens) {
    if (!token.hash.starts_with(o.id) && token.hash != sha256_hex(o.id)) continue;
    token.revoked = true;
    TRY(store.put_token(token));
    talk.print(format("revoked: {} {} {}\n", token.role, token.organisation, token.name));
    return exit_code(ExitCode::done);
  }
  return Error{Code::not_found, "there is no such token"};
}

// The board's refusal is a valid answer, not a system that can't be reached.
Result<int> answer_act(const Result<std::string>& document, bool json, const Talk& talk) {
  if (document) return tell_submission(*document, json, talk);
  if (document.error().code == Code::refused) return invalid(document.error().message);
  return document.error();
}

Json told_act(const ReviewAsked& o) {
  Json out;
  out.set("kind", o.what).set("upheld", o.upheld);
  for (const auto& [key, value] : {std::pair{"text", &o.text},
                                   {"objection", &o.objection},
                                   {"objection_kind", &o.objection_kind},
                                   {"clause", &o.clause},
                                   {"point", &o.point},
                                   {"rule", &o.rule},
                                   {"severity", &o.severity},
                                   {"date", &o.date}}) {
    if (!value->empty()) out.set(key, *value);
  }
  return out;
}

}  // namespace

Result<int> act_on_reviews(ReviewAsked o, const Talk& talk) {
  ASSIGN_OR_RETURN(o.holidays, read_holidays(o.holidays_file));
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  const rules::Actor actor{o.role, o.organisation};
  if (o.what == "list") return list_submissions(*store, o, actor, talk);
  if (o.what == "verify") return verify_reviews(*store, o.store, o.head, o.json, talk);
  if (o.what == "head") {
    ASSIGN_OR_RETURN(const std::string head, head_document(*store));
    talk.print(head + "\n");
    return exit_code(ExitCode::done);
  }
  if (o.head.empty()) o.head = default_head_file(o.store);
  if (o.what == "token") return make_board_token(*store, o, talk);
  if (o.what == "revoke") return revoke_board_token(*store, o, talk);
  if (o.id.empty()) return invalid(format("ID: '{}' is about one submission: which?", o.what));
  if (o.what == "show") {
    ASSIGN_OR_RETURN(const auto document, submission_document(*store, o.id, actor, o.holidays));
    if (!document) return Error{Code::not_found, format("there is no submission '{}'", o.id)};
    return tell_submission(*document, o.json, talk);
  }
  if (o.what == "submit") {
    if (o.organisation.empty()) return invalid("--organisation: whose submission is it?");
    Json opening;
    opening.set("id", o.id).set("organisation", o.organisation).set("note", o.text);
    if (!o.mode.empty()) opening.set("mode", o.mode);
    if (!o.division.empty()) opening.set("division", o.division);
    if (!o.date.empty()) opening.set("embargo_date", o.date);
    return answer_act(submit(*store, opening, actor, o.holidays, o.head), o.json, talk);
  }
  return answer_act(act(*store, o.id, told_act(o), actor, o.holidays, o.head), o.json, talk);
}

}  // namespace assay::explorer
