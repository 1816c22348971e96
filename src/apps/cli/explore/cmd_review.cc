#include "base/clock.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/explore/review_verify.h"
#include "explorer/access.h"
#include "explorer/board.h"
#include "explorer/head.h"
#include "store/open_store.h"

namespace assay::cli {
namespace {

// `assay review WHAT [ID]`. A user who can open the store's file or database can write it anyway,
// so the role is a claim here; over the network a token proves it.
struct ReviewOptions {
  std::string what{};
  std::string id{};
  std::string store{};
  std::string role{};
  std::string organisation{};
  std::string name{};
  std::string text{};
  std::string objection{};
  std::string objection_kind{};
  std::string clause{};
  std::string point{};
  std::string rule{};
  std::string severity{};
  std::string date{};
  std::string mode{};
  std::string division{};
  std::string holidays_file{};
  std::string head{};
  rules::Holidays holidays{};
  bool upheld = false;
  bool json = false;
};

void add_flags(Flags& flags, ReviewOptions& o) {
  flags.add("WHAT", &o.what, "list, show, verify, head, submit, token, revoke, or an act")
      .choices({"list",    "show",       "verify",       "head",           "submit",
                "token",   "revoke",     "check_passed", "check_failed",   "objection",
                "answer",  "reply",      "retract",      "accept",         "rule",
                "finding", "comment",    "finalize",     "publish",        "reject",
                "dispute", "invalidate", "withdraw",     "withdraw_point", "embargo"})
      .required();
  flags.add("ID", &o.id, "the submission; of revoke, the token's first digits");
  flags.add("--store", &o.store, "a file, or postgresql://…; else ~/.local/share/assay/store.db")
      .value("STORE");
  flags.add("--json", &o.json, "print the submission as JSON");
  flags.add("--holidays", &o.holidays_file, "dates that business days leave out, one a line")
      .value("FILE");
  flags
      .add("--head", &o.head,
           "the history's head: the file to keep it in (STORE.head); of verify, a "
           "file, or the hash alone")
      .value("FILE|HASH");
  static constexpr const char* kWho = "Who acts";
  flags.add("--role", &o.role, "submitter, reviewer or chair").value("ROLE").group(kWho);
  flags.add("--organisation", &o.organisation, "of the submitter or reviewer")
      .value("NAME")
      .group(kWho);
  flags.add("--name", &o.name, "whose token it is").value("NAME").group(kWho);
  static constexpr const char* kSaid = "The statement";
  flags.add("--text", &o.text, "in words").value("TEXT").group(kSaid);
  flags.add("--objection", &o.objection, "the objection it is about").value("ID").group(kSaid);
  flags.add("--objection-kind", &o.objection_kind, "what it objects to")
      .choices({"compliance", "methodology", "reproducibility", "validity", "division",
                "availability", "suspect", "cosmetic"})
      .value("KIND")
      .group(kSaid);
  flags.add("--clause", &o.clause, "of the rules").value("CLAUSE").group(kSaid);
  flags.add("--point", &o.point, "the point it is about").value("POINT").group(kSaid);
  flags.add("--rule", &o.rule, "of a finding").value("RULE").group(kSaid);
  flags.add("--severity", &o.severity, "of a finding: error, warning or info")
      .value("WORD")
      .group(kSaid);
  flags.add("--upheld", &o.upheld, "of rule: the objection is right").group(kSaid);
  flags.add("--date", &o.date, "of an embargo").value("DATE").group(kSaid);
  flags.add("--mode", &o.mode, "of submit: confidential, embargo or provisional")
      .value("WORD")
      .group(kSaid);
  flags.add("--division", &o.division, "of submit").value("WORD").group(kSaid);
  flags.example("assay review verify --head public/data/review_head.json");
  flags.example("assay review submit s1 --role submitter --organisation Example");
  flags.example("assay review objection s1 --role reviewer --organisation Other \\");
  flags.example("          --objection-kind validity --text \"r64 is no whole number of passes\"");
}

std::string summary(const Json& submission) {
  std::string out = format("{}  {}  {}", submission["id"].as_string(),
                           submission["organisation"].as_string(), submission["state"].as_string());
  if (submission["cohort"].is_string()) out += format("  {}", submission["cohort"].as_string());
  out += "\n";
  for (const Json& due : submission["due"].items()) {
    const std::int64_t left = due["business_days_left"].as_int();
    out += format(
        "  {} owes: {}, by {} ({})\n", due["by"].as_string(), due["what"].as_string(),
        due["date"].as_string(),
        left < 0 ? format("{} business days late", -left) : format("{} business days left", left));
  }
  return out;
}

std::string details(const Json& submission) {
  std::string out = summary(submission);
  for (const Json& one : submission["objections"].items()) {
    out += format("  objection {} by {}: {} ({}), {}: {}\n", one["id"].as_string(),
                  one["by"].as_string(), one["kind"].as_string(), one["weight"].as_string(),
                  one["state"].as_string(), one["text"].as_string());
  }
  out += format("  history, {}:\n",
                submission["history_intact"].as_bool() ? "intact" : "TAMPERED WITH");
  for (const Json& entry : submission["history"].items()) {
    out += format("    {:>3}  {}  {}  {}  {}\n", entry["sequence"].as_int(),
                  entry["at"].as_string().substr(0, 19), entry["actor"].as_string(),
                  entry["kind"].as_string(), entry["hash"].as_string().substr(0, 12));
  }
  return out;
}

Result<int> tell(const std::string& document, bool json) {
  ASSIGN_OR_RETURN(const Json submission, Json::parse(document));
  print(json ? submission.dump(2) + "\n" : details(submission));
  return exit_code(ExitCode::done);
}

Result<int> list(store::Store& store, const ReviewOptions& o, const rules::Actor& actor) {
  ASSIGN_OR_RETURN(
      const std::string document,
      explorer::submissions_document(store, {.organisation = o.organisation}, actor, o.holidays));
  ASSIGN_OR_RETURN(const Json all, Json::parse(document));
  if (o.json) {
    print(all.dump(2) + "\n");
  } else {
    for (const Json& one : all["items"].items()) print(summary(one));
    if (all["total"].as_int() == 0) say("no submissions; `assay review submit ID` makes one");
  }
  return exit_code(ExitCode::done);
}

Result<int> make_token(store::Store& store, const ReviewOptions& o) {
  ASSIGN_OR_RETURN(const explorer::Role role, explorer::role_named(o.role));
  const bool of_organisation =
      role == explorer::Role::submitter || role == explorer::Role::reviewer;
  if (of_organisation && o.organisation.empty()) {
    return invalid("--organisation: a submitter or reviewer is of one");
  }
  const std::string token = random_secret();
  TRY(store.put_token({.hash = sha256_hex(token),
                       .role = o.role,
                       .organisation = o.organisation,
                       .name = o.name,
                       .created = rfc3339(wall_now())}));
  say("this token is shown once and kept nowhere; only its digest is");
  print(o.json ? Json().set("token", token).set("role", o.role).dump() + "\n" : token + "\n");
  return exit_code(ExitCode::done);
}

Result<int> revoke(store::Store& store, const ReviewOptions& o) {
  if (o.id.size() < 8) return invalid("ID: the token, or at least 8 digits of its digest");
  ASSIGN_OR_RETURN(const auto tokens, store.tokens());
  for (store::TokenRecord token : tokens) {
    if (!token.hash.starts_with(o.id) && token.hash != sha256_hex(o.id)) continue;
    token.revoked = true;
    TRY(store.put_token(token));
    print(format("revoked: {} {} {}\n", token.role, token.organisation, token.name));
    return exit_code(ExitCode::done);
  }
  return Error{Code::not_found, "there is no such token"};
}

// The board's refusal is a valid answer, not a system that can't be reached.
Result<int> answer(const Result<std::string>& document, bool json) {
  if (document) return tell(*document, json);
  if (document.error().code == Code::refused) return invalid(document.error().message);
  return document.error();
}

Json told(const ReviewOptions& o) {
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

Result<int> cmd_review(Args args) {
  ReviewOptions o;
  Flags flags("review",
              "the review board: submissions, objections, deadlines, a history that stays");
  add_flags(flags, o);
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);

  ASSIGN_OR_RETURN(o.holidays, explorer::read_holidays(o.holidays_file));
  ASSIGN_OR_RETURN(const auto store, store::open_store(o.store));
  const rules::Actor actor{o.role, o.organisation};
  if (o.what == "list") return list(*store, o, actor);
  if (o.what == "verify") return verify_reviews(*store, o.store, o.head, o.json);
  if (o.what == "head") {
    ASSIGN_OR_RETURN(const std::string head, explorer::head_document(*store));
    print(head + "\n");
    return exit_code(ExitCode::done);
  }
  if (o.head.empty()) o.head = explorer::default_head_file(o.store);
  if (o.what == "token") return make_token(*store, o);
  if (o.what == "revoke") return revoke(*store, o);
  if (o.id.empty()) return invalid(format("ID: '{}' is about one submission: which?", o.what));
  if (o.what == "show") {
    ASSIGN_OR_RETURN(const auto document,
                     explorer::submission_document(*store, o.id, actor, o.holidays));
    if (!document) return Error{Code::not_found, format("there is no submission '{}'", o.id)};
    return tell(*document, o.json);
  }
  if (o.what == "submit") {
    if (o.organisation.empty()) return invalid("--organisation: whose submission is it?");
    Json opening;
    opening.set("id", o.id).set("organisation", o.organisation).set("note", o.text);
    if (!o.mode.empty()) opening.set("mode", o.mode);
    if (!o.division.empty()) opening.set("division", o.division);
    if (!o.date.empty()) opening.set("embargo_date", o.date);
    return answer(explorer::submit(*store, opening, actor, o.holidays, o.head), o.json);
  }
  return answer(explorer::act(*store, o.id, told(o), actor, o.holidays, o.head), o.json);
}

}  // namespace assay::cli
