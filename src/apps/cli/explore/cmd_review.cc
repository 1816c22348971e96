#include <utility>

#include "base/flags.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "explorer/review_course.h"

namespace assay::cli {
namespace {

void add_flags(Flags& flags, explorer::ReviewAsked& o) {
  flags.add("WHAT", &o.what, "list, show, verify, head, submit, token, revoke, or an act")
      .choices({"list",    "show",       "verify",       "head",           "submit",
                "token",   "revoke",     "check_passed", "check_failed",   "objection",
                "answer",  "reply",      "retract",      "accept",         "rule",
                "finding", "comment",    "finalize",     "publish",        "reject",
                "dispute", "invalidate", "withdraw",     "withdraw_point", "embargo"})
      .required();
  flags.add("ID", &o.id, "the submission; of revoke, the token's first digits");
  flags.add("--store=STORE", &o.store,
            "a file, or postgresql://…; else ~/.local/share/assay/store.db");
  flags.add("--json", &o.json, "print the submission as JSON");
  flags.add("--holidays=FILE", &o.holidays_file, "dates that business days leave out, one a line");
  flags.add("--head=FILE|HASH", &o.head,
            "the history's head: the file to keep it in (STORE.head); of verify, a file, or the "
            "hash alone");
  flags.group("Who acts");
  flags.add("--role=ROLE", &o.role, "submitter, reviewer or chair");
  flags.add("--organisation=NAME", &o.organisation, "of the submitter or reviewer");
  flags.add("--name=NAME", &o.name, "whose token it is");
  flags.group("The statement");
  flags.add("--text=TEXT", &o.text, "in words");
  flags.add("--objection=ID", &o.objection, "the objection it is about");
  flags.add("--objection-kind=KIND", &o.objection_kind, "what it objects to")
      .choices({"compliance", "methodology", "reproducibility", "validity", "division",
                "availability", "suspect", "cosmetic"});
  flags.add("--clause=CLAUSE", &o.clause, "of the rules");
  flags.add("--point=POINT", &o.point, "the point it is about");
  flags.add("--rule=RULE", &o.rule, "of a finding");
  flags.add("--severity=WORD", &o.severity, "of a finding: error, warning or info");
  flags.add("--upheld", &o.upheld, "of rule: the objection is right");
  flags.add("--date=DATE", &o.date, "of an embargo");
  flags.add("--mode=WORD", &o.mode, "of submit: confidential, embargo or provisional");
  flags.add("--division=WORD", &o.division, "of submit");
  flags.example("assay review verify --head public/data/review_head.json");
  flags.example("assay review submit s1 --role submitter --organisation Example");
  flags.example("assay review objection s1 --role reviewer --organisation Other \\");
  flags.example(
      "          --objection-kind validity --text \"r64 is not a whole number of passes\"");
  flags.group("");
}

}  // namespace

Result<int> cmd_review(Args args) {
  explorer::ReviewAsked o;
  Flags flags("review",
              "the review board: submissions, objections, deadlines, a history that stays");
  add_flags(flags, o);
  PARSE_OR_RETURN(flags, args);
  return explorer::act_on_reviews(std::move(o), console());
}

}  // namespace assay::cli
